import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  memoryStore,
  tokenCount,
  turnCount,
  type Fitted,
  type Message,
  type ThreadId,
} from '@bobbin/core';
import { chars4, emptyPlan, slidingWindow } from '@bobbin/core/internal';
import { assistant, system, thread, user, WatchedThread } from '@bobbin/testing';
import { many, messagesOf, options, watchedStore } from './sample-session.ts';

test('D2 a lost race is a silent no-op that takes the winner over', async () => {
  const store = watchedStore();
  const slow = await WatchedThread.open({
    ...options,
    store,
    preset: slidingWindow(8, tokenCount(1)),
  });
  await slow.append(...many(1, 4));
  const fast = await createBobbin({
    ...options,
    store,
    preset: slidingWindow(4, tokenCount(1)),
  }).thread('watched');
  store.race = async () => {
    assert.equal((await fast.prompt()).compacted, true);
  };
  const { plan, version, prompt } = await slow.prompt();
  assert.equal(version, 1);
  assert.deepEqual(plan, fast.plan, 'the other plan holds');
  assert.equal(prompt.messages.length, 4);
});

test('C15 a plan is committed only if the expected version holds, and of two exactly one wins', async () => {
  const store = memoryStore();
  const key = { tenant: 'a', thread: 'x' as ThreadId };
  const talk = thread(user('one'));
  const head = talk.head?.id ?? null;
  const plan = { ...emptyPlan(key.thread), head, threadVersion: 1 };
  assert.equal(await store.commit(key, plan, 0, []), false, 'there is no such thread');
  await store.append(key, talk.path());
  assert.equal(await store.commit(key, plan, 1, []), false);
  const both = await Promise.all([store.commit(key, plan, 0, []), store.commit(key, plan, 0, [])]);
  assert.deepEqual(new Set(both), new Set([true, false]));
  assert.deepEqual(await store.plan(key, 1), { plan, version: 1 });
  assert.equal(await store.plan(key, 2), undefined);
  assert.equal(await store.plan({ ...key, tenant: 'b' }, 1), undefined, 'tenants never meet');
});

test('E12 a resumed thread holds what follows its latest summary, and the store holds the rest', async () => {
  const watched = await WatchedThread.open(options);
  await watched.append(system('terse'), ...many(1, 8));
  const before = await watched.prompt();
  await watched.reopen();
  const { handle } = watched;
  assert.equal(handle.length, 33);
  assert.equal(handle.at(1), undefined, 'replaced by the summary');
  assert.deepEqual(await watched.prompt(), { ...before, compacted: false, events: [] });
  assert.equal((await handle.promptAt(0)).messages.length, 33);
});

test('a thread is resumed with its pins and its place among other forks', async () => {
  const watched = await WatchedThread.open({ ...options, preset: slidingWindow(4, turnCount(2)) });
  const [first] = await watched.append(...many(1, 3));
  await watched.handle.pin(first ?? assert.fail());
  await watched.prompt();
  await watched.reopen();
  await watched.append(...many(4, 6));
  assert.equal(messagesOf((await watched.prompt()).prompt)[0], watched.thread.at(0)?.message);
});

test('calls of one thread are carried out one after another', async () => {
  const watched = await WatchedThread.open(options);
  const work = [
    watched.handle.append(...many(1, 3)),
    watched.handle.prompt(),
    watched.handle.append(...many(4, 6)),
    watched.handle.prompt(),
  ];
  const [, first, , second] = (await Promise.all(work)) as [
    unknown,
    Fitted<Message>,
    unknown,
    Fitted<Message>,
  ];
  assert.equal(first.prompt.messages.length, 12);
  assert.ok(second.version >= first.version);
  assert.equal(watched.handle.length, 24);
});

test('D2 a handle that loses a race on its own fork compacts again, and its prompt fits', async () => {
  const store = memoryStore();
  const bobbin = createBobbin({ store, window: 8_000, counter: chars4() });
  const first = await bobbin.thread('retryOnConflict');
  const [fork] = await first.append(user('go'), assistant('x'.repeat(4_000)));
  const second = await bobbin.thread('retryOnConflict', fork);
  await first.append(...Array.from({ length: 12 }, (_, i) => user(`a${i} ${'y'.repeat(4_000)}`)));
  await second.append(...Array.from({ length: 12 }, (_, i) => user(`b${i} ${'z'.repeat(4_000)}`)));
  const [a, b] = [await first.prompt(), await second.prompt()];
  for (const { fits, compacted, prompt, limitTokens } of [a, b]) {
    assert.deepEqual([fits, compacted], [true, true]);
    assert.ok(prompt.tokens <= limitTokens);
  }
});

test('C15 a pin that loses a race is made on the winner of it', async () => {
  const store = memoryStore();
  const bobbin = createBobbin({ store, window: 8_000, counter: chars4() });
  const first = await bobbin.thread('pinned');
  const [rule] = await first.append(
    user('never delete'),
    assistant('x'.repeat(30_000)),
    user('go on'),
  );
  const second = await bobbin.thread('pinned');
  await first.prompt();
  assert.ok(rule !== undefined);
  await second.pin(rule);
  assert.deepEqual(second.plan.pins, [rule]);
  assert.deepEqual((await store.plan(second.key, second.version))?.plan.pins, [rule]);
});
