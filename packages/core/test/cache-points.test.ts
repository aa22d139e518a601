import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnCount, type Message } from '@bobbin/core';
import {
  budget,
  chars4,
  messagesOnly,
  slidingWindow,
  type CacheLimits,
} from '@bobbin/core/internal';
import { assistant, round, user, WatchedThread } from '@bobbin/testing';

const NO_MINIMUM: CacheLimits = { markers: 3, minimumTokens: 0 };

/** Turns A to E, each a question, a round and an answer. */
function turn(name: string): readonly Message[] {
  return [user(name), ...round('read', { path: name }, `file ${name}`), assistant(`done ${name}`)];
}

async function points(
  messages: readonly Message[],
  cacheLimits: CacheLimits = NO_MINIMUM,
): Promise<readonly number[]> {
  const watched = await WatchedThread.open({
    cacheLimits,
    counter: chars4(),
    budget: messagesOnly(100_000),
  });
  await watched.append(...messages);
  return (await watched.prompt()).prompt.cachePoints;
}

test('E13 after the previous turn, after round N−4, and at the tail', async () => {
  const talk = ['A', 'B', 'C', 'D', 'E'].flatMap(turn);
  // Each turn has four messages and two rounds; the newest turn starts at 16, the fourth round from the end at 13.
  assert.deepEqual(await points(talk), [12, 15, 19]);
});

test('E13 fewer points where there are fewer turns or rounds', async () => {
  assert.deepEqual(await points([user('only')]), [0]);
  assert.deepEqual(await points(turn('A')), [3]);
  assert.deepEqual(await points([...turn('A'), user('next')]), [3, 4]);
  assert.deepEqual(await points([]), []);
});

test('E13 no more than the provider takes, the tail first, and none below its minimum', async () => {
  const talk = ['A', 'B', 'C', 'D', 'E'].flatMap(turn);
  assert.deepEqual(await points(talk, { markers: 0, minimumTokens: 0 }), []);
  assert.deepEqual(await points(talk, { markers: 1, minimumTokens: 0 }), [19]);
  assert.deepEqual(await points(talk, { markers: 2, minimumTokens: 0 }), [15, 19]);
  const whole = chars4().request({ messages: talk });
  assert.deepEqual(await points(talk, { markers: 3, minimumTokens: whole }), [19]);
  assert.deepEqual(await points(talk, { markers: 3, minimumTokens: whole + 1 }), []);
});

test('E13 recomputed after a compaction', async () => {
  const watched = await WatchedThread.open({
    preset: slidingWindow(8, turnCount(4)),
    cacheLimits: NO_MINIMUM,
    counter: chars4(),
  });
  await watched.append(...['A', 'B', 'C', 'D', 'E'].flatMap(turn));
  const { prompt, compacted } = await watched.prompt();
  assert.equal(compacted, true);
  // Turns D and E are left: eight messages, four rounds, so that there is no round N−4.
  assert.equal(prompt.messages.length, 8);
  assert.deepEqual(prompt.cachePoints, [3, 7]);
});

test('E13 round N−4 is there from the fifth round on', async () => {
  const talk = ['A', 'B'].flatMap(turn);
  assert.deepEqual(await points([...talk, user('C')]), [7, 8], 'four rounds');
  assert.deepEqual(await points([...talk, user('C'), assistant('done C')]), [2, 7, 9], 'five');
});

async function pointsBehind(systemTokens: number, toolTokens: number): Promise<readonly number[]> {
  const watched = await WatchedThread.open({
    cacheLimits: { markers: 3, minimumTokens: 4_096 },
    counter: chars4(),
    budget: budget({ systemTokens, toolTokens }),
  });
  await watched.append(...turn('A'), user('next'));
  return (await watched.prompt()).prompt.cachePoints;
}

test('E13 tools and system prompt are in the prefix that has to reach the minimum', async () => {
  assert.deepEqual(await pointsBehind(0, 0), []);
  assert.deepEqual(await pointsBehind(3_096, 1_000), [3, 4]);
  assert.deepEqual(await pointsBehind(3_000, 1_000), [], 'not yet');
});
