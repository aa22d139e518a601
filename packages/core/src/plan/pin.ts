import type { Node } from '../thread/thread.ts';
import type { Plan } from './plan.ts';
import { unwound, type TurnOf } from './precedence.ts';

/** A plan that keeps some messages whole: no record names them any more, and those before its start are carried. */
export function pinned(plan: Plan, nodes: readonly Node[], length: number, turnOf: TurnOf): Plan {
  const ids = new Set(nodes.map(({ id }) => id));
  const carried = plan.carried.filter(({ id }) => !ids.has(id));
  for (const { id, index } of nodes) if (index < plan.start) carried.push({ id, index });
  const shown = unwound(plan, ids, turnOf);
  const unchanged = sameShow(shown, plan) && carried.length === plan.carried.length;
  return {
    ...shown,
    pins: [...plan.pins.filter((id) => !ids.has(id)), ...ids],
    carried: carried.toSorted((a, b) => a.index - b.index),
    signedFrom: unchanged ? plan.signedFrom : length,
  };
}

/** True where two plans show the same of a thread. */
export function sameShow(a: Plan, b: Plan): boolean {
  return (
    a.start === b.start &&
    JSON.stringify([a.records, a.hides]) === JSON.stringify([b.records, b.hides])
  );
}
