import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CutRule, Message } from '@bobbin/core';
import {
  budget,
  currentSummary,
  findCut,
  firedBecause,
  timeline,
  unitStarts,
  type Cut,
} from '@bobbin/core/internal';
import { scriptedSummarizer, WatchedThread, withMeta } from '@bobbin/testing';
import { counter, expectRows, now, opened, shown, talk, wide, type Row } from './notation.ts';

function cutOf(messages: readonly Message[], tokens: number): Cut {
  const starts = new Set(unitStarts(messages));
  const items = messages.map((message, i) => ({
    message,
    tokens: counter.message(message),
    startsUnit: starts.has(i),
  }));
  const rule: CutRule = { kind: 'keep-tokens', tokens, splitTurns: true };
  return findCut(rule, items, { targetTokens: 100_000 });
}

/** Where a cut falls: the thread, the tokens to keep, the first message that stays, and whether its turn is split. */
const CUTS: readonly (readonly [
  name: string,
  thread: string,
  keep: number,
  first: number,
  split: boolean,
])[] = [
  ['a question is a cut point', 'u1 a1 u2 a2', 200, 2, false],
  ['an answer is one', 'u1 a1 u2 a2', 100, 3, true],
  ['a call is one', 'u1 c1 t1 a1', 300, 1, true],
  ['a result is none: forward', 'u1 c1 t1 a1', 200, 3, true],
  ['a result at the end: back', 'u1 a1 c1 t1', 100, 2, true],
  ['a summary is none: forward', 'u1 a1 m1 u2 a2', 300, 3, false],
  ['a system message is none', 'u1 a1 s1 u2 a2', 300, 3, false],
  ['parallel results are none', 'u1 p1 t1 t2 a1', 300, 4, true],
  ['all results in one message', 'u1 p1 r1 a1', 200, 3, true],
  ['results count', 'u1 c1 t1:500 a1 u2', 600, 3, true],
  ['results count, in the same turn', 'u1 a1 u2 c2 t2:500', 500, 3, true],
  ['exactly the tokens', 'u1 a1 u2 a2 u3 a3', 400, 2, false],
  ['one more than the tokens', 'u1 a1 u2 a2 u3 a3', 401, 1, true],
  ['one less than a message', 'u1 a1 u2 a2 u3 a3', 399, 2, false],
  ['no message is that old', 'u1 a1', 300, 0, false],
  ['the first message', 'u1 a1', 200, 0, false],
  ['no question: no turn to split', 'a1 a2 a3', 100, 2, false],
  ['an empty timeline', '', 100, 0, false],
];

test('E5 E6 E7 E8 cases of the cut', () => {
  assert.deepEqual(
    CUTS.map(([name, thread, keep]) => {
      const { index, split } = cutOf(talk(thread), keep);
      return [name, index, split];
    }),
    CUTS.map(([name, , , first, split]) => [name, first, split]),
  );
});

/** Who may be cut before: the author decides, whatever the role says. */
const AUTHORS: readonly (readonly [author: string, isCutPoint: boolean])[] = [
  ['user', true],
  ['assistant', true],
  ['planner', true],
  ['system', false],
  ['tool', false],
];

for (const [author, isCutPoint] of AUTHORS)
  test(`E5 a message by "${author}" is ${isCutPoint ? 'a' : 'no'} cut point`, () => {
    const messages = talk('u1 a1 a2 a3').map((message, i) =>
      i === 2 ? withMeta(message, { author }) : message,
    );
    assert.equal(cutOf(messages, 200).index, isCutPoint ? 2 : 3);
  });

const PROMPTS: readonly Row<number>[] = [
  ['a summary is inserted before the cut', 'u1 a1 u2 a2', 200, '· Sa u2 a2'],
  ['a split turn keeps its question', 'u1 a1 u2 c2 t2 a2', 100, '· Sa u2 a2'],
  ['a split at a call', 'u1 a1 u2 c2 t2 c3 t3', 200, '· Sa u2 c3 t3'],
  ['a result is never first', 'u1 a1 u2 c2 t2', 100, '· Sa u2 c2 t2'],
  ['a single turn is split', 'u1 c1 t1 c2 t2', 200, 'u1 Sa c2 t2'],
  ['nothing to summarise', 'u1 a1', 300, 'u1 a1'],
];

test('E7 E8 cases of the visible stream', () =>
  expectRows(PROMPTS, (keepRecentTokens) => now(timeline({ keepRecentTokens }))));

const LIMITS: readonly (readonly [
  tokens: number,
  system: number,
  windowTokens: number,
  fires: boolean,
])[] = [
  [90_000, 0, 100_000, false],
  [90_001, 0, 100_000, true],
  [80_000, 10_000, 100_000, false],
  [80_001, 10_000, 100_000, true],
  [7_200, 0, 8_000, false],
];

test('E2 cases of nine tenths of the window, system counted', () => {
  const { trigger } = timeline();
  const fired = LIMITS.map(([tokens, systemTokens, windowTokens]) => {
    const space = budget({ windowTokens, systemTokens });
    const check = { tokens, contextTokens: tokens, messages: 9, turns: 3, budget: space };
    return firedBecause(trigger, check) !== undefined;
  });
  assert.deepEqual(
    fired,
    LIMITS.map(([, , , fires]) => fires),
  );
});

/** What a summarizer is asked for: the messages of the range, and the turn that is split. */
const ASKED: readonly (readonly [
  thread: string,
  keep: number,
  range: readonly number[],
  splitTurn?: number,
])[] = [
  ['u1 a1 u2 a2', 200, [0, 1]],
  ['u1 a1 u2 c2 t2 a2', 100, [0, 1, 3, 4], 2],
  ['u1 c1 t1 c2 t2', 200, [1, 2], 1],
];

for (const [thread, keepRecentTokens, range, splitTurn] of ASKED)
  test(`E8 E10 E11 of "${thread}" messages ${range.join(', ')} are summarised`, async () => {
    const summarizer = scriptedSummarizer({ kind: 'good' });
    const preset = now(timeline({ keepRecentTokens }));
    const watched = await WatchedThread.open({ ...wide, preset, summarizer });
    await watched.append(...talk(thread));
    await watched.prompt();
    const [request] = summarizer.requests;
    assert.deepEqual(
      [request?.nodes.map(({ index }) => index), request?.splitTurn],
      [range, splitTurn === undefined ? undefined : { turn: splitTurn, maxTokens: 400 }],
    );
    const { text = '', summary } = currentSummary(watched.handle.plan) ?? {};
    assert.equal(text.includes('Turn Context (split turn)'), splitTurn !== undefined);
    assert.equal(summary?.splitTurn?.turn, splitTurn);
  });

test('E9 E11 E12 after a summary only what follows it is summarised, and a timeline is loaded from it on', async () => {
  const preset = {
    ...timeline({ keepRecentTokens: 200 }),
    trigger: { kind: 'tokens', atLeast: 600 },
  } as const;
  const watched = await opened(preset, ...talk('u1 a1 u2 a2 u3 a3'));
  assert.equal(await shown(watched), '· Sa u3 a3');
  await watched.append(...talk('u4 a4 u5 a5'));
  assert.equal(await shown(watched), '· Sa u5 a5');
  const { summary } = currentSummary(watched.handle.plan) ?? {};
  assert.deepEqual([summary?.firstTurn, summary?.lastTurn, summary?.round], [1, 4, 2]);
  await watched.reopen();
  assert.equal(await shown(watched), '· Sa u5 a5');
  assert.equal(watched.handle.length - watched.handle.plan.start, 2, 'two messages are loaded');
});
