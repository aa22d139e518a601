import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, anyOf, tokenCount, turnCount, when, type Trigger } from '@bobbin/core';
import {
  budget,
  chars4,
  firedBecause,
  messagesOnly,
  slidingWindow,
  step,
  type TriggerInput,
} from '@bobbin/core/internal';
import { assistant, user, WatchedThread, withMeta } from '@bobbin/testing';

const check: TriggerInput = {
  tokens: 0,
  contextTokens: 0,
  messages: 100,
  turns: 0,
  budget: budget({ windowTokens: 100_000 }),
};

/** The smallest value of a figure at which a trigger fires. */
function firesFrom(
  trigger: Trigger,
  figure: 'tokens' | 'contextTokens' | 'messages' | 'turns',
  at: TriggerInput = check,
): number {
  let low = 0;
  let high = 1_000_000;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (firedBecause(trigger, { ...at, [figure]: middle }) === undefined) low = middle + 1;
    else high = middle;
  }
  return low;
}

test('A5 the step layer fires at its threshold, and never at keep + 1 messages or fewer', () => {
  const { trigger } = step();
  assert.equal(firesFrom(trigger, 'tokens'), 93_600);
  assert.equal(firesFrom(trigger, 'messages', { ...check, tokens: 93_600 }), 12);
  assert.equal(
    firesFrom(step({ recentMessagesToKeep: 3 }).trigger, 'messages', { ...check, tokens: 93_600 }),
    5,
  );
});

test('B5 fires when the context leaves less than the reserve', () => {
  const trigger: Trigger = { kind: 'reserve', reserveTokens: 16_384 };
  const at = { ...check, budget: budget({ windowTokens: 200_000 }) };
  assert.equal(firesFrom(trigger, 'contextTokens', at), 200_000 - 16_384 + 1);
  assert.equal(
    firedBecause(trigger, { ...at, contextTokens: 190_000 }),
    'context 190000 > window - reserve (183616)',
  );
});

test('C13 the soft limit is a share of the window, overhead counted', () => {
  const at = { ...check, budget: budget({ windowTokens: 100_000, toolTokens: 10_000 }) };
  assert.equal(firesFrom({ kind: 'soft-limit' }, 'tokens'), 85_000 - 2_500 + 1);
  assert.equal(firesFrom({ kind: 'soft-limit' }, 'tokens', at), 85_000 - 12_500 + 1);
});

test('B5 a reserve of more than half the window is half of it', () => {
  const trigger: Trigger = { kind: 'reserve', reserveTokens: 32_000 };
  const from = (windowTokens: number): number =>
    firesFrom(trigger, 'contextTokens', { ...check, budget: budget({ windowTokens }) });
  assert.deepEqual([128_000, 64_000, 16_000].map(from), [96_001, 32_001, 8_001]);
});

test('D3 fires above a number of turns', () => {
  assert.equal(firesFrom(turnCount(20), 'turns'), 21);
});

test('D3 only real user messages of the root branch are turns', async () => {
  const fired: number[] = [];
  const trigger = when('count', ({ turns }) => {
    fired.push(turns);
    return false;
  });
  const watched = await WatchedThread.open({ preset: slidingWindow(10, trigger) });
  await watched.append(
    user('one'),
    assistant('a'),
    withMeta(user('a summary that a compactor made'), { synthetic: true }),
    withMeta(user('said to a helper'), { branch: 'helper' }),
    user('two'),
  );
  await watched.prompt();
  assert.deepEqual(fired, [2]);
});

test('D4 fires at a number of tokens, counted by the estimator that is given', async () => {
  assert.equal(firesFrom(tokenCount(4_000), 'tokens'), 4_000);
  const preset = slidingWindow(2, tokenCount(500));
  const talk = [
    user('x'.repeat(400)),
    assistant('y'.repeat(400)),
    user('z'.repeat(400)),
    assistant('w'.repeat(398)),
  ];
  const compacted = async (counter: ReturnType<typeof chars4>): Promise<boolean> => {
    const watched = await WatchedThread.open({ preset, counter, budget: messagesOnly(10_000) });
    await watched.append(...talk);
    return (await watched.prompt()).compacted;
  };
  assert.equal(await compacted(chars4()), false);
  const doubled = {
    ...chars4(),
    message: (m: Parameters<ReturnType<typeof chars4>['message']>[0]) => chars4().message(m) * 2,
  };
  assert.equal(await compacted(doubled), true);
});

test('D5 any of, all of, and any function', () => {
  const both = { ...check, tokens: 5_000, turns: 25 };
  const turnsOnly = { ...check, tokens: 10, turns: 25 };
  const neither = { ...check, tokens: 10, turns: 1 };
  const any = anyOf(turnCount(20), tokenCount(4_000));
  const all = allOf(turnCount(20), tokenCount(4_000));
  const reasons = (trigger: Trigger): readonly (string | undefined)[] =>
    [both, turnsOnly, neither].map((at) => firedBecause(trigger, at));
  assert.deepEqual(reasons(any), ['25 turns > 20', '25 turns > 20', undefined]);
  assert.deepEqual(reasons(all), ['25 turns > 20 and 5000 tokens >= 4000', undefined, undefined]);
  assert.deepEqual(reasons(when('odd turns', ({ turns }) => turns % 2 === 1)), [
    'odd turns',
    'odd turns',
    'odd turns',
  ]);
  assert.equal(firedBecause(anyOf(), both), undefined);
  assert.equal(firedBecause(allOf(), both), undefined, 'nothing asked for is nothing met');
});

test('E2 fires when system, tools and messages exceed nine tenths of the window', () => {
  const beside = { systemTokens: 1_000, toolTokens: 500 };
  const at = { ...check, budget: budget({ windowTokens: 10_000, ...beside }) };
  assert.equal(firesFrom({ kind: 'window-share', share: 0.9 }, 'tokens', at), 9_000 - 1_500 + 1);
});
