import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openaiChat, openaiChatProblems, type ChatMessage } from '@bobbin/codecs';
import { PRESETS } from '@bobbin/core/internal';
import { bpe } from '@bobbin/models';
import { chars4Tokens, conversation } from './conversation.ts';
import { bobbin, folder, here, SHIM, type Outcome } from './run.ts';

const long = conversation(40);
const BUDGET = ['--budget', '3000', '--counter', 'chars4'];

test('what fits comes out with the very bytes that went in', async () => {
  for (const text of [
    '[{"role":"user","content":"hi"}]',
    '\uFEFF{ "model": "gpt-5", "temperature": 1.0, "messages": [ {"role":"user", "content":"\\u00e9\\ud83e\\uddf5", "n": 1e2} ],\r\n "x": 12345678901234567890 }\n',
    '[\n\t{\n\t\t"role": "user",\n\t\t"content": "hi"\n\t}\n]\n',
    '[ {"role":"user","content":"a"} ,\n\n{"role":"user","content":"b"},{"role":"user","content":"c"}]',
    '[]\n',
  ]) {
    const { status, stdout } = await here(['compact'], { stdin: text });
    assert.deepEqual(
      { status, stdout },
      { status: 0, stdout: text.endsWith('\n') ? text : `${text}\n` },
    );
  }
});

test('a long transcript is compacted within the budget, in the format it came in', async () => {
  const { status, stdout, stderr } = await bobbin(['compact', ...BUDGET], {
    stdin: JSON.stringify(long),
  });
  assert.equal(status, 0);
  const messages = JSON.parse(stdout) as ChatMessage[];
  assert.ok(chars4Tokens(messages) <= 3000 && chars4Tokens(messages) > 1000);
  assert.deepEqual(openaiChatProblems(messages), []);
  assert.deepEqual(messages[0], long[0]);
  assert.deepEqual(messages.at(-1), long.at(-1));
  assert.match(
    stderr,
    /^stdin: [\d,]+ → [\d,]+ tokens \(limit 3,000, by chars4\) · \d+ → \d+ messages · /,
  );
  assert.ok(stderr.trim().split('\n').length <= 2);
});

/** A message on one line, with spaces that nobody else would write. */
function item(message: ChatMessage): string {
  return `    ${JSON.stringify(message, null, 1).replaceAll('\n', '')}`;
}

test('what fits the budget stays whole, also where its last result takes most of it', async () => {
  const content = 'A line that a tool has read from a file.\n'.repeat(400);
  const messages = conversation(1)
    .slice(0, 4)
    .map((message) => (message.role === 'tool' ? { ...message, content } : message));
  const [stdin, tokens] = [JSON.stringify(messages), chars4Tokens(messages)];
  const { stdout } = await here(['compact', '--counter', 'chars4', '--budget', `${tokens}`], {
    stdin,
  });
  assert.equal(stdout, `${stdin}\n`);
});

