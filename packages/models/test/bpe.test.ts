import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { textMessage, type Message } from '@bobbin/core';
import { bpe } from '@bobbin/models';
import { get_encoding } from 'tiktoken';
import { volume } from '@bobbin/testing/volume';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ORACLES = { o200k: 'o200k_base', cl100k: 'cl100k_base' } as const;
const FRAGMENTS = [
  'the',
  ' and',
  ' Winding',
  'camelCaseName',
  'SCREAMING_CASE',
  'ß',
  'naïve',
  'Ελληνικά',
  ' русский',
  '中文字符',
  'ひらがな',
  '한국어',
  '🧵',
  '👩‍👩‍👧',
  '́',
  '‍',
  '\0',
  '\xA0',
  '﻿',
  '0',
  '12',
  '345',
  '67890',
  '3.14',
  '0x7f',
  '1e-9',
  'deadbeef',
  '=',
  '=>',
  '{',
  '}}',
  '"',
  "'ll",
  "'S",
  ' ',
  '  ',
  '	',
  '\n',
  '\r\n',
  '\n\n\n',
  '    ',
  '<|endoftext|>',
  '<|im_start|>',
  '<|fim_prefix|>',
];

for (const encoding of ['o200k', 'cl100k'] as const) {
  const oracle = get_encoding(ORACLES[encoding]);
  after(() => oracle.free());
  const count = (text: string): number => oracle.encode_ordinary(text).length;

  test(`C14 ${encoding} counts this repository's own files as the reference does`, async () => {
    const { text } = await bpe(encoding);
    const files = globSync('packages/{core,codecs}/src/**/*.ts', { cwd: ROOT });
    assert.ok(files.length > 20);
    const some = files.filter((_, i) => i % volume(8, 1) === 0);
    const contents = some.map((file) => readFileSync(`${ROOT}/${file}`, 'utf8'));
    assert.deepEqual(contents.map(text), contents.map(count));
  });

  test(`C14 ${encoding} counts random mixtures as the reference does`, async (t) => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1e9);
    t.diagnostic(`seed ${seed}`);
    const { text } = await bpe(encoding);
    const mixtures = Array.from({ length: volume(300, 10_000) }, (_, i) => mixture(seed + i));
    for (const mixed of mixtures) assert.deepEqual([mixed, text(mixed)], [mixed, count(mixed)]);
  });
}

test('C14 text that looks like a special token is only text', async () => {
  const { text } = await bpe('o200k');
  assert.equal(text('<|endoftext|>'), 7);
  assert.equal(text(''), 0);
});

test('C14 a request costs what OpenAI reports for it: messages, their formatting and the start of the answer', async () => {
  const messages = [
    textMessage('system', 'You are a helpful assistant.'),
    textMessage('user', 'Hello!'),
  ];
  for (const encoding of ['o200k', 'cl100k'] as const) {
    const counter = await bpe(encoding);
    assert.deepEqual(messages.map(counter.message), [10, 6]);
    assert.equal(counter.request({ messages }), 19);
  }
});

test('C14 calls and results are counted with their names and formatting', async () => {
  const { text, message } = await bpe('o200k');
  const args = '{"path":"src/thread.ts"}';
  const call: Message = {
    role: 'assistant',
    parts: [{ kind: 'call', callId: 'c1', tool: 'read_file', args }],
  };
  const result: Message = {
    role: 'tool',
    parts: [
      {
        kind: 'result',
        callId: 'c1',
        tool: 'read_file',
        content: [{ kind: 'text', text: 'export {};' }],
      },
    ],
  };
  assert.equal(message(call), 4 + 8 + text('read_file') + text(args));
  assert.equal(message(result), 4 + 6 + text('read_file') + text('export {};'));
});

test('C14 pictures are priced as the provider does', async () => {
  const picture: Message = {
    role: 'user',
    parts: [{ kind: 'image', source: 'a.png', widthPx: 1000, heightPx: 1000 }],
  };
  assert.equal((await bpe('o200k')).message(picture), 4 + 85 + 170 * 4);
  assert.equal((await bpe('o200k', 'anthropic')).message(picture), 4 + 1334);
});

test('A15 a message is counted once', async () => {
  const { message } = await bpe('o200k');
  const long = textMessage('user', 'winding a thread '.repeat(200_000));
  const first = millis(() => message(long));
  const again = millis(() => message(long));
  assert.ok(again < first / 5, `${again} ms after ${first} ms`);
});

test('C14 no text is a denial of service: 200 kB of one letter costs no large multiple of prose', async () => {
  const { text } = await bpe('o200k');
  const size = 200_000;
  const ordinary = best((run) => text(prose(size, run)));
  for (const unit of ['a', '=', '中', '🧵']) {
    const ratio = best((run) => text(unit.repeat(size / unit.length - run))) / ordinary;
    // Quadratic tokenizers need 800 to 10 000 times as long as for prose.
    assert.ok(ratio < 300, `${JSON.stringify(unit)} costs ${ratio.toFixed(0)} times prose`);
  }
});

/** Sentences that differ from each other and from run to run: what was counted before would be remembered. */
function prose(size: number, run: number): string {
  let text = '';
  for (let i = 0; text.length < size; i++)
    text += `Bobbin ${run} winds thread ${i} so that it fits; nothing of it is cut. `;
  return text;
}

function mixture(seed: number): string {
  let state = seed >>> 0;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: 1 + next(40) }, () => FRAGMENTS[next(FRAGMENTS.length)]).join('');
}

/** The processor's time, which a busy machine does not stretch. */
function millis(run: () => unknown): number {
  const started = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

/** The shortest of some runs, each with its number. */
function best(run: (number: number) => unknown): number {
  return Math.min(...Array.from({ length: 3 }, (_, number) => millis(() => run(number))));
}
