import type { CompactionEvent, MessageId } from '@bobbin/core';

/** What one rung of the ladder did in all. */
export interface RungTotal {
  readonly strategy: string;
  readonly records: number;
  readonly messages: number;
  readonly freed: number;
}

/** What each rung freed, in the order in which they ran. What was shown whole again after all is not freed. */
export function freedByRung(events: readonly CompactionEvent[]): readonly RungTotal[] {
  const totals = new Map<string, RungTotal>();
  const cutBy = new Map<MessageId, string>();
  const add = (strategy: string, records: number, messages: number, freed: number): void => {
    const before = totals.get(strategy) ?? { strategy, records: 0, messages: 0, freed: 0 };
    totals.set(strategy, {
      strategy,
      records: before.records + records,
      messages: before.messages + messages,
      freed: before.freed + freed,
    });
  };
  for (const event of carriedOut(events)) {
    if (isDone(event)) {
      for (const id of event.span.ids) cutBy.set(id, event.strategy);
      add(event.strategy, 1, event.span.ids.length, event.freed);
    } else if (event.kind === 'restored') {
      const strategy = cutBy.get(event.span.ids[0]);
      if (strategy !== undefined) add(strategy, -1, -1, -event.tokens);
    }
  }
  return [...totals.values()].filter(({ records }) => records > 0);
}

type Done = Extract<
  CompactionEvent,
  { kind: 'externalized' | 'summarized' | 'cleared' | 'dropped' }
>;

function isDone(event: CompactionEvent): event is Done {
  return ['externalized', 'summarized', 'cleared', 'dropped'].includes(event.kind);
}

/** The events of compactions that came into force: one that gains nothing takes back what its rungs did. */
export function carriedOut(events: readonly CompactionEvent[]): readonly CompactionEvent[] {
  const kept: CompactionEvent[] = [];
  let run: CompactionEvent[] = [];
  for (const event of events) {
    run.push(event);
    if (event.kind !== 'completed') continue;
    if (event.freed !== 0 || event.rungs.length > 0) kept.push(...run);
    run = [];
  }
  return kept;
}
