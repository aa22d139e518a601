import type { CompactionEvent } from '@bobbin/core';

/** What one rung of the ladder did in all. */
export interface RungTotal {
  readonly strategy: string;
  readonly records: number;
  readonly messages: number;
  readonly freed: number;
}

/** What each rung freed, in the order in which they ran. */
export function freedByRung(events: readonly CompactionEvent[]): readonly RungTotal[] {
  const totals = new Map<string, RungTotal>();
  for (const event of events) {
    if (!isDone(event)) continue;
    const { strategy, freed, span } = event;
    const before = totals.get(strategy) ?? { strategy, records: 0, messages: 0, freed: 0 };
    totals.set(strategy, {
      strategy,
      records: before.records + 1,
      messages: before.messages + span.ids.length,
      freed: before.freed + freed,
    });
  }
  return [...totals.values()];
}

type Done = Extract<
  CompactionEvent,
  { kind: 'externalized' | 'summarized' | 'cleared' | 'dropped' }
>;

function isDone(event: CompactionEvent): event is Done {
  return ['externalized', 'summarized', 'cleared', 'dropped'].includes(event.kind);
}
