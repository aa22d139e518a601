import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, anyOf, textOf, tokenCount, turnCount, when, type Trigger } from '@bobbin/core';
import { firedBecause, recursiveSummary, slidingWindow } from '@bobbin/core/internal';
import { scriptedSummarizer, WatchedThread, type SummarizerOutcome } from '@bobbin/testing';
import { opened, shown, talk, wide, expectRows, type Row } from './notation.ts';

/** A row of triggers: what it proves, the thread, the trigger, whether it fires. Messages cost 100 tokens each. */
type TriggerRow = readonly [name: string, thread: string, trigger: Trigger, fires: boolean];

const never = turnCount(1_000);

const TRIGGERS: readonly TriggerRow[] = [
  ['as many turns as the threshold', 'u1 a1 u2 a2', turnCount(2), false],
  ['one turn more', 'u1 a1 u2 a2 u3', turnCount(2), true],
  ['no turn over 0', 'a1', turnCount(0), false],
  ['one turn over 0', 'u1', turnCount(0), true],
  ['an empty session', '', turnCount(0), false],
  ['synthetic questions do not count', 'q0 m0 q1 m1 u1 a1', turnCount(1), false],
  ['questions of a branch do not count', 'u1 v1 b1 v2 b2 v3 b3', turnCount(1), false],
  ['answers do not count', 'u1 a1 a2 a3 a4 a5', turnCount(1), false],
  ['calls and results do not count', 'u1 c1 t1 c2 t2 c3 t3', turnCount(1), false],
  ['a system message does not count', 's0 u1', turnCount(1), false],
  ['one token below', 'u1 a1:99', tokenCount(200), false],
  ['exactly the tokens', 'u1 a1', tokenCount(200), true],
  ['more tokens', 'u1 a1 u2', tokenCount(200), true],
  ['an empty session has no tokens', '', tokenCount(1), false],
  ['calls and results have tokens', 'u1 c1 t1', tokenCount(300), true],
  ['summaries have tokens', 'q0 m0 u1', tokenCount(300), true],
  ['a branch has tokens', 'u1 b1 a1', tokenCount(300), true],
  ['any: the first fires', 'u1 a1 u2', anyOf(turnCount(1), never), true],
  ['any: the second fires', 'u1 a1', anyOf(never, tokenCount(200)), true],
  ['any: both fire', 'u1 a1 u2', anyOf(turnCount(1), tokenCount(1)), true],
  ['any: none fires', 'u1 a1', anyOf(never, tokenCount(201)), false],
  ['any of nothing', 'u1 a1', anyOf(), false],
  ['any inside any', 'u1 a1', anyOf(never, anyOf(never, tokenCount(1))), true],
  ['all: one does not fire', 'u1 a1', allOf(tokenCount(1), never), false],
  ['all: both fire', 'u1 a1 u2', allOf(turnCount(1), tokenCount(1)), true],
  ['all of nothing', 'u1 a1', allOf(), false],
  ['a function that says yes', 'u1', when('always', () => true), true],
  ['a function that says no', 'u1', when('never', () => false), false],
  ['a function sees turns', 'u1 a1 u2', when('two', ({ turns }) => turns === 2), true],
  ['a function sees messages', 'u1 a1 u2', when('three', ({ messages }) => messages === 3), true],
];

test('D3 D4 D5 cases of the triggers', async () => {
  const fired: string[] = [];
  for (const [name, thread, trigger] of TRIGGERS) {
    let seen: boolean | undefined;
    const noted = when('noted', (check) => {
      seen = firedBecause(trigger, check) !== undefined;
      return false;
    });
    const watched = await opened(slidingWindow(1, noted), ...talk(thread));
    await watched.prompt();
    fired.push(`${name}: ${seen}`);
  }
  assert.deepEqual(
    fired,
    TRIGGERS.map(([name, , , fires]) => `${name}: ${fires}`),
  );
});

const always = turnCount(0);

/** What is kept after a rolling summary; `Su Sa` is the shadow question and the summary. */
const KEPT: readonly Row<number>[] = [
  ['fewer than the window', 'u1 a1', 4, 'u1 a1'],
  ['exactly the window', 'u1 a1 u2 a2', 4, 'u1 a1 u2 a2'],
  ['one turn goes', 'u1 a1 u2 a2 u3 a3', 4, 'Su Sa u2 a2 u3 a3'],
  ['a cut at an answer moves on', 'u1 a1 u2 a2 u3 a3', 3, 'Su Sa u3 a3'],
  ['a turn with calls goes whole', 'u1 c1 t1 a1 u2 a2', 3, 'Su Sa u2 a2'],
  ['a turn with calls stays whole', 'u1 a1 u2 c2 t2 a2', 4, 'Su Sa u2 c2 t2 a2'],
  ['a running turn stays', 'u1 a1 u2 c2 t2', 3, 'Su Sa u2 c2 t2'],
  ['the system message stays', 's0 u1 a1 u2 a2', 2, 's0 Su Sa u2 a2'],
];

