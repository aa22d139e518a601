import { sorted } from '../check/list.ts';
import { isOpaque, type MessageId } from '../message/message.ts';
import type { Node, Span } from '../thread/thread.ts';
import { type Hide, type Plan, type PlanRecord, withoutReasoningFrom } from './plan.ts';
import { jsonText } from '../message/json.ts';

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

/** A plan that keeps some messages whole: no record names them any more, and those before its start are carried. */
export function planWithPins(
  plan: Plan,
  nodes: readonly Node[],
  threadLength: number,
  turnOf: TurnOf,
): Plan {
  const ids = new Set(nodes.map(({ id }) => id));
  const carried = plan.carried.filter(({ id }) => !ids.has(id));
  for (const { id, index } of nodes) if (index < plan.start) carried.push({ id, index });
  const shown = withoutRecords(plan, ids, turnOf);
  const unchanged = sameShow(shown, plan) && carried.length === plan.carried.length;
  const pins = [...plan.pins.filter((id) => !ids.has(id)), ...ids];
  const kept = { ...shown, pins, carried: sorted(carried, (a, b) => a.index - b.index) };
  return unchanged ? kept : withoutReasoningFrom(kept, 0, threadLength);
}

/** True if a plan shows the same of a thread as an earlier one, except for what was pinned since. */
export function sameShow(before: Plan, after: Plan): boolean {
  const pins = new Set(after.pins.filter((id) => !before.pins.includes(id)));
  return showOf(withoutRecords(before, pins, () => undefined)) === showOf(after);
}

/** The turns of a span follow from its messages. */
function showOf({ start, records, hides }: Plan): string {
  return jsonText([start, records.map((record) => ({ ...record, span: record.span.ids })), hides]);
}

/** True for what no compaction may change in any case. */
export function isPinned(
  { id, message }: Pick<Node, 'id' | 'message'>,
  pins: ReadonlySet<MessageId>,
): boolean {
  return (
    pins.has(id) || message.role === 'system' || message.meta?.pinned === true || isOpaque(message)
  );
}
