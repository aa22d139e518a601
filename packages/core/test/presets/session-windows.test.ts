import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnCount, type Policy } from '@bobbin/core';
import { slidingWindow, tokenWindow, turnWindow } from '@bobbin/core/internal';
import { expectRows, opened, shown, talk, type Row } from './notation.ts';

/** The cases of the session service's three windows; every message costs 100 tokens unless it says otherwise. */
const always = turnCount(0);

const SLIDING: readonly Row<number>[] = [
  ['fewer than the window', 'u1 u2 u3', 5, 'u1 u2 u3'],
  ['exactly the window', 'u1 u2 u3', 3, 'u1 u2 u3'],
  ['the last of five', 'u1 u2 u3 u4 u5', 3, 'u3 u4 u5'],
  ['five of seven go', 'u1 u2 u3 u4 u5 u6 u7', 2, 'u6 u7'],
  ['one stays', 'u1 u2 u3', 1, 'u3'],
  ['a single message', 'u1', 1, 'u1'],
  ['a cut at an answer moves to the next question', 'u1 a1 u2 a2 u3 a3', 3, 'u3 a3'],
  ['a cut at a question stays there', 'u1 a1 u2 a2 u3 a3', 4, 'u2 a2 u3 a3'],
  ['a second answer belongs to its turn', 'u1 a1 a1 u2 a2', 2, 'u2 a2'],
  ['a cut at a second answer', 'u1 a1 a2 u2 a3', 3, 'u2 a3'],
  ['a cut at a result', 'u1 c1 t1 a1 u2 a2', 4, 'u2 a2'],
  ['a cut at a call', 'u1 c1 t1 a1 u2 a2', 5, 'u2 a2'],
  ['a turn with a call stays whole', 'u1 a1 u2 c2 t2 a2', 4, 'u2 c2 t2 a2'],
  ['parallel calls stay with their results', 'u1 a1 u2 p2 t2 t3 a2', 5, 'u2 p2 t2 t3 a2'],
  ['a cut between parallel results', 'u1 p1 t1 t2 a1 u2 a2', 4, 'u2 a2'],
  ['no question follows: the running turn stays', 'u1 a1 u2 c2 t2 a2', 2, 'u2 c2 t2 a2'],
  ['a running call stays with its question', 'u1 a1 u2 c2 t2', 1, 'u2 c2 t2'],
  ['the last message is a question', 'u1 a1 u2 a2 u3', 1, 'u3'],
  ['summaries first', 'q0 m0 u1 u2 u3 u4', 3, 'q0 m0 u2 u3 u4'],
  ['summaries do not count', 'q0 m0 u1 a1 u2 a2', 4, 'q0 m0 u1 a1 u2 a2'],
  ['summaries of two compactions', 'q0 m0 q1 m1 u1 u2 u3', 2, 'q0 m0 q1 m1 u2 u3'],
  ['summaries, and a cut at an answer', 'q0 m0 u1 a1 u2 a2', 3, 'q0 m0 u2 a2'],
  ['only summaries', 'q0 m0', 1, 'q0 m0'],
  ['a branch takes no place', 'u1 a1 u2 b2 b3 a2', 2, 'u2 b2 b3 a2'],
  ['a question of a branch starts no turn', 'u1 a1 v1 b1 u2 a2', 3, 'u2 a2'],
  ['the system message stays', 's0 u1 a1 u2 a2', 2, 's0 u2 a2'],
];

const TURNS: readonly Row<number>[] = [
  ['fewer turns', 'u1 a1 u2 a2', 5, 'u1 a1 u2 a2'],
  ['exactly as many turns', 'u1 a1 u2 a2 u3 a3', 3, 'u1 a1 u2 a2 u3 a3'],
  ['the last two', 'u1 a1 u2 a2 u3 a3 u4 a4', 2, 'u3 a3 u4 a4'],
  ['the last one', 'u1 a1 u2 a2 u3 a3', 1, 'u3 a3'],
  ['a long turn counts once', 'u1 c1 t1 c2 t2 a1 u2 a2 u3 a3', 2, 'u2 a2 u3 a3'],
  ['a long turn stays whole', 'u1 a1 u2 c2 t2 c3 t3 a2', 1, 'u2 c2 t2 c3 t3 a2'],
  ['parallel calls stay', 'u1 a1 u2 p2 t2 t3 a2 u3', 2, 'u2 p2 t2 t3 a2 u3'],
  ['a question without an answer is a turn', 'u1 u2 u3 a3', 2, 'u2 u3 a3'],
  ['the running turn counts', 'u1 a1 u2 a2 u3', 2, 'u2 a2 u3'],
  ['a running call', 'u1 a1 u2 c2 t2', 1, 'u2 c2 t2'],
  ['the preamble stays', 'a0 u1 a1 u2 a2 u3 a3', 2, '· a0 u2 a2 u3 a3'],
  ['a preamble of two', 'a0 a1 u1 a2 u2 a3', 1, '· a0 a1 u2 a3'],
  ['no question at all', 'a0 a1 a2', 1, '· a0 a1 a2'],
  ['summaries first', 'q0 m0 u1 a1 u2 a2 u3 a3', 1, 'q0 m0 u3 a3'],
  ['a summary is no turn', 'q0 m0 u1 a1 u2 a2', 2, 'q0 m0 u1 a1 u2 a2'],
  ['a question of a branch is no turn', 'u1 a1 v1 b1 u2 a2 u3 a3', 2, 'u2 a2 u3 a3'],
  ['a branch stays in its turn', 'u1 a1 u2 v2 b2 a2', 1, 'u2 v2 b2 a2'],
  ['the system message stays', 's0 u1 a1 u2 a2', 1, 's0 u2 a2'],
];

