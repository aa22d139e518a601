import { type MessageId } from '../message/message.ts';
import type { Plan } from '../plan/plan.ts';
import type { Store } from '../ports.ts';
import { type Node, Thread } from '../thread/thread.ts';
import { unitAround } from '../thread/units.ts';
import type { SessionState } from './state/state.ts';

/** Brings the whole path into memory. */
export async function withWholePath(store: Store, state: SessionState): Promise<SessionState> {
  const { head, base } = state.thread;
  if (head === undefined || base === 0) return state;
  const path = await store.path(state.key, head.id);
  return { ...state, thread: Thread.resume(state.key.thread, [], path) };
}

/** Brings everything that a plan shows of the first `length` messages into memory. */
export async function withPathFor(
  store: Store,
  state: SessionState,
  plan: Plan,
  length: number = state.thread.length,
): Promise<SessionState> {
  const { thread, key } = state;
  const { head } = thread;
  const missing = plan.carried.map(({ id }) => id).filter((id) => thread.get(id) === undefined);
  if (head === undefined || (plan.start >= thread.base && missing.length === 0)) return state;
  const carried = missing.length === 0 ? [] : await store.messages(key, missing);
  if (plan.start >= thread.base) return { ...state, thread: thread.carrying(carried) };
  const known = plan.carried.flatMap(({ id }) => thread.get(id) ?? []);
  const then = length === plan.threadVersion ? plan.head : null;
  const end = thread.idAt(length - 1) ?? then ?? head.id;
  const tail = await store.path(key, end, plan.start);
  return { ...state, thread: Thread.resume(key.thread, [...known, ...carried], tail) };
}

/** Brings some messages into memory; those that are not on the path are left out. */
export async function withNodes(
  store: Store,
  state: SessionState,
  ids: readonly MessageId[],
): Promise<readonly [SessionState, readonly Node[]]> {
  const { thread, key } = state;
  const missing = ids.filter((id) => thread.get(id) === undefined);
  if (missing.length === 0) return [state, ids.flatMap((id) => thread.get(id) ?? [])];
  const found = (await store.messages(key, missing)).filter((node) => mayBeOn(thread, node));
  const loaded = { ...state, thread: thread.carrying(found) };
  return [loaded, ids.flatMap((id) => loaded.thread.get(id) ?? [])];
}

/** False for a message that is known to be on another fork. */
function mayBeOn(thread: Thread, { id, index }: Node): boolean {
  return index < thread.length && (thread.idAt(index) ?? id) === id;
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
  if (!loaded.thread.onPath(node))
    throw new RangeError(`message ${id} is on another fork of thread ${state.key.thread}`);
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
