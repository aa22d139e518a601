import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf, type CostCase } from '../src/ledger/cost.ts';

const CASE: CostCase = {
  model: 'claude-haiku-4-5',
  models: {},
  usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 900, cacheWriteTokens: 90 },
  tokensBefore: 5_000,
  tokensAfter: 1_000,
  isChanged: true,
  at: 1_000_000,
  previous: { at: 990_000, tokensBefore: 4_800 },
};
/** 10 fresh, 90 written for 112.5 and 900 read for 90, in whole tokens. */
const paidTokens = 213;

test('a request that was not changed cost what it would have cost', () => {
  assert.deepEqual(costOf({ ...CASE, isChanged: false }), { paidTokens, fullTokens: paidTokens });
});

test('the full history would have been read from a warm cache', () => {
  assert.deepEqual(costOf(CASE), { paidTokens, fullTokens: 4_800 * 0.1 + 200 * 1.25 });
});

test('after the cache has expired all of it would have been written again', () => {
  const previous = { at: 0, tokensBefore: 4_800 };
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 990 };
  assert.deepEqual(costOf({ ...CASE, usage, previous }), {
    paidTokens: Math.round(10 + 990 * 1.25),
    fullTokens: 5_000 * 1.25,
  });
});

test('what the provider read from its cache was there, however long ago it was sent', () => {
  const previous = { at: 0, tokensBefore: 4_800 };
  const fullTokens = 4_800 * 0.1 + 200 * 1.25;
  assert.deepEqual(costOf({ ...CASE, previous }), { paidTokens, fullTokens });
});

test('where nothing is cached, every token costs the same', () => {
  const usage = { inputTokens: 1_000, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };
  assert.deepEqual(costOf({ ...CASE, usage }), { paidTokens: 1_000, fullTokens: 5_000 });
});

test('a compaction empties the cache, which the full history would have had', () => {
  const usage = { inputTokens: 1_000, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const previous = { ...CASE.previous, at: 990_000, tokensBefore: 4_800, usage: CASE.usage };
  assert.deepEqual(costOf({ ...CASE, usage, previous }), {
    paidTokens: 1_000,
    fullTokens: 4_800 * 0.1 + 200 * 1.25,
  });
});

test('counts are brought to the scale of what the provider reports', () => {
  const usage = { inputTokens: 2_000, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };
  assert.deepEqual(costOf({ ...CASE, usage }), { paidTokens: 2_000, fullTokens: 10_000 });
});

test('what a model that is not in the table reads from a cache costs a tenth', () => {
  const usage = { inputTokens: 100, outputTokens: 5, cacheReadTokens: 900, cacheWriteTokens: 0 };
  assert.deepEqual(costOf({ ...CASE, model: 'a-model-of-our-own', usage }), {
    paidTokens: 100 + 900 * 0.1,
    fullTokens: 4_800 * 0.1 + 200,
  });
});
