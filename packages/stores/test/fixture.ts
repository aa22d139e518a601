import assert from 'node:assert/strict';
import {
  textMessage,
  type CompactionEvent,
  type MessageId,
  type Store,
  type ThreadId,
} from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { everything } from '../src/conformance/everything.ts';
import { dropPlan, nodesOf, talk } from '../src/conformance/sample.ts';

/** What is in every fixture: a thread with two plans, a fork, events and vectors. */
const key: ThreadKey = { tenant: 'fixture', thread: 'kept for ever' as ThreadId };
const path = talk(6, 'rare');
const fork = nodesOf([textMessage('user', 'or else?')], path.slice(0, 4));

/** An event as the first versions wrote it: it did not name its thread. */
function warning(message: string): CompactionEvent {
  const event = {
    kind: 'warning',
    message,
    time: 1,
    tokensBefore: 2,
    tokensAfter: 3,
    limitTokens: 4,
  };
  return event as unknown as CompactionEvent;
}

export async function fill(store: Store): Promise<void> {
  await store.append(key, path.slice(0, 4));
  await store.append(key, fork);
  await store.append(key, path);
  await store.commit(key, dropPlan(key, path, 4), 0, [warning('first')]);
  await store.commit(key, dropPlan(key, path, 8, path.slice(0, 1)), 1, [warning('second')]);
  await store.record(key, [warning('alone')]);
  await store.keepVectors(key, 'e', [{ id: path[1]?.id as MessageId, vector: [1, 0] }]);
}

/** Compares all that a store says of the fixture with what was written into it. */
export async function assertFilled(store: Store, model: Store): Promise<void> {
  await fill(model);
  const heads = [path.at(-1)?.id, fork.at(-1)?.id] as MessageId[];
  assert.deepEqual(await everything(store, key, heads), await everything(model, key, heads));
}
