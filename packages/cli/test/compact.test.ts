import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openaiChat, openaiChatProblems, type ChatMessage } from '@bobbin/codecs';
import { PRESETS } from '@bobbin/core/internal';
import { bpe } from '@bobbin/models';
import { chars4Tokens, conversation } from './conversation.ts';
import { folder, here, SHIM } from './run.ts';
import { BUDGET, long } from './compact-run.ts';

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
  test(`bad input is reported in one line with its place: ${name}`, async () => {
    assert.deepEqual(await here(['compact'], { stdin: input }), {
      status: 2,
      stdout: '',
      stderr: `bobbin: stdin:${place}: ${problem}\n`,
    });
  });
}

test('a file that cannot be read or written is reported in one line', async (t) => {
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
    assert.deepEqual(await here(['compact', ...args], { cwd: home }), {
      status,
      stdout: '',
      stderr: `bobbin: ${line}\n`,
    });
  assert.deepEqual(readdirSync(home), ['a.json']);
});

test('a role that no format knows is reported with its place and the one that is near', async () => {
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
  test(`what is assumed of a model that nobody knows is reported, and the work done: ${args.join(' ')}`, async () => {
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