test('D9 D10 cases of what stays beside a rolling summary', () =>
  expectRows(KEPT, (keepMessages) =>
    recursiveSummary({ keepMessages, overlapMessages: 0, trigger: always }),
  ));

/** What a summarizer reads: how many kept messages beside, and which are summarised. */
const OVERLAPS: readonly (readonly [keep: number, overlap: number, read: readonly number[]])[] = [
  [2, 0, []],
  [2, 1, [6]],
  [4, 1, [4]],
  [4, 2, [4, 5]],
  [4, 3, [4, 5, 6]],
  [6, 5, [2, 3, 4, 5, 6]],
];

for (const [keepMessages, overlapMessages, read] of OVERLAPS)
  test(`D9 of ${keepMessages} kept messages the summarizer also reads ${overlapMessages}`, async () => {
    const summarizer = scriptedSummarizer({ kind: 'good' });
    const preset = recursiveSummary({ keepMessages, overlapMessages, trigger: always });
    const watched = await WatchedThread.open({ ...wide, preset, summarizer });
    await watched.append(...talk('u1 a1 u2 a2 u3 a3 u4 a4'));
    await watched.prompt();
    const [request] = summarizer.requests;
    assert.deepEqual(
      [request?.nodes.map(({ index }) => index), request?.overlap.map(({ index }) => index)],
      [Array.from({ length: 8 - keepMessages }, (_, i) => i), read],
    );
  });

const BAD: readonly (readonly [options: object, message: RegExp])[] = [
  [{ keepMessages: 0 }, /keepMessages must be/],
  [{ keepMessages: 2, overlapMessages: 2 }, /less than keepMessages \(2\), not 2/],
  [{ keepMessages: 2, overlapMessages: 5 }, /less than keepMessages \(2\), not 5/],
  [{ overlapMessages: -1 }, /at least 0/],
  [{ keepMessages: 1 }, /less than keepMessages \(1\), not 2/],
];

for (const [options, message] of BAD)
  test(`D9 refused: ${JSON.stringify(options)}`, () =>
    assert.throws(() => recursiveSummary(options), message));

const FAILURES: readonly SummarizerOutcome[] = [
  { kind: 'blank' },
  { kind: 'throws', message: 'no connection' },
  { kind: 'malformed', value: 'a text' },
];

for (const failure of FAILURES)
  test(`D9 a summarizer that plays "${failure.kind}" leaves the session as it was, and the next one succeeds`, async () => {
    const summarizer = scriptedSummarizer(failure, { kind: 'good' });
    const preset = recursiveSummary({ keepMessages: 2, overlapMessages: 0, trigger: turnCount(2) });
    const watched = await WatchedThread.open({ ...wide, preset, summarizer });
    await watched.append(...talk('u1 a1 u2 a2 u3 a3'));
    assert.equal(await shown(watched), 'u1 a1 u2 a2 u3 a3');
    await watched.append(...talk('u4 a4 u5 a5'));
    assert.equal(await shown(watched), 'Su Sa u5 a5');
  });

test('D9 every round is given the summary before it, and there is one summary', async () => {
  const rounds = [1, 2, 3, 4];
  const summarizer = scriptedSummarizer(...rounds.map(() => ({ kind: 'good' }) as const));
  const preset = recursiveSummary({ keepMessages: 2, overlapMessages: 1, trigger: turnCount(1) });
  const watched = await WatchedThread.open({ ...wide, preset, summarizer });
  for (const n of rounds) {
    await watched.append(...talk(`u${n}a a${n}a u${n}b a${n}b`));
    assert.equal(await shown(watched), `Su Sa u${n}b a${n}b`);
  }
  assert.deepEqual(
    summarizer.requests.map(({ previous }) => previous?.round),
    [undefined, 1, 2, 3],
  );
});

test('D9 the shadow question is what the host says', async () => {
  const preset = recursiveSummary({
    keepMessages: 2,
    overlapMessages: 0,
    trigger: always,
    shadowPrompt: 'What was agreed?',
  });
  const watched = await opened(preset, ...talk('u1 a1 u2 a2'));
  const [first] = (await watched.prompt()).prompt.messages;
  assert.deepEqual(
    [first?.message.role, first && textOf(first.message)],
    ['user', 'What was agreed?'],
  );
});
