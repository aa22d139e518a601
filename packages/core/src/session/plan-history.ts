import { sameShow } from '../plan/actions.ts';
import { withoutReasoningFrom, currentSummary, emptyPlan, type Plan } from '../plan/plan.ts';
import type { Store } from '../ports.ts';
import { digestOf, type Digest } from '../recall/digest.ts';
import type { Prompt } from '../render/prompt.ts';
import { render } from '../render/builder.ts';
import { isOnPath, withPathFor } from './path.ts';
import { withPins } from './pinning.ts';
import type { SessionState } from './state/state.ts';

/** The plan of a version; version 0 shows everything. */
async function planAt(store: Store, state: SessionState, version: number): Promise<Plan> {
  if (version === state.version) return state.plan;
  return storedPlan(store, state, version);
}

async function storedPlan(
  store: Store,
  { key, config }: SessionState,
  version: number,
): Promise<Plan> {
  if (version === 0) return emptyPlan(key.thread, config.policy.style);
  const stored = await store.plan(key, version);
  if (stored === undefined)
    throw new RangeError(`thread ${key.thread} has no plan of version ${version}`);
  return stored.plan;
}

/** The newest plan that was made for at most so many messages. */
export async function planWithin(store: Store, state: SessionState, length: number): Promise<Plan> {
  let { plan } = state;
  for (let { version } = state; plan.threadVersion > length; version--)
    plan = await storedPlan(store, state, version);
  return plan;
}

/**
 * The plan that an undo restores, and the version that it undoes; undefined if there is nothing to undo. A change of
 * pins alone is not a compaction, and what was undone before is not restored.
 */
async function undonePlan(
  store: Store,
  state: SessionState,
): Promise<readonly [plan: Plan, undid: number] | undefined> {
  let after = state.plan;
  for (let { version } = state; version > 0; version--) {
    version = Math.min(version, after.undid ?? version);
    const before = await planAt(store, state, version - 1);
    if (!(await isOnPath(store, state, before))) continue;
    const isNoStep = after.undid === version || sameShow(before, after);
    if (!isNoStep && !sameShow(before, state.plan)) return [before, version];
    after = before;
  }
  return undefined;
}

/** The state and the plan after an undo, with the present pins; undefined if there is nothing to undo. */
export async function restoredPlan(
  store: Store,
  state: SessionState,
): Promise<readonly [SessionState, Plan] | undefined> {
  const undone = await undonePlan(store, state);
  if (undone === undefined) return undefined;
  const [before, undid] = undone;
  const loaded = await withPathFor(store, state, before);
  const [pinned, plan] = await withPins(store, loaded, before, state.plan.pins);
  return [pinned, { ...withoutReasoningFrom(plan, 0, pinned.thread.length), undid }];
}

/** The prompt as a version of the plan shows it. */
export async function promptAt(
  store: Store,
  state: SessionState,
  version: number,
  length: number | undefined,
): Promise<Prompt> {
  const plan = await planAt(store, state, version);
  const isPast = version > 0 && version !== state.version;
  const until = length ?? (isPast ? plan.threadVersion : state.thread.length);
  const { thread } = await withPathFor(store, state, plan, until);
  return render(thread.window(plan, until), plan, state.config);
}

/** The digest of the summary in force. */
export async function summaryDigest(
  store: Store,
  { key, thread, plan, config }: SessionState,
): Promise<Digest | undefined> {
  const record = currentSummary(plan);
  if (record === undefined || thread.head === undefined) return undefined;
  const path = await store.path(key, thread.head.id, record.at);
  const last = path.find(({ id }) => id === record.span.ids[record.span.ids.length - 1]);
  const until = record.summary.until ?? last?.index ?? -1;
  const carried = new Set(plan.carried.map(({ id }) => id));
  const replaced = path.filter(({ id, index }) => index <= until && !carried.has(id));
  return digestOf(plan, record, replaced, config.tools);
}
