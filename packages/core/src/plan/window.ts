import type { Node, Thread } from '../thread/thread.ts';
import type { Plan } from './plan.ts';

/** The messages a prompt is made of: earlier ones that are carried, and the path from the plan's start on. */
export interface Window {
  readonly carried: readonly Node[];
  readonly tail: readonly Node[];
}

/** What a plan shows of a thread, up to its head or up to an earlier length of its path. */
export function windowOf(thread: Thread, plan: Plan, length: number = thread.length): Window {
  const carried = plan.carried.flatMap(({ id }) => thread.get(id) ?? []);
  const tail = thread.path(plan.start);
  return {
    carried,
    tail: length === thread.length ? tail : tail.slice(0, Math.max(0, length - plan.start)),
  };
}
