import { sorted } from '../check/list.ts';
import { jsonText } from '../message/json.ts';
import { isOpaque, type MessageId } from '../message/message.ts';
import type { Node } from '../thread/thread.ts';
import { withoutReasoningFrom, type Plan } from './plan.ts';
import { withoutRecords, type TurnOf } from './precedence.ts';

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