test('kept messages and other fields are written with the characters that were read', async () => {
  const text = `{\n  "model" : "gpt-5",\n  "messages": [\n${long.map(item).join(',\n')}\n  ],\n  "seed": 7.0\n}\n`;
  const { stdout } = await here(['compact', ...BUDGET], { stdin: text });
  assert.ok(stdout.startsWith('{\n  "model" : "gpt-5",\n  "messages": [\n    { "role": "system"'));
  assert.ok(stdout.endsWith('\n  ],\n  "seed": 7.0\n}\n'));
  assert.ok(stdout.includes(`,\n${item(long.at(-1) as ChatMessage)}\n  ]`));
  const summary = /\n {4}\{\n {6}"role": "assistant",\n {6}"content": "\[Context Summary/;
  assert.match(stdout, summary);
});

test('--out gets the output when all of it is done, and keeps its mode and its links', async (t) => {
  const home = folder(t);
  const [result, link] = [join(home, 'compacted.json'), join(home, 'link.json')];
  writeFileSync(join(home, 'session.json'), JSON.stringify(long, null, 2));
  writeFileSync(result, '[]');
  chmodSync(result, 0o640);
  symlinkSync('compacted.json', link);
  const args = ['compact', 'session.json', ...BUDGET, '--out', 'link.json'];
  const { status, stdout } = await bobbin(args, { cwd: home });
  assert.deepEqual({ status, stdout }, { status: 0, stdout: '' });
  const messages = JSON.parse(readFileSync(result, 'utf8')) as ChatMessage[];
  assert.ok(chars4Tokens(messages) <= 3000);
  assert.equal(statSync(result).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(home).toSorted(), ['compacted.json', 'link.json', 'session.json']);
});

function refused(out: string): Outcome {
  return {
    status: 2,
    stdout: '',
    stderr: `bobbin: --out ${out} is the file that is read, the only whole copy; see bobbin compact --help\n`,
  };
}

test('--out is never the file that is read, whatever it is called', async (t) => {
  const home = folder(t);
  const text = JSON.stringify(long);
  writeFileSync(join(home, 's.json'), text);
  symlinkSync('s.json', join(home, 'link.json'));
  for (const args of [
    ['s.json', '--out', 's.json'],
    ['s.json', '--out', join(home, 's.json')],
    ['s.json', '--out', 'link.json', '--json'],
    ['link.json', '--out', 's.json'],
    ['-', 's.json', '--jsonl', '--out', 's.json'],
  ])
    assert.deepEqual(
      await here(['compact', ...BUDGET, ...args], { cwd: home }),
      refused(args.at(args.indexOf('--out') + 1) ?? ''),
    );
  const command = `"${process.execPath}" "${SHIM}" compact ${BUDGET.join(' ')} --out s.json < s.json`;
  const piped = spawnSync('sh', ['-c', command], { cwd: home, encoding: 'utf8' });
  const { status, stdout, stderr } = piped;
  assert.deepEqual({ status, stdout, stderr }, refused('s.json'));
  assert.equal(readFileSync(join(home, 's.json'), 'utf8'), text);
});

test('several files come out on stdout, one after the other; --out takes what one becomes', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'a.json'), '[{"role":"user","content":"a"}]');
  writeFileSync(join(home, 'b.json'), '[{"role":"user","content":"b"}]\n');
  const both = await here(['compact', 'a.json', 'b.json'], { cwd: home });
  assert.equal(both.stdout, '[{"role":"user","content":"a"}]\n[{"role":"user","content":"b"}]\n');
  assert.deepEqual(
    await here(['compact', 'a.json', 'b.json', '--out', 'both.json'], { cwd: home }),
    {
      status: 2,
      stdout: '',
      stderr:
        'bobbin: --out takes what one FILE becomes: compact them one by one; see bobbin compact --help\n',
    },
  );
  const lines = await here(['compact', '--jsonl', 'a.json', 'b.json', '--out', 'both.jsonl'], {
    cwd: home,
  });
  assert.equal(lines.status, 0);
  assert.equal(readFileSync(join(home, 'both.jsonl'), 'utf8').split('\n').length, 3);
});

test('a bad file leaves the output file untouched', async (t) => {
  const home = folder(t);
  writeFileSync(
    join(home, 'bad.json'),
    '[{"role":"user","content":"c"},\n {"role":"user","content":3}]',
  );
  writeFileSync(join(home, 'out.json'), 'precious');
  assert.deepEqual(await here(['compact', 'bad.json', '--out', 'out.json'], { cwd: home }), {
    status: 2,
    stdout: '',
    stderr:
      'bobbin: bad.json:2:27: messages[1].content: must be a string or a list of parts, is 3\n',
  });
  assert.equal(readFileSync(join(home, 'out.json'), 'utf8'), 'precious');
  assert.deepEqual(readdirSync(home).toSorted(), ['bad.json', 'out.json']);
});

