import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BobbinOptions, Message } from '@bobbin/core';
import { chars4, currentSummary, messagesOnly, step } from '@bobbin/core/internal';
import {
  assistant,
  call,
  result,
  scriptedSummarizer,
  system,
  user,
  WatchedThread,
  withMeta,
} from '@bobbin/testing';

const small = { modelContextLimit: 1_250, systemReserve: 0, outputReserve: 0, safetyBuffer: 0 };
const options: BobbinOptions = {
  preset: step({ ...small, recentMessagesToKeep: 4 }),
  counter: chars4(),
  budget: messagesOnly(5_000),
};
const say = (i: number): readonly Message[] => [
  user(`${i} `.padEnd(800, 'q')),
  assistant(`${i} `.padEnd(800, 'a')),
];

async function opened(
  given: BobbinOptions,
  ...messages: readonly Message[]
): Promise<WatchedThread> {
  const watched = await WatchedThread.open({ ...options, ...given });
  await watched.append(...messages);
  return watched;
}

test('A13 a single huge tool result is shortened before the summarizer reads it whole', async () => {
  const read = call('read', { path: '/huge' });
  const watched = await opened(
    {},
    user('read'),
    assistant(read),
    result(read, 'z'.repeat(50_000)),
    ...say(1),
    ...say(2),
  );
  const { fits, prompt, plan } = await watched.prompt();
  assert.ok(fits && prompt.tokens <= 5_000);
  assert.ok((currentSummary(plan)?.text.length ?? 0) < 8_000, 'the summary does not carry it on');
});

test('A13 all messages are recent: unchanged', async () => {
  const read = call('read', { path: '/a' });
  const calls = [
    call('read', { n: 1 }),
    call('read', { n: 2 }),
    call('read', { n: 3 }),
    call('read', { n: 4 }),
  ];
  const watched = await opened(
    { preset: step({ ...small, recentMessagesToKeep: 2 }) },
    assistant(read, ...calls),
    ...[read, ...calls].map((each) => result(each, 'y'.repeat(900))),
  );
  const { compacted, prompt } = await watched.prompt();
  assert.deepEqual(
    [compacted, prompt.messages.length],
    [false, 7],
    'opened by a user message, the round stays',
  );
});

test('A13 the summary fails: a warning, and the prompt goes on', async () => {
  const watched = await opened(
    { summarizer: scriptedSummarizer({ kind: 'throws', message: '503' }) },
    ...say(1),
    ...say(2),
    ...say(3),
  );
  const { events, fits } = await watched.prompt();
  assert.ok(events.some((event) => event.kind === 'warning' && /503/.test(event.message)));
  assert.equal(fits, true);
});

test('A13 a tool message at the boundary keeps its call', async () => {
  const [a, b] = [call('read', { n: 1 }), call('read', { n: 2 })];
  const watched = await opened(
    {},
    ...say(1),
    ...say(2),
    assistant('both', a, b),
    result(a, '1'.repeat(900)),
    result(b, '2'),
    assistant('done'),
    user('next'),
  );
  const { prompt } = await watched.prompt();
  const kept = prompt.messages
    .filter(({ source }) => source.kind === 'kept')
    .map(({ message }) => message.role);
  assert.deepEqual(kept, ['assistant', 'tool', 'tool', 'assistant', 'user'], 'five, not four');
});

test('A13 an empty conversation is left alone', async () => {
  const empty = await WatchedThread.open(options);
  const { prompt, compacted } = await empty.prompt();
  assert.deepEqual(
    [prompt.messages, prompt.tokens, prompt.cachePoints, compacted],
    [[], 0, [], false],
  );
  const one = await opened({}, system('x'.repeat(8_000)));
  assert.equal((await one.prompt()).compacted, false);
});

test('A13 a very short session is never compacted, at any cost', async () => {
  const five = [system('s'), ...say(1), ...say(2)].map((message) => ({
    ...message,
    parts: [{ kind: 'text' as const, text: 'x'.repeat(3_600) }],
  }));
  const watched = await opened({}, ...five);
  assert.equal((await watched.prompt()).compacted, false, 'keep + 1 messages of 900 tokens');
});

test('A13 nothing to compact leaves the messages and writes nothing', async () => {
  const watched = await opened({}, ...say(1));
  const { version, compacted, prompt } = await watched.prompt();
  assert.deepEqual([version, compacted], [0, false]);
  assert.deepEqual(
    prompt.messages.map(({ message }) => message),
    watched.thread.messages,
  );
});

test('A6 a summary that the host brings along is handed over, not summarised again', async () => {
  const summarizer = scriptedSummarizer({ kind: 'good' });
  const watched = await opened(
    { summarizer },
    system('s'),
    withMeta(assistant('## Session Summary (Compaction Round 1)\nThe schema is made.'), {
      synthetic: true,
    }),
    ...say(1),
    ...say(2),
    ...say(3),
  );
  await watched.prompt();
  const [request] = summarizer.requests;
  assert.deepEqual(
    request?.nodes.map(({ index }) => index),
    [2, 3],
  );
  assert.match(request?.previous?.prose ?? '', /The schema is made\./);
});
