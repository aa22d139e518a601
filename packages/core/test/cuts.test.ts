import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type CutRule, type Message } from '@bobbin/core';
import { findCut, unitStarts, type Cut, type CutItem } from '@bobbin/core/internal';
import { assistant, call, result, system, user, withMeta } from '@bobbin/testing';
import { besideSummary } from '../src/plan/cut.ts';

/**
 * A conversation in the seeds' notation: `s` system, `u` user, `a` assistant, `c` an assistant's call, `t` its result,
 * `m` a summary. Every message costs 10 tokens, or what follows a colon.
 */
function items(text: string): readonly CutItem[] {
  const messages: Message[] = [];
  let calls = 0;
  const tokens = text.split(' ').map((word, i) => {
    const [name = '', cost = '10'] = word.split(':');
    const open = call('read', { calls: name === 't' ? calls : ++calls });
    messages.push(
      {
        s: system(`${i}`),
        u: user(`${i}`),
        a: assistant(`${i}`),
        c: assistant(open),
        t: result(open, `${i}`),
        m: withMeta(assistant(`## Session Summary ${i}`), { synthetic: true }),
      }[name] ?? assert.fail(name),
    );
    return Number(cost);
  });
  const starts = new Set(unitStarts(messages));
  return messages.map((message, i) => ({
    message,
    tokens: tokens[i] ?? 0,
    startsUnit: starts.has(i),
  }));
}

function cut(rule: CutRule, text: string, targetTokens: number = 10_000): Cut {
  return findCut(rule, items(text), { targetTokens });
}

const keepMessages = (messages: number): CutRule => ({ kind: 'keep-messages', messages });
const slidingWindow = (messages: number): CutRule => ({ kind: 'sliding-window', messages });
const turnWindow = (turns: number): CutRule => ({ kind: 'turn-window', turns });
const tokenWindow = (tokens: number): CutRule => ({ kind: 'token-window', tokens });
const keepTokens = (tokens: number, splitTurns: boolean): CutRule => ({
  kind: 'keep-tokens',
  tokens,
  splitTurns,
});

test('A6 the newest messages stay; the boundary walks back off tool results', () => {
  const talk = 's u c t a u c t c t a';
  assert.equal(cut(keepMessages(3), talk).index, 8);
  assert.equal(cut(keepMessages(2), talk).index, 8, 'not at the result of the call before');
  assert.equal(cut(keepMessages(1), talk).index, 10);
  assert.equal(cut(keepMessages(4), talk).index, 6, 'not at a result either');
});

test('A6 nothing to compact leaves everything', () => {
  const rule = keepMessages(10);
  assert.equal(cut(rule, 's u a u a u a u a u a').index, 0, 'keep + 1 messages');
  assert.equal(cut(rule, 's u a u a u a u a u a u').index, 2, 'one more');
  assert.equal(cut(rule, 'u').index, 0);
  assert.equal(findCut(rule, [], { targetTokens: 1 }).index, 0);
});

test("A6 the seed's picture: of 50 messages the last 10 stay, from the call at 40 on", () => {
  const talk = [
    's',
    'u',
    ...Array.from({ length: 22 }, () => ['c', 't']).flat(),
    'a',
    'u',
    'c',
    't',
  ];
  assert.equal(talk.length, 50);
  assert.equal(cut(keepMessages(10), talk.join(' ')).index, 40);
});

test("B6 the seed's session is cut before u4 when its last four messages are to stay", () => {
  const session = 'u c t t a u a u c t c t a u c t a';
  assert.deepEqual(cut(keepTokens(40, false), session), { index: 13, turnStart: 13, split: false });
  assert.deepEqual(cut(keepTokens(30, false), session), { index: 13, turnStart: 13, split: false });
});

