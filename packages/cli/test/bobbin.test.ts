import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import packageJson from '../package.json' with { type: 'json' };
import { bobbin, bobbinOnTerminal, folder, here, SHIM } from './run.ts';

test('--version and -v print the version of the package', async () => {
  for (const option of ['--version', '-v'])
    assert.deepEqual(await bobbin([option]), {
      status: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    });
});

test('an unknown command is reported in one line with the one that is near, exit code 2', async () => {
  for (const [name, meant] of [
    ['unwind', ''],
    ['compat', ' (did you mean compact?)'],
    ['inspcet', ' (did you mean inspect?)'],
  ] as const)
    for (const args of [[name], ['help', name]])
      assert.deepEqual(await here(args), {
        status: 2,
        stdout: '',
        stderr: `bobbin: unknown command "${name}"${meant}; see bobbin --help\n`,
      });
});

test('without a command, and with --help, -h or help, every command is listed, the agent too', async () => {
  const bare = await bobbin([]);
  for (const option of ['--help', '-h', 'help']) assert.deepEqual(await bobbin([option]), bare);
  assert.equal(bare.status, 0);
  const listed = /\nCommands:\n([\s\S]*?)\n\n/.exec(bare.stdout)?.[1] ?? '';
  assert.deepEqual(
    [...listed.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name),
    [
      'compact',
      'inspect',
      'replay',
      'audit',
      'artifact',
      'store',
      'delete',
      'serve',
      'wrap',
      'demo',
      'import',
      'agent',
      'help',
    ],
  );
  assert.match(bare.stdout, /bobbin \[AGENT OPTIONS\] {5}The coding agent, in a terminal\./);
  assert.match(bare.stdout, EXIT_CODES);
});

test('help with the name of a command is what its --help prints', async () => {
  for (const name of ['compact', 'import', 'agent'])
    assert.deepEqual(await bobbin(['help', name]), await bobbin([name, '--help']));
});

const EXIT_CODES =
  /\nExit codes:\n {2}0 {2}Done\.\n {2}1 {2}The work failed: nothing could be written, or a store .*\n(?: {5}.*\n)? {2}2 {2}The command was called wrongly, or its input is missing, unreadable or not\n/;

const HELP: Readonly<Record<string, string>> = {
  compact:
    'format preset model window budget counter instructions thrift artifacts summary out json jsonl help',
  inspect: 'format preset model window budget counter help',
  artifact: 'keys help',
  store: 'tenant artifacts artifacts-to keys help',
  demo: 'save help',
  import: 'model yes help',
};

for (const [command, options] of Object.entries(HELP)) {
  test(`${command} --help lists every option, examples and exit codes, 80 columns wide`, async () => {
    const { status, stdout, stderr } = await here([command, '--help']);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    const listed = [...stdout.matchAll(/^ {2}(?:-h, )?--([\w-]+)/gm)].map(([, name]) => name);
    assert.equal(listed.join(' '), options);
    assert.match(stdout, new RegExp(`\nExamples:\n  bobbin ${command}`));
    assert.match(stdout, EXIT_CODES);
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.length > 80),
      [],
    );
  });
}

