import type { MessageId } from '../message/message.ts';
import { planWithPins } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import type { Store } from '../ports.ts';
import type { Node } from '../thread/thread.ts';
import { withNodes, withWholePath } from './path.ts';
import type { SessionState } from './state/state.ts';

/** A state and a plan that was made for it; the plan is not in force yet. */
type Proposed = readonly [SessionState, Plan];

/** The plan with one more unit pinned. */
export async function pinUnit(
  store: Store,
  state: SessionState,
  unit: readonly Node[],
): Promise<Proposed> {
  const [loaded, plan] = await loadedWithPins(store, state, state.plan, unit);
  return [loaded, plan.head === null ? forHead(loaded, plan) : plan];
}

export function unpinUnit({ plan }: SessionState, unit: readonly Node[]): Plan {
  const ids = new Set(unit.map(({ id }) => id));
  return { ...plan, pins: plan.pins.filter((pin) => !ids.has(pin)) };
}

/**
 * An earlier plan for the present head, with the present pins and no others. What was pinned then and still is stays as
 * the plan showed it, shortened if it had to be.
 */
export async function withPins(
  store: Store,
  state: SessionState,
  before: Plan,
  pins: readonly MessageId[],
): Promise<Proposed> {
  const present = new Set(pins);
  const earlier = new Set(before.pins);
  const added = pins.filter((id) => !earlier.has(id));
  const [loaded, nodes] = await withNodes(store, state, added);
  const kept = before.pins.filter((id) => present.has(id));
  return loadedWithPins(store, loaded, { ...forHead(loaded, before), pins: kept }, nodes);
}

/** A plan as made for the present head, so that no other fork takes it for its own. */
function forHead({ thread }: SessionState, plan: Plan): Plan {
  return { ...plan, head: thread.head?.id ?? null, threadVersion: thread.length };
}

/** A record that loses messages has to know the turns of the others, so these must be in memory. */
async function loadedWithPins(
  store: Store,
  state: SessionState,
  plan: Plan,
  nodes: readonly Node[],
): Promise<Proposed> {
  const ids = new Set(nodes.map(({ id }) => id));
  const isCompacted = plan.records.some(({ span }) => span.ids.some((id) => ids.has(id)));
  const loaded = isCompacted ? await withWholePath(store, state) : state;
  const { thread } = loaded;
  return [loaded, planWithPins(plan, nodes, thread.length, (id) => thread.get(id)?.turn)];
}
