import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { test } from 'node:test';
import type { ChatMessage } from '@bobbin/codecs';
import { chars4Tokens, conversation } from './conversation.ts';
import { folder, here, start } from './run.ts';

const ARGS = ['compact', '--jsonl', '--counter', 'chars4', '--budget', '3000'];
const long = conversation(30);

interface Answer {
  readonly id: unknown;
  readonly messages: ChatMessage[];
  readonly stats: { readonly limitTokens: number; readonly tokensAfter: number };
}

test('a summary and a transcript cannot both come from stdin', async () => {
  for (const operands of [[], ['-']])
    assert.deepEqual(await here(['compact', ...operands, '--summary', '-'], { stdin: '[]' }), {
      status: 2,
      stdout: '',
      stderr:
        'bobbin: --summary - and the transcript cannot both come from stdin: give one of them as a FILE; see bobbin compact --help\n',
    });
});

test('a line may hold a summary that a model wrote: it is verified and leads', async () => {
  const summary = 'The flux capacitor was chosen because it was the only one in stock.';
  const line = { messages: long, budget: 1500, summary: `## Task\n${summary}` };
  const { status, stdout } = await here(ARGS, { stdin: JSON.stringify(line) });
  assert.equal(status, 0);
  const contents = (JSON.parse(stdout) as Answer).messages.map(({ content }) =>
    JSON.stringify(content),
  );
  const text = JSON.parse(
    contents.find((content) => content.includes('[Summary ')) ?? '""',
  ) as string;
  assert.ok(text.indexOf(`**Task**\n${summary}`) < text.indexOf('\n## '), text);

  const blank = await here(ARGS, { stdin: JSON.stringify({ ...line, summary: ' ' }) });
  assert.equal(blank.status, 2);
  assert.match(blank.stderr, /summary: must be the text of a summary/);
});

test('each conversation is answered in order, within its own budget or the common one', async () => {
  const lines = [
    { id: 'first', messages: long },
    { id: 2, messages: long, budget: 1500 },
    { messages: long.slice(0, 2), other: true },
  ];
  const { status, stdout, stderr } = await here(ARGS, {
    stdin: `${JSON.stringify(lines[0])}\n\n${JSON.stringify(lines[1])}\r\n${JSON.stringify(lines[2])}`,
  });
  assert.equal(status, 0);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
  assert.deepEqual(
    answers.map(({ id, stats }) => [id, stats.limitTokens]),
    [
      ['first', 3000],
      [2, 1500],
      [null, 3000],
    ],
  );
  for (const { messages, stats } of answers) {
    assert.equal(stats.tokensAfter, chars4Tokens(messages));
    assert.ok(stats.tokensAfter <= stats.limitTokens);
  }
  assert.deepEqual(answers[2]?.messages, long.slice(0, 2));
  assert.match(stderr, /^3 conversations compacted in /);
});

test('the same conversation is answered the same, whatever came before it', async () => {
  const stdin = [2000, 1000, 2000]
    .map((budget) => JSON.stringify({ id: 'x', messages: long, budget }))
    .join('\n');
  const { stdout } = await here(ARGS, { stdin });
  const [first, , third] = stdout.split('\n');
  assert.equal(third, first);
});

test('an answer comes before the next conversation is sent', async (t) => {
  const child = start(ARGS);
  t.after(() => child.kill());
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  for (const id of [1, 2]) {
    child.stdin.write(`${JSON.stringify({ id, messages: long })}\n`);
    const { value } = (await answers.next()) as { value: string };
    assert.equal((JSON.parse(value) as Answer).id, id);
  }
  child.stdin.end();
  const [status] = (await once(child, 'close')) as [number];
  assert.equal(status, 0);
});

test('a reader that is slow slows the reading down', async (t) => {
  const child = start(ARGS);
  t.after(() => child.kill());
  child.stdout.pause();
  const line = `${JSON.stringify({ id: 1, messages: long })}\n`;
  const count = 60;
  for (let i = 0; i < count; i++) child.stdin.write(line);
  await setTimeout(2_000);
  assert.ok(child.stdin.writableLength > line.length * 10, 'everything was taken in');
  child.stdin.end();
  let answers = 0;
  for await (const _ of createInterface({ input: child.stdout })) answers += 1;
  assert.equal(answers, count);
});

test('only a line feed ends a line', async () => {
  const messages = [{ role: 'user', content: 'a\u2028b\u2029c\u0085d' }];
  const { status, stdout } = await here(ARGS, { stdin: JSON.stringify({ id: 1, messages }) });
  assert.equal(status, 0);
  assert.deepEqual((JSON.parse(stdout) as Answer).messages, messages);
});

const good = JSON.stringify({ id: 1, messages: long.slice(0, 2) });
const BAD: readonly (readonly [line: string, place: string])[] = [
  ['{"id": 2, "messages": [}', '3:24: expected a value, found "}"'],
  [
    '{"id": 2, "messages": [',
    '3:24: expected a value, found the end; --jsonl reads one whole conversation a line, a file that is one is read without',
  ],
  ['{"id": 2}', '3:1: must be a list of messages, or an object that holds one as "messages"'],
  ['{"messages": [{"role": 7}]}', '3:24: messages[0].role: must be a string, is 7'],
  ['{"messages": [], "budget": "many"}', '3:28: budget: must be a whole number above 0'],
];

for (const [line, place] of BAD) {
  test(`a bad line is reported with its number, and the output file stays: ${line}`, async (t) => {
    const home = folder(t);
    writeFileSync(join(home, 'in.jsonl'), `${good}\n\n${line}\n${good}\n`);
    writeFileSync(join(home, 'out.jsonl'), 'precious');
    const { status, stdout, stderr } = await here([...ARGS, 'in.jsonl', '--out', 'out.jsonl'], {
      cwd: home,
    });
    assert.deepEqual(
      { status, stdout, stderr },
      { status: 2, stdout: '', stderr: `bobbin: in.jsonl:${place}\n` },
    );
    assert.equal(readFileSync(join(home, 'out.jsonl'), 'utf8'), 'precious');
    assert.deepEqual(readdirSync(home).toSorted(), ['in.jsonl', 'out.jsonl']);
  });
}

test('a session file, whose lines are no conversations, is refused with how to read it', async () => {
  assert.deepEqual(await here(ARGS, { stdin: '{"type":"session","id":"s1"}\n' }), {
    status: 2,
    stdout: '',
    stderr:
      'bobbin: stdin:1:1: must be a list of messages, or an object that holds one as "messages"; a session file is read without --jsonl\n',
  });
});