const MISTAKES: readonly (readonly [args: readonly string[], line: string])[] = [
  [
    ['compact', '--bugdet', '5'],
    "unknown option '--bugdet' (did you mean --budget?); see bobbin compact --help",
  ],
  [['inspect', '--colour'], "unknown option '--colour'; see bobbin inspect --help"],
  [
    ['compact', '--budget'],
    "option '--budget <value>' argument missing; see bobbin compact --help",
  ],
  [
    ['compact', '--budget', '8k'],
    '--budget must be a whole number above 0, not "8k"; see bobbin compact --help',
  ],
  [
    ['compact', '--window', '0'],
    '--window must be a whole number above 0, not "0"; see bobbin compact --help',
  ],
  [
    ['compact', '--budget', '-5'],
    '--budget must be a whole number above 0, not "-5"; see bobbin compact --help',
  ],
  [
    ['inspect', '--window', '-1', 'a.json'],
    '--window must be a whole number above 0, not "-1"; see bobbin inspect --help',
  ],
  [
    ['compact', '--budget', '--json'],
    "option '--budget <value>' argument missing; see bobbin compact --help",
  ],
  [
    ['compact', '--counter', 'guess'],
    '--counter must be one of chars4, estimate, o200k, cl100k, not "guess"; see bobbin compact --help',
  ],
  [
    ['compact', '--format', 'xml'],
    '--format must be one of auto, openai, openai-responses, anthropic, ai-sdk, gemini, bedrock, bobbin, pi, claude-code, codex, opencode, not "xml"; see bobbin compact --help',
  ],
  [
    ['inspect', '--format', 'Antrophic'],
    '--format must be one of auto, openai, openai-responses, anthropic, ai-sdk, gemini, bedrock, bobbin, pi, claude-code, codex, opencode, not "Antrophic" (did you mean anthropic?); see bobbin inspect --help',
  ],
  [
    ['compact', '--preset', 'claudecode'],
    '--preset must be one of ladder, step, pi, codex, claude-code, opencode, sliding-window, turn-window, token-window, recursive-summary, timeline, plan-engine, not "claudecode" (did you mean claude-code?); see bobbin compact --help',
  ],
  [
    ['compact', '--json', '--jsonl'],
    '--json and --jsonl exclude each other; see bobbin compact --help',
  ],
  [['inspect', 'a.json', 'b.json'], 'give one FILE; see bobbin inspect --help'],
  [['import', 'a', 'b'], 'give one FILE; see bobbin import --help'],
  [['artifact', 'moved-out'], 'give a FOLDER and an ID; see bobbin artifact --help'],
  [
    ['store', 'copy'],
    'give list STORE, or copy FROM TO, or verify STORE, or sweep STORE, or rotate STORE, or migrate STORE; see bobbin store --help',
  ],
  [['demo', 'now'], 'demo takes no FILE; see bobbin demo --help'],
];

for (const [args, line] of MISTAKES) {
  test(`a mistake in the arguments is reported in one line: ${args.join(' ')}`, async () => {
    assert.deepEqual(await here(args), { status: 2, stdout: '', stderr: `bobbin: ${line}\n` });
  });
}

for (const [args, line] of [
  [['--versoin'], "unknown option '--versoin' (did you mean --version?)"],
  [['--budget', '5'], "unknown option '--budget'"],
  [['-x'], "unknown option '-x'"],
  [['agent', '--contnue'], "unknown option '--contnue' (did you mean --continue?)"],
  [['--model'], "option '--model <value>' argument missing"],
  [['--mode', 'xml'], '--mode is json or rpc, not xml'],
] as const) {
  test(`a mistake in the agent's options is reported in one line: ${args.join(' ')}`, async () => {
    assert.deepEqual(await bobbin(args), {
      status: 2,
      stdout: '',
      stderr: `bobbin: ${line}; see bobbin --help and bobbin agent --help\n`,
    });
  });
}

for (const name of ['compact', 'inspect', 'replay', 'audit', 'import']) {
  test(`${name} without a FILE on a terminal says what to give`, async (t) => {
    const { status, written } = await bobbinOnTerminal([name], { cwd: folder(t) });
    assert.equal(status, 2);
    assert.match(
      written,
      new RegExp(`^bobbin: give a FILE, or pipe one in; see bobbin ${name} --help\r\n$`),
    );
  });
}

test('colours appear on a terminal, and not where NO_COLOR is set', async (t) => {
  const cwd = folder(t);
  writeFileSync(join(cwd, 's.json'), '[{"role":"user","content":"hi"}]');
  const coloured = await bobbinOnTerminal(['inspect', 's.json'], { cwd });
  assert.ok(coloured.written.startsWith('\u001B[1ms.json\u001B[22m\r\n'));
  const plain = await bobbinOnTerminal(['inspect', 's.json'], { cwd, env: { NO_COLOR: '1' } });
  assert.match(plain.written, /^s\.json\r\n/);
  assert.ok(!plain.written.includes('\u001B'));
});

test('a reader that closes the pipe early ends any command quietly', (t) => {
  const file = join(folder(t), 's.json');
  writeFileSync(file, '[{"role":"user","content":"hi"}]');
  for (const args of ['--help', `inspect ${file}`, 'help compact']) {
    const command = `"${process.execPath}" "${SHIM}" ${args} | true`;
    const { stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    assert.deepEqual([args, stderr], [args, '']);
  }
});