const TOKENS: readonly Row<number>[] = [
  ['all of it fits', 'u1 a1 u2 a2', 1_000, 'u1 a1 u2 a2'],
  ['exactly what fits', 'u1 a1 u2 a2', 400, 'u1 a1 u2 a2'],
  ['one token too many', 'u1 a1 u2 a2', 399, 'u2 a2'],
  ['the newest turn', 'u1 a1 u2 a2', 250, 'u2 a2'],
  ['two turns of three', 'u1 a1 u2 a2 u3 a3', 400, 'u2 a2 u3 a3'],
  ['it stops at the first that is too large', 'u1:10 a1:900 u2:10', 100, 'u2'],
  ['and does not look past it', 'u1:10 a1:10 u2:900 a2:10 u3:10', 100, 'u3'],
  ['an answer without its question goes', 'u1 a1 u2 a2 u3 a3', 300, 'u3 a3'],
  ['a result without its call goes', 'u1 c1 t1 u2', 250, 'u2'],
  ['calls and results cost', 'u1:10 c1:300 t1:300 u2:10 a2:10', 600, 'u2 a2'],
  ['calls and results that fit stay', 'u1:10 c1:30 t1:30 u2:10 a2:10', 600, 'u1 c1 t1 u2 a2'],
  ['summaries are paid first', 'q0 m0 u1 a1 u2 a2', 400, 'q0 m0 u2 a2'],
  ['summaries stay where nothing else fits', 'q0 m0 u1 a1', 1, 'q0 m0 u1 a1'],
  ['no question fits: the running turn stays', 'u1 a1 u2:900 a2', 200, 'u2 a2'],
  ['nothing fits: the running turn stays', 'u1 a1 u2 a2 u3 a3', 50, 'u3 a3'],
  ['a running call stays', 'u1 a1 u2 c2 t2:900', 200, 'u2 c2 t2'],
  ['the system message stays', 's0 u1 a1 u2 a2', 250, 's0 u2 a2'],
];

test('D6 D10 cases of the sliding window', () =>
  expectRows(SLIDING, (messages) => slidingWindow(messages, always)));

test('D7 D10 cases of the turn window', () =>
  expectRows(TURNS, (turns) => turnWindow(turns, always)));

test('D8 D10 cases of the token window', () =>
  expectRows(TOKENS, (tokens) => tokenWindow(tokens, always)));

/** Every way to write a window of no size, or of no number. */
const REFUSED: readonly (readonly [name: string, make: () => Policy, message: RegExp])[] = [
  ['sliding 0', () => slidingWindow(0), /sliding-window\.messages must be .*, not 0/],
  ['sliding −1', () => slidingWindow(-1), /sliding-window\.messages must be .*, not -1/],
  ['sliding 1.5', () => slidingWindow(1.5), /sliding-window\.messages must be .*, not 1\.5/],
  ['turns 0', () => turnWindow(0), /turn-window\.turns must be .*, not 0/],
  ['tokens −1', () => tokenWindow(-1), /token-window\.tokens must be .*, not -1/],
  ['turns over −1', () => slidingWindow(2, turnCount(-1)), /turnCount\.over must be .*, not -1/],
];

for (const [name, make, message] of REFUSED)
  test(`D6 D7 D8 a window that means nothing is refused: ${name}`, () =>
    assert.throws(make, message));

test('D6 D7 D8 an empty session stays empty', async () => {
  for (const policy of [slidingWindow(3, always), turnWindow(3, always), tokenWindow(3, always)])
    assert.equal(await shown(await opened(policy, ...talk(''))), '', policy.name);
});