test('B6 never inside a turn, unless the turn alone is larger than the budget', () => {
  const long = 'u a u c t c t c t c t a';
  assert.deepEqual(cut(keepTokens(30, false), long), { index: 2, turnStart: 2, split: false });
  assert.equal(
    cut(keepTokens(30, false), long, 100).split,
    false,
    'a turn of exactly the budget fits',
  );
  assert.equal(cut(keepTokens(30, false), long, 99).split, true);
  const tight = cut(keepTokens(30, false), long, 60);
  assert.deepEqual(tight, { index: 9, turnStart: 2, split: true });
});

test('B6 E7 in a small window a third of what system messages leave of the limit stays, never all of it', () => {
  const talk = 's:100 u a u a u a u a u a u a';
  const index = (tokens: number, splitTurns: boolean, limitTokens: number): number =>
    findCut(keepTokens(tokens, splitTurns), items(talk), { targetTokens: 1_000, limitTokens })
      .index;
  assert.deepEqual([index(20_000, false, 220), index(20_000, true, 220)], [9, 9], '40 of 120');
  assert.deepEqual(
    [index(20, false, 220), index(20, true, 220)],
    [11, 11],
    'or what the rule says',
  );
  assert.deepEqual([index(20_000, false, 90), index(20_000, true, 90)], [11, 12], 'none left');
  assert.equal(findCut(keepTokens(20_000, true), items(talk), { targetTokens: 1_000 }).index, 0);
});

test('D6 the last real messages, forward to a user message; synthetic ones are not counted', () => {
  const talk = 'm u a u c t a u a';
  assert.equal(cut(slidingWindow(2), talk).index, 7);
  assert.equal(cut(slidingWindow(4), talk).index, 7, 'forward, not back');
  assert.equal(cut(slidingWindow(6), talk).index, 3);
  assert.equal(cut(slidingWindow(8), talk).index, 1, 'the summary is no event of its own');
  assert.equal(cut(slidingWindow(100), talk).index, 1);
});

test('D7 the last whole turns', () => {
  const talk = 'a u a u c t a u a';
  assert.equal(cut(turnWindow(1), talk).index, 7);
  assert.equal(cut(turnWindow(2), talk).index, 3);
  assert.equal(cut(turnWindow(3), talk).index, 1);
  assert.equal(cut(turnWindow(4), talk).index, 0, 'fewer turns than asked for: nothing goes');
});

test('D8 a suffix without a gap; synthetic messages are paid first', () => {
  const talk = 'u a u:100 a u a u a';
  assert.equal(cut(tokenWindow(40), talk).index, 4);
  assert.equal(cut(tokenWindow(149), talk).index, 4, 'the large one is not skipped over');
  assert.equal(cut(tokenWindow(150), talk).index, 2);
  assert.equal(
    cut(tokenWindow(40), `m:25 ${talk}`).index,
    7,
    'the summary leaves space for one turn only',
  );
});

test("D10 the window starts at a user message: the seed's cut before a3 moves to u3", () => {
  const sliding = cut(slidingWindow(3), 'u a u a a u a');
  assert.equal(sliding.index, 5);
  const byTokens = cut(tokenWindow(30), 'u a u a a u a');
  assert.equal(byTokens.index, 5);
});

test('D10 where no user message follows, the turn that is going on stays whole', () => {
  assert.equal(cut(slidingWindow(2), 'u a u c t c t').index, 2);
  assert.equal(cut(tokenWindow(15), 'u a u c t c t').index, 2);
});

test('E5 a tool result, a summary or a system message is no place to cut', () => {
  assert.equal(cut(keepTokens(40, true), 'u a c t u a').index, 2, 'a call is');
  assert.equal(cut(keepTokens(30, true), 'u a c t u a').index, 4, 'the result is not');
  assert.equal(cut(keepTokens(30, true), 'u a a m u a').index, 4, 'a summary is not');
  assert.equal(cut(keepTokens(30, true), 'u a a s u a').index, 4, 'a system message is not');
  assert.equal(cut(keepTokens(20, true), 'u a u a a a').index, 4, 'an assistant message is');
});

