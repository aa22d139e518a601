import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy } from '@bobbin/core';
import { budget, firedBecause, opencode, usageTokens } from '@bobbin/core/internal';
import { WatchedThread, withMeta } from '@bobbin/testing';
import { expectRows, now, opened, talk, wide, type Row } from './notation.ts';

/** What was reported (input, output, cache read, cache write) of which window and reserve. */
const OVERFLOWS: readonly (readonly [
  reported: readonly [number, number, number, number],
  windowTokens: number,
  outputReserveTokens: number,
  overflows: boolean,
])[] = [
  [[75_000, 5_000, 0, 0], 100_000, 32_000, true],
  [[100_000, 10_000, 0, 0], 200_000, 32_000, false],
  [[60_000, 10_000, 10_000, 0], 100_000, 32_000, true],
  [[50_000, 9_999, 0, 0], 200_000, 10_000, false],
  [[68_000, 0, 0, 0], 100_000, 32_000, false],
  [[68_001, 0, 0, 0], 100_000, 32_000, true],
  [[0, 0, 0, 68_001], 100_000, 32_000, true],
];

test('B22 cases of an overflow', () => {
  const found = OVERFLOWS.map(([reported, windowTokens, outputReserveTokens]) => {
    const [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens] = reported;
    const usage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
    const check = {
      tokens: 0,
      contextTokens: usageTokens(usage),
      messages: 9,
      turns: 3,
      budget: budget({ windowTokens }),
    };
    return firedBecause(opencode({ outputReserveTokens }).trigger, check) !== undefined;
  });
  assert.deepEqual(
    found,
    OVERFLOWS.map(([, , , overflows]) => overflows),
  );
});

const prune: Policy = {
  ...now(opencode()),
  targetShare: 0.01,
  ladder: opencode().ladder.slice(0, 1),
};

/** Results and their tokens, oldest first, and how many of them are cleared. */
const PRUNES: readonly (readonly [name: string, results: readonly number[], cleared: number])[] = [
  ['less than is protected', [30_000], 0],
  ['exactly what is protected', [20_000, 20_000], 0],
  ['too little to be worth it', [10_000, 20_000, 20_000], 0],
  ['exactly the least is not worth it', [20_000, 20_000, 20_000], 0],
  ['enough to be worth it', [20_500, 20_000, 20_000], 1],
  ['the oldest go, the newest stay', [15_000, 15_000, 20_000, 20_000], 2],
];

test('B19 cases of pruning', async () => {
  const found: unknown[] = [];
  for (const [name, results] of PRUNES) {
    const rounds = results.map((tokens, i) => `c${i} t${i}:${tokens}`).join(' ');
    const watched = await opened(prune, ...talk(`u0:10 ${rounds} u1:10`));
    found.push([name, (await watched.prompt()).plan.records.length]);
  }
  assert.deepEqual(
    found,
    PRUNES.map(([name, , cleared]) => [name, cleared]),
  );
});

const SUMMARISED: readonly Row<number>[] = [
  ['all of it becomes a summary', 'u1 a1 u2 a2 u3', 0, '· Sa u3'],
  ['a finished turn keeps its question', 'u1 a1 u2 a2', 0, '· Sa u2'],
  ['the system message stays', 's0 u1 a1 u2 a2 u3', 0, 's0 · Sa u3'],
];

test('B22 cases of what is seen after a summary', () =>
  expectRows(SUMMARISED, () => ({ ...now(opencode()), targetShare: 0.001 })));

test('B22 an automatic compaction is followed by a request to continue, one by hand is not', async () => {
  const usage = { inputTokens: 70_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const said = talk('u1 a1:30000 u2 a2').map((message, i) =>
    i === 3 ? withMeta(message, { usage }) : message,
  );
  for (const [how, continueWith] of [
    ['prompt', 'Continue if you have next steps.'],
    ['compact', undefined],
  ] as const) {
    const watched = await WatchedThread.open({ ...wide, preset: opencode() });
    await watched.append(...said);
    const fitted = await watched[how]();
    assert.deepEqual([fitted.compacted, fitted.continueWith], [true, continueWith], how);
  }
});
