import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnCount, type SummaryRequest } from '@bobbin/core';
import { chars4, messagesOnly, slidingWindow } from '@bobbin/core/internal';
import {
  assistant,
  call,
  messageLine,
  randomCase,
  randomConversation,
  randomText,
  result,
  round,
  scriptedSummarizer,
  seededRandom,
  thread,
  user,
  WatchedThread,
} from '@bobbin/testing';

const request: SummaryRequest = {
  nodes: thread(user('Always use tabs.'), assistant('ok')).path(),
  previous: null,
  task: 'Always use tabs.',
  round: 1,
  overlap: [],
  maxTokens: 500,
};

function numbers(seed: number): readonly number[] {
  const random = seededRandom(seed);
  return Array.from({ length: 100 }, () => random.int(0, 1_000_000));
}

test('a seed gives the same numbers each time, another seed others', () => {
  assert.deepEqual(numbers(7), numbers(7));
  assert.notDeepEqual(numbers(7), numbers(8));
  assert.ok(new Set(numbers(7)).size > 90);
});

test('random numbers stay within their bounds and reach them', () => {
  const random = seededRandom(1);
  const seen = new Set(Array.from({ length: 1_000 }, () => random.int(3, 7)));
  assert.deepEqual(
    [...seen].toSorted((x, y) => x - y),
    [3, 4, 5, 6, 7],
  );
  const share = Array.from({ length: 10_000 }, () => random.chance(0.2)).filter(Boolean).length;
  assert.ok(share > 1_800 && share < 2_200, `${share}`);
  assert.deepEqual(
    new Set(Array.from({ length: 100 }, () => random.pick(['a', 'b']))),
    new Set(['a', 'b']),
  );
});

test('a seed gives the same case each time', () => {
  for (const seed of [1, 2, 3]) {
    const [one, two] = [randomCase(seed), randomCase(seed)];
    assert.deepEqual(one.messages, two.messages);
    assert.deepEqual(
      [one.budget, one.policy.name, one.rules],
      [two.budget, two.policy.name, two.rules],
    );
  }
});

test('random conversations hold everything that they promise', () => {
  const random = seededRandom(5);
  const all = Array.from({ length: 300 }, () =>
    randomConversation(random, { messages: 40, hugeChars: 5_000 }),
  ).flat();
  const roles = new Set(all.map(({ role }) => role));
  const kinds = new Set(all.flatMap(({ parts }) => parts.map(({ kind }) => kind)));
  assert.deepEqual([...roles].toSorted(), ['assistant', 'system', 'tool', 'user']);
  assert.deepEqual([...kinds].toSorted(), [
    'call',
    'file',
    'image',
    'opaque',
    'reasoning',
    'result',
    'text',
  ]);
  const metas = new Set(all.flatMap(({ meta }) => Object.keys(meta ?? {})));
  for (const name of [
    'time',
    'pinned',
    'branch',
    'ttlMs',
    'replacement',
    'usage',
    'status',
    'synthetic',
  ])
    assert.ok(metas.has(name), name);
  const text = JSON.stringify(all);
  for (const part of ['会話', '😀', '## Session Summary', 'broken', 'sig-', 'lost_'])
    assert.ok(text.includes(part), part);
});

test('random texts have about the size that was asked for and whole characters', () => {
  const random = seededRandom(9);
  for (const chars of [0, 1, 50, 600, 5_000, 40_000]) {
    const text = randomText(random, chars);
    assert.ok(text.isWellFormed());
    assert.ok(
      text.length >= chars * 0.7 - 60 && text.length <= chars + 700,
      `${chars}: ${text.length}`,
    );
  }
});

test('a call without an id of its own has one from its content, and its result answers it', () => {
  assert.equal(call('read', { a: 1 }).callId, call('read', { a: 1 }).callId);
  assert.notEqual(call('read', { a: 1 }).callId, call('read', { a: 2 }).callId);
  assert.equal(call('read', 'broken {').args, 'broken {');
  const [calling, answer] = round('read', { a: 1 }, 'text');
  assert.deepEqual(answer, result(call('read', { a: 1 }), 'text'));
  assert.equal(messageLine(calling), `calls read#${call('read', { a: 1 }).callId} "{\\"a\\":1}"`);
});

test('a scripted summarizer plays its script, records what it was asked and refuses more', async () => {
  const summarizer = scriptedSummarizer(
    { kind: 'good', summary: { prose: 'All well.' } },
    { kind: 'blank' },
    { kind: 'throws', message: 'no' },
    { kind: 'huge', chars: 1_100 },
    { kind: 'malformed', value: 7 },
  );
  assert.throws(() => summarizer.expectDone(), /asked 0 times of 5/);
  assert.equal((await summarizer.summarize(request)).prose, 'All well.');
  assert.equal((await summarizer.summarize(request)).prose, null);
  await assert.rejects(summarizer.summarize(request), /^Error: no$/);
  assert.equal((await summarizer.summarize(request)).prose?.length, 1_100);
  assert.equal(await summarizer.summarize(request), 7);
  summarizer.expectDone();
  assert.equal(summarizer.requests.length, 5);
  assert.equal(summarizer.requests[0], request);
  await assert.rejects(
    summarizer.summarize(request),
    /the script ends before request 6 for 2 messages/,
  );
  assert.throws(() => summarizer.expectDone(), /asked 6 times, not 5/);
});

test('a scripted summarizer that hangs ends with its signal', async () => {
  const controller = new AbortController();
  const asked = scriptedSummarizer({ kind: 'hangs' }).summarize({
    ...request,
    signal: controller.signal,
  });
  controller.abort();
  await assert.rejects(asked, /aborted/);
  const late = scriptedSummarizer({ kind: 'hangs' }).summarize({
    ...request,
    signal: AbortSignal.abort(),
  });
  await assert.rejects(late, /aborted/);
});

test('a watched thread is a real session next to its own copy', async () => {
  const watched = await WatchedThread.open({
    counter: chars4(),
    budget: messagesOnly(1_000),
    preset: slidingWindow(2, turnCount(1)),
  });
  await watched.append(user('1'), assistant('2'), user('3'));
  assert.deepEqual(await watched.lines(), ['0 user (kept) "3"']);
  await watched.reopen();
  assert.deepEqual(await watched.lines(), ['0 user (kept) "3"']);
  assert.equal((await watched.plans(9)).length, 1);
  assert.equal(watched.thread.length, 3);
});