const BAD: readonly (readonly [input: string | Uint8Array, place: string, problem: string])[] = [
  ['', '1:1', 'is empty'],
  ['\n\n  ', '3:3', 'is empty'],
  ['hello', '1:1', 'expected a value, found "h"'],
  ['[{"role":"user","content":"hi"}', '1:32', 'expected "," or "]", found the end'],
  ['[\n  {"role": "user",\n   "content": "x}\n]', '3:15', 'this string does not end on its line'],
  ['["a\tb"]', '1:4', 'a control character must be escaped in a string'],
  ['["a", "\\x"]', '1:8', 'this is no escape that JSON knows'],
  ['[1, 2,]', '1:7', 'expected a value, found "]"'],
  ['{"role": "user"} x', '1:18', 'unexpected text after the JSON value'],
  [
    '{"messages": []}\n{"messages": []}\n',
    '2:1',
    'unexpected text after the JSON value; compact --jsonl reads one conversation a line',
  ],
  ['{messages: []}', '1:2', 'expected a name, found "m"'],
  ['"text"', '1:1', 'must be a list of messages, or an object that holds one as "messages"'],
  [
    '{"message": []}',
    '1:1',
    'must be a list of messages, or an object that holds one as "messages"',
  ],
  ['[\n  "hello"\n]', '2:3', 'messages[0]: must be an object, is "hello"'],
  ['{"messages":[{"content":"x"}]}', '1:14', 'messages[0].role: must be a string, is absent'],
  [
    '[{"role":"assistant","tool_calls":[\n{"id":"1","type":"function","function":{"name":"f","arguments":{}}}]}]',
    '2:64',
    'messages[0].tool_calls[0].function.arguments: must be a string, is an object',
  ],
  [Buffer.from([0x5b, 0x0a, 0x22, 0xff, 0x22, 0x5d]), '2:2', 'is not UTF-8'],
  ['['.repeat(100_000), '1:100001', 'expected a value, found the end'],
];

for (const [input, place, problem] of BAD) {
  const name = typeof input === 'string' ? JSON.stringify(input.slice(0, 40)) : 'bytes';
  test(`bad input is told in one line with its place: ${name}`, async () => {
    assert.deepEqual(await here(['compact'], { stdin: input }), {
      status: 2,
      stdout: '',
      stderr: `bobbin: stdin:${place}: ${problem}\n`,
    });
  });
}

test('a file that cannot be read or written is told in one line', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'a.json'), '[]');
  for (const [status, args, line] of [
    [2, ['none.json'], 'none.json: no such file or directory'],
    [2, ['.'], '.: is a folder'],
    [1, ['a.json', '--out', 'no/out.json'], 'no/out.json: no such file or directory'],
    [1, ['a.json', '--out', '.'], '.: is a folder'],
    [1, ['a.json', '--artifacts', 'a.json'], 'a.json: is not a folder'],
    [1, ['a.json', '--artifacts', 'a.json/x'], 'a.json: is not a folder'],
    ...(existsSync('/proc/self')
      ? [[1, ['a.json', '--artifacts', '/proc/x'], '/proc/x: no such file or directory'] as const]
      : []),
  ] as const)
    assert.deepEqual(await bobbin(['compact', ...args], { cwd: home }), {
      status,
      stdout: '',
      stderr: `bobbin: ${line}\n`,
    });
  assert.deepEqual(readdirSync(home), ['a.json']);
});

test('- is stdin among files, and stdout for --out', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'a.json'), '[{"role":"user","content":"a"}]\n');
  const stdin = '[{"role":"user","content":"b"}]\n';
  const args = ['compact', '-', 'a.json', '--out', '-'];
  const { status, stdout, stderr } = await here(args, { cwd: home, stdin });
  assert.deepEqual(
    { status, stdout },
    { status: 0, stdout: `${stdin}[{"role":"user","content":"a"}]\n` },
  );
  assert.match(stderr, /^stdin: .*\na\.json: .*\n$/);
  assert.deepEqual(readdirSync(home), ['a.json']);
});

