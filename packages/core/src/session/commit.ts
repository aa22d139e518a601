import type { CompactionEvent } from '../events.ts';
import type { Plan } from '../plan/plan.ts';
import type { Store, StoredWindow } from '../ports.ts';
import { withPathFor } from './path.ts';
import type { Thread } from '../thread/thread.ts';
import { withoutReports, type SessionState, type UncommittedPlan } from './state/state.ts';

/** What became of a plan. */
export type Commit =
  | { readonly kind: 'committed'; readonly state: SessionState }
  /** Another writer committed first: its plan is in force. */
  | { readonly kind: 'lost'; readonly state: SessionState }
  /** The store failed. */
  | { readonly kind: 'failed'; readonly state: SessionState; readonly error: unknown };

/** Commits a plan, and before it those that the store did not take. */
export async function commitPlan(
  store: Store,
  before: SessionState,
  plan: Plan,
  events: readonly CompactionEvent[],
): Promise<Commit> {
  const first = await commitUncommitted(store, before);
  if (first.kind !== 'committed') return first;
  return tryCommit(store, first.state, { plan, events }, (state) => committed(state, plan));
}

/** Commits the plans that the store did not take, so that no compaction is missing in it. */
export async function commitUncommitted(store: Store, before: SessionState): Promise<Commit> {
  let done: Commit = { kind: 'committed', state: before };
  for (const pending of before.uncommitted) {
    done = await tryCommit(store, done.state, pending, withOldestCommitted);
    if (done.kind !== 'committed') break;
  }
  return done;
}

async function tryCommit(
  store: Store,
  state: SessionState,
  { plan, events }: UncommittedPlan,
  won: (state: SessionState) => SessionState,
): Promise<Commit> {
  try {
    if (await store.commit(state.key, plan, state.latest, events))
      return { kind: 'committed', state: won(state) };
    const winner = overtaken(state, await store.window(state.key, state.thread.head?.id));
    return { kind: 'lost', state: await withPathFor(store, winner, winner.plan) };
  } catch (error) {
    return { kind: 'failed', state, error };
  }
}

/** The state with the newest plan of the path, if another writer has committed one. */
export async function withNewestPlan(store: Store, state: SessionState): Promise<SessionState> {
  const { key, latest, version, thread } = state;
  if ((await store.plan(key, latest + 1)) === undefined) return state;
  const newer = overtaken(state, await store.window(key, thread.head?.id));
  const loaded = await withPathFor(store, newer, newer.plan);
  // What the other process sent is not known here.
  return newer.version === version
    ? loaded
    : { ...withoutReports(loaded), sent: { kind: 'resumed' } };
}

/** A plan is in force and committed as the next version. */
function committed(state: SessionState, plan: Plan): SessionState {
  const version = state.latest + 1;
  return { ...state, thread: released(state.thread, plan), plan, version, latest: version };
}

/** Messages that a plan does not show are in the store: from this many on, they leave the memory. */
const RELEASED_MESSAGES = 32;

function released(thread: Thread, plan: Plan): Thread {
  return plan.start - thread.base < RELEASED_MESSAGES
    ? thread
    : thread.released(plan.start, thread.window(plan).carried);
}

/** A plan is in force although the store did not take it. */
export function uncommitted(state: SessionState, pending: UncommittedPlan): SessionState {
  return { ...state, plan: pending.plan, uncommitted: [...state.uncommitted, pending] };
}

/** The oldest plan that the store had not taken is committed. */
function withOldestCommitted(state: SessionState): SessionState {
  const version = state.latest + 1;
  return { ...state, version, latest: version, uncommitted: state.uncommitted.slice(1) };
}

/** Another writer committed first: its plan is in force. */
function overtaken(state: SessionState, stored: StoredWindow | undefined): SessionState {
  return {
    ...state,
    plan: stored?.current?.plan ?? state.plan,
    version: stored?.current?.version ?? state.version,
    latest: stored?.version ?? state.latest,
    uncommitted: [],
  };
}
