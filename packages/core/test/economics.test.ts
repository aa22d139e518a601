import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompactionEvent, Policy } from '@bobbin/core';
import {
  breakEvenShare,
  budget,
  chars4,
  rewritePays,
  type CachePrices,
} from '@bobbin/core/internal';
import { assistant, round, user, WatchedThread } from '@bobbin/testing';
import { softLadder } from './soft-ladder.ts';

const prices: CachePrices = { write: 1.25, read: 0.1, ttlMs: 300_000 };
const kinds = (events: readonly CompactionEvent[]): readonly string[] =>
  events.map(({ kind }) => kind);
const rewrite = { prices, rewrittenTokens: 100_000, requestsToCome: 20, cold: false };

test('decision 4 the share that a rewrite must free falls with the requests to come', () => {
  const share = (requests: number): string => breakEvenShare(prices, requests).toFixed(4);
  // 1 − rT / (w + r(T−1)) with w = 1.25, r = 0.1.
  assert.deepEqual([1, 2, 10, 20, 100].map(share), [
    '0.9200',
    '0.8519',
    '0.5349',
    '0.3651',
    '0.1031',
  ]);
  assert.equal(breakEvenShare(prices, 0), 1);
  assert.equal(breakEvenShare({ ...prices, write: 0, read: 1 }, 5), 0, 'never below nothing');
});

test('decision 4 a rewrite pays just above that share, and always on a cold cache', () => {
  assert.equal(rewritePays({ ...rewrite, tokensFreed: 36_500 }), false);
  assert.equal(rewritePays({ ...rewrite, tokensFreed: 36_520 }), true);
  assert.equal(rewritePays({ ...rewrite, tokensFreed: 1, cold: true }), true);
  assert.equal(rewritePays({ ...rewrite, tokensFreed: 0, cold: true }), false);
  assert.equal(rewritePays({ ...rewrite, tokensFreed: 1, rewrittenTokens: 0 }), true);
});

test('decision 4 soft pressure waits for a rewrite to pay, hard pressure does not', async () => {
  let now = 0;
  const preset: Policy = { ...softLadder, targetShare: 0.55 };
  const watched = await WatchedThread.open({
    preset,
    counter: chars4(),
    clock: { now: () => now },
    budget: budget({ windowTokens: 10_000, softShare: 0.5, safetyTokens: 0, rehydrationTokens: 0 }),
  });
  const step = async (chars: number): Promise<readonly CompactionEvent[]> => {
    now += 1_000;
    await watched.append(user('u'.repeat(chars)), assistant('noted'));
    return (await watched.prompt()).events;
  };
  await step(8_000);
  assert.deepEqual(kinds(await step(16_000)), ['postponed'], '6 000 of 10 000 tokens, warm cache');
  assert.deepEqual(kinds(await step(8_000)), ['postponed']);
  const hard = await step(12_000);
  assert.equal(hard[0]?.kind, 'check-started');
  assert.equal(hard.at(-1)?.kind, 'completed');
});

test('decision 4 a cold cache makes soft pressure enough', async () => {
  let now = 0;
  const watched = await WatchedThread.open({
    preset: { ...softLadder, targetShare: 0.45 },
    counter: chars4(),
    clock: { now: () => now },
    budget: budget({ windowTokens: 10_000, softShare: 0.5, safetyTokens: 0, rehydrationTokens: 0 }),
  });
  await watched.append(user('x'.repeat(4_000)));
  await watched.prompt();
  await watched.append(...round('read', { n: 1 }, 'y'.repeat(9_000)), user('z'.repeat(8_000)));
  const warm = await watched.prompt();
  assert.equal(warm.compacted, false);
  now = prices.ttlMs + 1;
  const cold = await watched.prompt();
  assert.equal(cold.compacted, true);
  assert.ok(cold.prompt.tokens <= 4_500, `${cold.prompt.tokens}`);
});

test('decision 4 a result with which the prompt does not fit is shortened when it is first seen, and what was sent stays', async () => {
  const watched = await WatchedThread.open({ counter: chars4(), window: 20_000 });
  await watched.append(user('read it'));
  const before = await watched.prompt();
  await watched.append(...round('read', { path: '/huge' }, 'line\n'.repeat(16_000)));
  const after = await watched.prompt();
  assert.deepEqual(after.prompt.messages.slice(0, 1), before.prompt.messages);
  assert.equal(after.plan.records.length, 1);
  assert.equal(after.plan.records[0]?.kind, 'externalize');
  assert.ok(after.prompt.tokens < 17_500 / 4 + 100, `${after.prompt.tokens}`);
  assert.equal(after.plan.signedFrom, 0, 'no bytes that were sent have changed');
});
