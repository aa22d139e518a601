import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore, textMessage, type Store, type ThreadId } from '@bobbin/core';
import { messageId, type Node } from '@bobbin/core/internal';
import { pipelined } from '../src/fitting/pipelined-store.ts';

const KEY = { tenant: 't', thread: 'a' as ThreadId };

function nodes(...texts: readonly string[]): readonly Node[] {
  const made: Node[] = [];
  for (const [index, text] of texts.entries()) {
    const parent = made.at(-1)?.id ?? null;
    const message = textMessage('user', text);
    made.push({ id: messageId(parent, message), parent, index, turn: index, message });
  }
  return made;
}

/** A store that notes what it is asked for, in its order. */
function noting(): { readonly store: Store; readonly calls: string[] } {
  const inner = memoryStore();
  const calls: string[] = [];
  const store = Object.create(inner) as Store;
  store.append = async (key, appended) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    calls.push(`append ${appended.length}`);
    return inner.append(key, appended);
  };
  store.delete = async (...args) => {
    calls.push('delete');
    return inner.delete(...args);
  };
  store.close = async () => void calls.push('close');
  return { store, calls };
}

test('appends that come together are written as one, and a read sees them', async () => {
  const { store: inner, calls } = noting();
  const { store, pending } = pipelined(inner);
  const path = nodes('one', 'two', 'three');
  await store.append(KEY, path.slice(0, 2));
  await store.append(KEY, path.slice(2));
  const write = pending(KEY);
  assert.equal(write?.isDurable, false);
  assert.deepEqual(await store.path(KEY, path[2]?.id as Node['id']), path);
  assert.deepEqual([calls, write.isDurable, pending(KEY)], [['append 3'], true, undefined]);
});

test('an erasure and the end wait for what is still to be written', async () => {
  const { store: inner, calls } = noting();
  const { store } = pipelined(inner);
  const path = nodes('one', 'two');
  await store.append(KEY, path.slice(0, 1));
  const erased = store.delete({ tenant: 't' });
  await erased;
  assert.deepEqual(await inner.threads('t', 10), []);
  await store.append(KEY, path);
  await store.close();
  assert.deepEqual(calls, ['append 1', 'delete', 'append 2', 'close']);
});

test('what follows a write that fails fails too', async () => {
  const { store: inner } = noting();
  let fails = 1;
  const append = inner.append.bind(inner);
  inner.append = (...args) =>
    fails-- > 0 ? Promise.reject(new Error('the disk is full')) : append(...args);
  const { store, pending } = pipelined(inner);
  const path = nodes('one', 'two');
  await store.append(KEY, path.slice(0, 1));
  const first = pending(KEY);
  void first?.demand();
  await store.append(KEY, path.slice(1));
  const second = pending(KEY);
  assert.notEqual(second, first);
  for (const write of [first, second])
    await assert.rejects(write?.durable ?? Promise.resolve(), { message: 'the disk is full' });
  await store.append(KEY, path);
  assert.deepEqual(await store.path(KEY, path[1]?.id as Node['id']), path);
});