test('--out writes to what is no file without putting a file in its place', (t) => {
  const home = folder(t);
  const pipe = join(home, 'pipe');
  const command = `mkfifo pipe && cat pipe & sleep 0.2; "${process.execPath}" "${SHIM}" compact --out pipe < a.json; wait`;
  writeFileSync(join(home, 'a.json'), '[]');
  const options = { cwd: home, encoding: 'utf8', timeout: 20_000 } as const;
  const { stdout } = spawnSync('sh', ['-c', command], options);
  assert.deepEqual([stdout, statSync(pipe).isFIFO()], ['[]', true]);
});

test('a role that no format knows is told with its place and the one that is near', async () => {
  const stdin = '[{"role":"user","content":"a"},\n {"role":"assistent","content":"b"}]';
  assert.deepEqual(await here(['compact'], { stdin }), {
    status: 2,
    stdout: '',
    stderr:
      'bobbin: stdin:2:10: messages[1].role: must be one of system, developer, user, assistant, model, tool, function, is "assistent" (did you mean assistant?)\n',
  });
});

const UNKNOWN: readonly (readonly [args: readonly string[], line: string])[] = [
  [
    ['--model', 'openai/gtp-5'],
    'nothing is known of the model "openai/gtp-5" (did you mean openai/gpt-5?): assuming a window of 128,000 tokens (--window) and an estimate of its tokens (--counter)',
  ],
  [
    ['--model', 'my-own', '--window', '9000'],
    'nothing is known of the model "my-own": assuming an estimate of its tokens (--counter)',
  ],
  [
    ['--model', 'gpt-99', '--counter', 'o200k'],
    'nothing is known of the model "gpt-99": assuming a window of 128,000 tokens (--window)',
  ],
];

for (const [args, line] of UNKNOWN) {
  test(`what is assumed of a model that nobody knows is told, and the work done: ${args.join(' ')}`, async () => {
    const stdin = '[{"role":"user","content":"hi"}]\n';
    const { status, stdout, stderr } = await here(['compact', ...args], { stdin });
    assert.deepEqual([status, stdout, stderr.split('\n')[0]], [0, stdin, `bobbin: ${line}`]);
  });
}

test('nothing is assumed of a model that is known, or of which all is said', async () => {
  const stdin = '[{"role":"user","content":"hi"}]\n';
  for (const args of [
    ['--model', 'gpt-5-mini'],
    ['--model', 'anthropic/claude-opus-5'],
    ['--model', 'my-own', '--window', '9000', '--counter', 'o200k'],
  ]) {
    const { stderr } = await here(['compact', ...args], { stdin });
    assert.match(stderr, /^stdin: \d+ tokens, nothing to do .*\n$/);
  }
});

test('--instructions are not taken silently by what cannot heed them', async () => {
  const stdin = '[{"role":"user","content":"hi"}]\n';
  const { status, stderr } = await here(['compact', '--instructions', 'keep paths'], { stdin });
  assert.equal(status, 0);
  assert.match(
    stderr,
    /^bobbin: --instructions has no effect: the built-in extract, which takes none, summarises here\n/,
  );
});

test('--artifacts keeps the whole of what became an excerpt, and prints the command that shows it', async (t) => {
  const home = folder(t);
  const large = long.map((message) =>
    message.role === 'tool'
      ? { ...message, content: `${message.content as string}\n`.repeat(5) }
      : message,
  );
  writeFileSync(join(home, 's.json'), JSON.stringify(large));
  const compact = ['compact', 's.json', ...BUDGET];
  const without = await here(compact, { cwd: home });
  const kept = await here([...compact, '--artifacts', 'moved out'], { cwd: home });
  assert.equal(kept.stdout, without.stdout);
  assert.match(
    without.stderr,
    /\n {2}\d+ messages are excerpts, whole only in s\.json; --artifacts FOLDER keeps the whole\n$/,
  );
  const told = /\n {2}\d+ artifacts in moved out: bobbin artifact 'moved out' ([0-9a-f]+)\n$/.exec(
    kept.stderr,
  );
  const pointers = [...kept.stdout.matchAll(/Content - artifact:([0-9a-f]+)\]/g)].map(
    ([, id]) => id,
  );
  assert.ok(pointers.includes(told?.[1]));
  for (const id of new Set(pointers)) {
    const shown = await here(['artifact', 'moved out', `artifact:${id}`], { cwd: home });
    assert.deepEqual([shown.status, shown.stderr], [0, '']);
    assert.ok(large.some(({ role, content }) => role === 'tool' && content === shown.stdout));
  }
  assert.deepEqual(await here(['artifact', 'moved out', 'abc'], { cwd: home }), {
    status: 2,
    stdout: '',
    stderr: 'bobbin: moved out: holds no artifact abc\n',
  });
});