const authored = (author: string, role: 'system' | 'assistant'): readonly CutItem[] =>
  ['one', 'two', 'three', 'four'].map((text, i) => ({
    message: i === 2 ? textMessage(role, text, { author }) : textMessage('user', text),
    tokens: 10,
    startsUnit: true,
  }));

test('E5 an author that is neither system nor tool is a place to cut, in any role', () => {
  const rule = keepTokens(20, true);
  const at = (...of: Parameters<typeof authored>): number =>
    findCut(rule, authored(...of), { targetTokens: 1_000 }).index;
  assert.deepEqual([at('planner', 'system'), at('planner', 'assistant')], [2, 2]);
  assert.deepEqual([at('system', 'assistant'), at('tool', 'assistant')], [3, 3]);
});

test('E6 tool results count toward what is kept', () => {
  assert.equal(cut(keepTokens(100, true), 'u a u c t:100 a').index, 5);
  assert.equal(cut(keepTokens(100, true), 'u a u c t:10 a').index, 0);
});

test('E7 back until enough is kept, then the first place to cut at or after', () => {
  const talk = 'u:50 a:50 u:50 c:50 t:50 a:50';
  assert.equal(cut(keepTokens(50, true), talk).index, 5);
  assert.equal(cut(keepTokens(51, true), talk).index, 5, 'reached at a result: forward');
  assert.equal(cut(keepTokens(101, true), talk).index, 3);
  assert.equal(cut(keepTokens(300, true), talk).index, 0);
  assert.equal(cut(keepTokens(301, true), talk).index, 0, 'all of it is less than that');
});

test('E8 a cut inside a turn splits it, and knows where the turn began', () => {
  assert.deepEqual(cut(keepTokens(20, true), 'u a u c t c t a a'), {
    index: 7,
    turnStart: 2,
    split: true,
  });
  assert.deepEqual(cut(keepTokens(60, true), 'u a c t a u a u a'), {
    index: 4,
    turnStart: 0,
    split: true,
  });
  assert.deepEqual(cut(keepTokens(20, true), 'u a u a'), { index: 2, turnStart: 2, split: false });
  assert.deepEqual(cut(keepTokens(20, true), 'a a a a'), { index: 2, turnStart: 0, split: false });
});

test('a rule that keeps nothing cuts after the last message', () => {
  assert.deepEqual(cut({ kind: 'everything' }, 'u a u a'), {
    index: 4,
    turnStart: 4,
    split: false,
  });
});

test('a share of the target is kept', () => {
  const shared = findCut({ kind: 'keep-share', share: 0.5 }, items('u a u a u a'), {
    targetTokens: 40,
  });
  assert.equal(shared.index, 4);
});

const BESIDE_SUMMARY = {
  kind: 'beside-summary',
  summaryTokens: 8_000,
  leastShare: 0.2,
  mostShare: 0.5,
} as const;

test('at most a share of the target stays next to a summary; in a prompt of a given size, all that is left', () => {
  const messages = Array.from({ length: 100 }, () => ({
    message: user('x'),
    tokens: 1_000,
    startsUnit: true,
  }));
  const kept = (limitTokens: number): number =>
    messages.length -
    findCut(BESIDE_SUMMARY, messages, { targetTokens: 40_000, limitTokens }).index;
  // Three quarters of it, since results that follow may be shortened.
  assert.deepEqual([kept(80_000), kept(40_000)], [15, 24]);
});

/** What stays next to a summary of so many requests and their answers, 100 messages in all. */
function keptAfter(turns: number): number {
  const all = Array.from({ length: 100 }, (_, i) => ({
    message: i < turns ? user('x') : assistant('y'),
    tokens: 100,
    startsUnit: true,
  }));
  return besideSummary(BESIDE_SUMMARY, all, { targetTokens: 4_000, limitTokens: 4_000 });
}

test('if little was asked, what the agent saw last has a larger share next to a summary', () => {
  assert.deepEqual([1, 2, 3].map(keptAfter), [1_520, 1_520, 800]);
});
