import type { CompactionEvent, EventDetail } from '../events.ts';
import type { PlanRecord } from '../plan/plan.ts';
import { type Redact, redactSecrets } from '../summary/redact.ts';
import { type Budget, messageLimit } from '../tokens/budget.ts';
import type { CompactorConfig, Job } from './compaction.ts';
import type { Draft } from './draft.ts';
import { lastOf } from '../check/list.ts';
import { type MessageId, startsTurn } from '../message/message.ts';

/** The events of one compaction, in order. The host receives each as it happens. */
export class CompactionLog {
  readonly events: CompactionEvent[] = [];
  /** Who wrote the last summary: not the host's summarizer if the fallback was used. */
  summarizer = '';
  readonly #config: CompactorConfig;
  readonly #job: Job;
  readonly #draft: Draft;
  readonly #tokensBefore: number;

  constructor(config: CompactorConfig, job: Job, draft: Draft) {
    this.#config = config;
    this.#job = job;
    this.#draft = draft;
    this.#tokensBefore = draft.tokens;
  }

  emit(detail: EventDetail): void {
    const event: CompactionEvent = {
      thread: this.#job.key.thread,
      time: this.#config.clock.now(),
      tokensBefore: this.#tokensBefore,
      tokensAfter: this.#draft.tokens,
      limitTokens: messageLimit(this.#config.budget),
      ...withoutSecrets(detail, this.#config.redact),
    };
    this.events.push(event);
    this.#job.onEvent?.(event);
  }

  warn(message: string): void {
    this.emit({ kind: 'warning', message });
  }

  /** Reports what a rung did. */
  emitRecord(strategy: string, record: PlanRecord, freed: number): void {
    const { span } = record;
    switch (record.kind) {
      case 'externalize':
        return this.emit({ kind: 'externalized', strategy, span, freed });
      case 'clear':
        return this.emit({ kind: 'cleared', strategy, span, freed });
      case 'drop':
        return this.emit({ kind: 'dropped', strategy, span, freed });
      case 'summarize':
        return this.emit({
          kind: 'summarized',
          strategy,
          span,
          freed,
          round: record.summary.round,
          summarizer: this.summarizer,
          summaryContent: record.text,
        });
    }
  }
}

/** An event whose text may come from a provider's error, without the secrets that such a text may quote. */
export function withoutSecrets(detail: EventDetail, redact: Redact = redactSecrets): EventDetail {
  if (detail.kind === 'warning') return { ...detail, message: redact(detail.message) };
  if (detail.kind !== 'summary-report') return detail;
  const { report } = detail;
  if (!('reason' in report)) return detail;
  return { ...detail, report: { ...report, reason: redact(report.reason) } };
}

/** Which parts that are never compacted were shortened, in words for a person. */
export function shortenedPins(draft: Draft, pins: readonly MessageId[]): string {
  const { entries } = draft;
  const newest = lastOf(entries, ({ message }) => startsTurn(message));
  const shortened = entries.filter((entry) => entry.pinned && draft.action(entry) !== undefined);
  const names = shortened.map(({ message, unit, pending }) => {
    if (message.role === 'system') return 'system messages';
    if (unit === newest?.unit) return 'the newest user message';
    if (pending) return 'calls that wait for results';
    // What belongs to a pinned message stays with it.
    const isPinned = entries.some(
      ({ node, unit: of }) =>
        of === unit && (pins.includes(node.id) || node.message.meta?.pinned === true),
    );
    return isPinned ? 'pinned messages' : 'messages that could not be read';
  });
  return [...new Set(names)].join(' and ');
}

/** What leaves the messages so little space, by the names of the budget's parts. */
export function limitText(budget: Budget): string {
  const { windowTokens, softShare: _, ...reserves } = budget;
  const taken = Object.entries(reserves).flatMap(([name, tokens]) =>
    tokens > 0 ? [`${name} ${tokens}`] : [],
  );
  const less = taken.length === 0 ? '' : ` less ${taken.join(', ')}`;
  return `a window of ${windowTokens}${less} leaves ${messageLimit(budget)} for messages`;
}
