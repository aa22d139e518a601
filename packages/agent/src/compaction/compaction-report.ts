import type { CompactionEvent, Fitted, Usage } from '@bobbin/core';
import { usageTokens } from '@bobbin/core/internal';
import type { CompactionEnd } from '../events.ts';
import { tokensText } from '../figures.ts';
import type { Result } from '../loop/machine.ts';
import { NO_USAGE } from '../model/usage.ts';

/** What a prompt or a compaction did, judged from the engine's events. */
export interface Verdict {
  readonly result: Result;
  /** Results that were shortened when first seen, which is not a compaction. */
  readonly shortened: number;
}

/** Only a compaction that asked a model for a summary in vain is useless: finding nothing to compact costs nothing. */
export function verdictOf(
  { events, compacted }: Fitted<unknown>,
  summarized: boolean,
  summaryFailed: boolean,
): Verdict {
  const shortened = events.filter(
    (event) => event.kind === 'externalized' && event.strategy === FIRST_SIGHT,
  ).length;
  if (compacted && rungsOf(events).length > 0)
    return { result: summaryFailed ? 'by-extract' : 'done', shortened };
  return { result: summarized && !compacted ? 'useless' : 'none', shortened };
}

const FIRST_SIGHT = 'first-sight';

function rungsOf(events: readonly CompactionEvent[]): readonly string[] {
  const rungs = events.flatMap((event) => (event.kind === 'completed' ? event.rungs : []));
  return [...new Set(rungs)].filter((rung) => rung !== FIRST_SIGHT);
}

/** True for the event of a compaction that counts as one. */
export function isCompaction(event: CompactionEvent): boolean {
  return event.kind === 'completed' && rungsOf([event]).length > 0;
}

/** The whole context before and after, and which compaction of the session it is. */
export interface CompactionSize {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly count: number;
}

/** What a compaction did and cost, for a person. `usage` is undefined if no model was asked. */
export function compactionEnd(
  { events, version }: Pick<Fitted<unknown>, 'events' | 'version'>,
  { tokensBefore, tokensAfter, count }: CompactionSize,
  usage: Usage | undefined,
): CompactionEnd {
  const summary = events.findLast((event) => event.kind === 'summarized')?.summaryContent;
  return {
    type: 'compaction-end',
    tokensBefore,
    tokensAfter,
    version,
    count,
    rungs: rungsOf(events),
    changes: changesOf(events),
    ...(summary === undefined ? {} : { summary }),
    usage: usage ?? NO_USAGE,
    warnings: events.flatMap((event) => (event.kind === 'warning' ? [event.message] : [])),
    notice: [
      `Compacted ${tokensText(tokensBefore)} → ${tokensText(tokensAfter)} tokens: ${tokensText(tokensBefore - tokensAfter)} freed`,
      costText(usage),
      count === 1
        ? ''
        : ` This is compaction ${count} of the session; many of them lower accuracy.`,
    ].join(''),
    events,
  };
}

function costText(usage: Usage | undefined): string {
  if (usage === undefined) return ', no model was asked.';
  const tokens = usageTokens(usage);
  return tokens === 0
    ? '; the model that was asked did not report what that cost.'
    : ` for ${tokensText(tokens)} tokens of summarizing.`;
}

/** What became what, a line each. */
function changesOf(events: readonly CompactionEvent[]): readonly string[] {
  const lines: string[] = [];
  for (const event of events) {
    if (event.kind === 'summarized')
      lines.push(
        `${counted(event.span.ids.length, 'message')} (turns ${event.span.firstTurn}–${event.span.lastTurn}) became a summary`,
      );
    else if (event.kind === 'hidden')
      lines.push(`${counted(event.messages, 'message')} past their time were hidden`);
  }
  for (const [kind, what] of [
    ['externalized', 'moved to artifacts'],
    ['cleared', 'cleared to their key fields'],
    ['dropped', 'left out; recall finds them'],
  ] as const) {
    const spans = events.flatMap((event) => (event.kind === kind ? [event.span] : []));
    const messages = spans.reduce((sum, span) => sum + span.ids.length, 0);
    if (messages > 0)
      lines.push(`${counted(messages, kind === 'dropped' ? 'message' : 'result')} ${what}`);
  }
  return lines;
}

function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
