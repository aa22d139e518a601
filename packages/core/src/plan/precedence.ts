import { sorted } from '../check/list.ts';
import type { MessageId } from '../message/message.ts';
import type { Span } from '../thread/span.ts';
import type { Hide, Plan, PlanRecord } from './plan.ts';

const STRENGTH: Readonly<Record<PlanRecord['kind'], number>> = {
  drop: 4,
  externalize: 3,
  summarize: 2,
  clear: 1,
};

/** What happens to one message. A message without an action is included as it is. */
export type Action = PlanRecord | ({ readonly kind: 'hide' } & Hide);

export interface Normalized {
  /** Records whose spans no longer overlap. */
  readonly records: readonly PlanRecord[];
  readonly warnings: readonly string[];
}

/**
 * Gives every message one record: drop over externalize over summarize over clear. Overlaps are reported as warnings.
 */
export function normalize(
  records: readonly PlanRecord[],
  turnOf: TurnOf = unknownTurn,
): Normalized {
  const owner = new Map<MessageId, PlanRecord>();
  const warnings: string[] = [];
  for (const record of sorted([...records], (a, b) => STRENGTH[b.kind] - STRENGTH[a.kind])) {
    for (const id of record.span.ids) {
      const stronger = owner.get(id);
      if (stronger === undefined) owner.set(id, record);
      else
        warnings.push(
          `message ${id} is in ${record.kind} and ${stronger.kind}; ${stronger.kind} counts`,
        );
    }
  }
  if (warnings.length === 0) return { records, warnings };
  const kept = records.flatMap((record) => {
    const span = without(record.span, (id) => owner.get(id) !== record, turnOf);
    return span === undefined ? [] : [{ ...record, span }];
  });
  return { records: kept, warnings };
}

/** A plan that shows a message again: no record and no hide names it. */
export function withoutRecords(plan: Plan, ids: ReadonlySet<MessageId>, turnOf: TurnOf): Plan {
  const records = plan.records.flatMap((record) => {
    const span = without(record.span, (id) => ids.has(id), turnOf);
    return span === undefined
      ? []
      : [span.ids.length === record.span.ids.length ? record : { ...record, span }];
  });
  return { ...plan, records, hides: plan.hides.filter(({ id }) => !ids.has(id)) };
}

/** The turn of a message, if it is known. */
export type TurnOf = (id: MessageId) => number | undefined;
const unknownTurn: TurnOf = () => undefined;

function without(span: Span, lost: (id: MessageId) => boolean, turnOf: TurnOf): Span | undefined {
  const [first, ...rest] = span.ids.filter((id) => !lost(id));
  if (first === undefined) return undefined;
  const firstTurn = turnOf(first) ?? span.firstTurn;
  const lastTurn = turnOf(rest.at(-1) ?? first) ?? span.lastTurn;
  return { ids: [first, ...rest], firstTurn, lastTurn };
}

/** The action for each message that a plan names. */
export function actions(plan: Pick<Plan, 'records' | 'hides'>): ReadonlyMap<MessageId, Action> {
  const map = new Map<MessageId, Action>();
  for (const hide of plan.hides) map.set(hide.id, { kind: 'hide', ...hide });
  for (const record of normalize(plan.records).records)
    for (const id of record.span.ids) map.set(id, record);
  return map;
}
