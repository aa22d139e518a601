import assert from 'node:assert/strict';
import { test } from 'node:test';
import packageJson from '../package.json' with { type: 'json' };
import { bobbin } from './run.ts';

test('--version prints the version of the package', async () => {
  assert.deepEqual(await bobbin(['--version']), {
    status: 0,
    stdout: `${packageJson.version}\n`,
    stderr: '',
  });
});

test('an unknown command is bad input: one line, exit code 2', async () => {
  assert.deepEqual(await bobbin(['unwind']), {
    status: 2,
    stdout: '',
    stderr: 'bobbin: unknown command "unwind"; see bobbin --help\n',
  });
});

test('without a command, and with --help, the commands are listed', async () => {
  const bare = await bobbin([]);
  assert.deepEqual(bare, await bobbin(['--help']));
  assert.equal(bare.status, 0);
  for (const name of ['compact', 'inspect', 'demo'])
    assert.match(bare.stdout, new RegExp(`\n  ${name} +\\w`));
});

const HELP: Readonly<Record<string, string>> = {
  compact: 'format preset model window budget counter instructions out json jsonl help',
  inspect: 'format preset model window budget counter help',
  demo: 'save help',
};

for (const [command, options] of Object.entries(HELP)) {
  test(`${command} --help tells every option, examples and exit codes, 80 columns wide`, async () => {
    const { status, stdout, stderr } = await bobbin([command, '--help']);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    const told = [...stdout.matchAll(/^ {2}--(\w+)/gm)].map(([, name]) => name);
    assert.equal(told.join(' '), options);
    assert.match(stdout, new RegExp(`\nExamples:\n  bobbin ${command}`));
    assert.match(stdout, /\nExit codes:\n {2}0 {2}Done\./);
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.length > 80),
      [],
    );
  });
}

const MISTAKES: readonly (readonly [args: readonly string[], line: string])[] = [
  [['compact', '--bugdet', '5'], "unknown option '--bugdet'; see bobbin compact --help"],
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
    ['compact', '--counter', 'guess'],
    '--counter must be one of chars4, estimate, o200k, cl100k, not "guess"; see bobbin compact --help',
  ],
  [
    ['compact', '--format', 'xml'],
    '--format must be one of auto, openai, openai-responses, anthropic, ai-sdk, pi, claude-code, codex, opencode, not "xml"; see bobbin compact --help',
  ],
  [
    ['compact', '--json', '--jsonl'],
    '--json and --jsonl exclude each other; see bobbin compact --help',
  ],
  [['inspect'], 'give one FILE; see bobbin inspect --help'],
  [['demo', 'now'], 'demo takes no FILE; see bobbin demo --help'],
];

for (const [args, line] of MISTAKES) {
  test(`a mistake in the arguments is told in one line: ${args.join(' ')}`, async () => {
    assert.deepEqual(await bobbin(args), { status: 2, stdout: '', stderr: `bobbin: ${line}\n` });
  });
}
