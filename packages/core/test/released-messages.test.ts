import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  memoryStore,
  type Message,
  type MessageId,
  type Store,
  type ThreadId,
} from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';
import { assistant, round, user, WatchedThread } from '@bobbin/testing';

const TURNS = 120;
const OPTIONS = { counter: chars4(), window: 8_000, preset: 'pi' } as const;

const turn = (i: number): readonly Message[] => [
  user(`Look at part ${i}.`),
  ...round('read', { path: `/src/part-${i}.ts` }, `part ${i} `.repeat(60)),
  assistant(`Part ${i} is fine.`),
];

/** A store that counts how many messages it was asked for by path. */
function counting(store: Store): { readonly store: Store; loaded: () => number } {
  let loaded = 0;
  const path: Store['path'] = async (...args) => {
    const nodes = await store.path(...args);
    loaded += nodes.length;
    return nodes;
  };
  return { store: { ...store, path }, loaded: () => loaded };
}

test('a live session keeps only what its prompt shows in memory; everything stays in the store', async () => {
  const watched = await WatchedThread.open(OPTIONS);
  for (let i = 0; i < TURNS; i++) {
    await watched.append(...turn(i));
    await watched.prompt();
  }
  assert.equal(watched.handle.length, TURNS * 4);
  assert.ok(watched.handle.messages.length < TURNS, `${watched.handle.messages.length} in memory`);
  assert.equal((await watched.handle.promptAt(0)).messages.length, TURNS * 4);
});

test('undo and an earlier prompt in a fresh process load what that plan shows, not the whole path', async () => {
  const { store, loaded } = counting(memoryStore());
  const first = await createBobbin({ ...OPTIONS, store }).thread('long');
  for (let i = 0; i < TURNS; i++) {
    await first.append(...turn(i));
    await first.prompt();
  }
  const before = await first.promptAt(first.version - 1);
  const again = await createBobbin({ ...OPTIONS, store }).thread('long');
  const asked = loaded();
  assert.deepEqual(await again.promptAt(again.version - 1), before);
  assert.equal(await again.undo(), true);
  const { prompt } = await again.prompt();
  assert.ok(loaded() - asked < TURNS, `${loaded() - asked} messages loaded`);
  assert.equal(prompt.messages.at(-1)?.message.role, 'assistant');
});

test('a host that sends a released message in another form is recognised', async () => {
  const store = memoryStore();
  const bobbin = createBobbin({ ...OPTIONS, store });
  const history: Message[] = [];
  const threads = new Set<ThreadId>();
  for (let i = 0; i < TURNS; i++) {
    history.push(...turn(i));
    const early = history[3] as Message;
    history[3] = { ...early, meta: { model: `form ${i}` } };
    const { plan } = await bobbin.fit(history);
    threads.add(plan.thread);
  }
  assert.equal(threads.size, 1);
  const [thread] = [...threads] as [ThreadId];
  const [head, ...others] = await store.heads({ tenant: 'default', thread });
  assert.deepEqual(others, [], 'no other form of the list became a fork');
  const path = await store.path({ tenant: 'default', thread }, head as MessageId);
  assert.equal(path.length, history.length);
});
