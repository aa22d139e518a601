import type { Plan } from './plan.ts';

/** True if nothing before a message has changed since it was written: a provider still takes its signed reasoning. */
export function holdsReasoning({ signedFrom, stillSigned = [] }: Plan, index: number): boolean {
  return index >= signedFrom || stillSigned.some(([from, to]) => index >= from && index < to);
}

/** The plan once the prompt has changed from an index of the path on: only reasoning before the change still holds. */
export function withoutReasoningFrom(plan: Plan, changedFrom: number, length: number): Plan {
  const { stillSigned: before = [], ...rest } = plan;
  const stillSigned = [...before, [plan.signedFrom, length] as const]
    .map(([from, to]) => [from, Math.min(to, changedFrom)] as const)
    .filter(([from, to]) => from < to);
  return {
    ...rest,
    signedFrom: length,
    ...(stillSigned.length === 0 ? {} : { stillSigned }),
  };
}
