import type { CompactionEvent, EventDetail } from '../events.ts';
import type { PlanRecord } from '../plan/plan.ts';
import { redactSecrets, type Redact } from '../summary/redact.ts';
import { messageLimit } from '../tokens/budget.ts';
import type { CompactorConfig, Job } from './compaction.ts';
import type { Draft } from './draft.ts';

/** The events of one compaction, in order. The host receives each as it happens. */
export class CompactionLog {
  readonly events: CompactionEvent[] = [];
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

  /** Reports what a rung did; `summarizer` wrote the summary if there is one. */
  emitRecord(strategy: string, record: PlanRecord, freed: number, summarizer: string): void {
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
          summarizer,
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
