import { type MessageId } from '../message/message.ts';
import type { Plan } from '../plan/plan.ts';
import type { Store } from '../ports.ts';
import { Thread, type Node } from '../thread/thread.ts';
import { unitAround } from '../thread/units.ts';
import type { SessionState } from './state/state.ts';

/** Brings the whole path into memory. */
export async function withWholePath(store: Store, state: SessionState): Promise<SessionState> {
  const { head, base } = state.thread;
  if (head === undefined || base === 0) return state;
  const path = await store.path(state.key, head.id);
  return { ...state, thread: Thread.resume(state.key.thread, [], path) };
}

/** Brings everything that a plan shows into memory. */
export async function withPathFor(
  store: Store,
  state: SessionState,
  plan: Plan,
): Promise<SessionState> {
  const { thread } = state;
  const isMissing =
    plan.start < thread.base || plan.carried.some(({ id }) => thread.get(id) === undefined);
  return isMissing ? withWholePath(store, state) : state;
}

/** Brings some messages into memory; those that are not on the path are left out. */
export async function withNodes(
  store: Store,
  state: SessionState,
  ids: readonly MessageId[],
): Promise<readonly [SessionState, readonly Node[]]> {
  const isMissing = ids.some((id) => state.thread.get(id) === undefined);
  const loaded = isMissing ? await withWholePath(store, state) : state;
  return [loaded, ids.flatMap((id) => loaded.thread.get(id) ?? [])];
}

/** Brings a message into memory, with the calls or results that it cannot be shown without. */
export async function withUnitOf(
  store: Store,
  state: SessionState,
  id: MessageId,
): Promise<readonly [SessionState, readonly Node[]]> {
  const [found, [node]] = await withNodes(store, state, [id]);
  if (node === undefined) throw new RangeError(`thread ${state.key.thread} has no message ${id}`);
  const loaded = node.index < found.thread.base ? await withWholePath(store, found) : found;
  return [loaded, unitAround(loaded.thread.path(), node)];
}

/** True if a plan was made on this path, not on another fork. */
export async function isOnPath(
  store: Store,
  { key, thread }: SessionState,
  plan: Plan,
): Promise<boolean> {
  const { head } = thread;
  if (plan.head === null || head === undefined) return true;
  const index = plan.threadVersion - 1;
  const known = thread.at(index) ?? (await store.path(key, head.id, index))[0];
  return known?.id === plan.head;
}