test('--json prints the prompt, the plan and the figures', async () => {
  const { stdout } = await here(['compact', '--json', ...BUDGET], {
    stdin: JSON.stringify(long),
  });
  const { prompt, plan, figures } = JSON.parse(stdout) as {
    prompt: { messages: ChatMessage[]; tokens: number; cachePoints: number[] };
    plan: { policy: string; records: unknown[] };
    figures: Record<string, unknown>;
  };
  assert.equal(prompt.tokens, chars4Tokens(prompt.messages));
  assert.equal(plan.policy, 'ladder');
  assert.ok(plan.records.length > 0);
  assert.deepEqual(figures, {
    tokensBefore: chars4Tokens(long),
    tokensAfter: prompt.tokens,
    limitTokens: 3000,
    messagesBefore: long.length,
    messagesAfter: prompt.messages.length,
    compacted: true,
    fits: true,
    counter: 'chars4',
    preset: 'ladder',
  });
});

test('every preset compacts within the budget', async () => {
  const stdin = JSON.stringify(long);
  for (const preset of Object.keys(PRESETS)) {
    const { status, stdout } = await here(['compact', '--preset', preset, ...BUDGET], { stdin });
    const messages = JSON.parse(stdout) as ChatMessage[];
    assert.deepEqual([preset, status, openaiChatProblems(messages)], [preset, 0, []]);
    assert.ok(chars4Tokens(messages) <= 3000, preset);
  }
});

test('an exact counter bounds by its own tokens', async () => {
  const stdin = JSON.stringify(long);
  const { stdout } = await here(['compact', '--budget', '2500', '--counter', 'o200k'], { stdin });
  const { message } = await bpe('o200k');
  const tokens = openaiChat
    .decode(JSON.parse(stdout) as ChatMessage[])
    .reduce((sum, m) => sum + message(m), 0);
  assert.ok(tokens <= 2500 && tokens > 1000, `${tokens}`);
});

test("without a budget the model's window counts, with what is sent beside the messages", async () => {
  const stdin = JSON.stringify(conversation(50));
  const small = await here(['compact', '--json', '--model', 'gpt-4'], { stdin });
  const { figures } = JSON.parse(small.stdout) as { figures: Record<string, unknown> };
  assert.deepEqual(
    [figures['limitTokens'], figures['counter'], figures['compacted']],
    [8_192 - 500, 'cl100k', true],
  );
  const large = await here(['compact', '--model', 'claude-opus-5'], { stdin });
  assert.equal(large.stdout, `${stdin}\n`);
  assert.match(large.stderr, /nothing to do \(limit 999,500, by estimate×/);
});

test('a reader that has seen enough ends it quietly', (t) => {
  const home = folder(t);
  writeFileSync(
    join(home, 'many.jsonl'),
    `${JSON.stringify({ id: 1, messages: long })}\n`.repeat(200),
  );
  const command = `"${process.execPath}" "${SHIM}" compact many.jsonl --jsonl ${BUDGET.join(' ')} | head -c 100`;
  const { stderr, stdout } = spawnSync('sh', ['-c', command], { cwd: home, encoding: 'utf8' });
  assert.deepEqual({ stderr, length: stdout.length }, { stderr: '', length: 100 });
});
