import type { PathKeeper } from './path-keeper.ts';
import { pinned } from '../plan/pins.ts';
import type { Plan } from '../plan/plan.ts';
import type { MessageId } from '../message/message.ts';
import type { Node } from '../thread/thread.ts';

/** A plan with one more unit pinned. */
export async function withUnit(plan: Plan, unit: readonly Node[], path: PathKeeper): Promise<Plan> {
  const kept = await pinning(plan, unit, path);
  return kept.head === null ? onHead(kept, path) : kept;
}

export function withoutUnit(plan: Plan, unit: readonly Node[]): Plan {
  const ids = new Set(unit.map(({ id }) => id));
  return { ...plan, pins: plan.pins.filter((pin) => !ids.has(pin)) };
}

/** An earlier plan for the present head: what is pinned now stays pinned, and nothing else is. */
export async function withPins(
  before: Plan,
  pins: readonly MessageId[],
  path: PathKeeper,
): Promise<Plan> {
  return pinning({ ...onHead(before, path), pins: [] }, await path.nodes(pins), path);
}

/** A plan as made for the present head, so that no other fork takes it for its own. */
function onHead(plan: Plan, { thread }: PathKeeper): Plan {
  return { ...plan, head: thread.head?.id ?? null, threadVersion: thread.length };
}

/** A record that loses some of its messages is told anew which turns the others are of: these have to be at hand. */
async function pinning(plan: Plan, nodes: readonly Node[], path: PathKeeper): Promise<Plan> {
  const ids = new Set(nodes.map(({ id }) => id));
  if (plan.records.some(({ span }) => span.ids.some((id) => ids.has(id)))) await path.loadAll();
  const { thread } = path;
  return pinned(plan, nodes, thread.length, (id) => thread.get(id)?.turn);
}
