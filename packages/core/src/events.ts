import type { SummaryReport } from './verify/report.ts';
import type { ArtifactId, ThreadId } from './message/message.ts';
import type { Span } from './thread/thread.ts';

/** What happens around a compaction, reported as it happens. */
export type CompactionEvent = EventBase & EventDetail;

interface EventBase {
  readonly thread: ThreadId;
  readonly time: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly limitTokens: number;
}

export type EventDetail =
  | { readonly kind: 'check-started'; readonly reason: string }
  | {
      readonly kind: 'proposal-generated';
      readonly strategy: string;
      readonly span: Span;
      readonly freed: number;
      readonly reason: string;
    }
  | {
      readonly kind: 'externalized' | 'cleared' | 'dropped';
      readonly strategy: string;
      readonly span: Span;
      readonly freed: number;
    }
  /** There was space left: a result that was cut is shown whole again. */
  | { readonly kind: 'restored'; readonly span: Span; readonly tokens: number }
  | {
      readonly kind: 'summarized';
      readonly strategy: string;
      readonly span: Span;
      readonly freed: number;
      readonly round: number;
      readonly summarizer: string;
      readonly summaryContent: string;
    }
  /** What happened while a summary was made, and what it cost. */
  | { readonly kind: 'summary-report'; readonly report: SummaryReport }
  /** The provider compacted the conversation itself: what precedes its compaction is no longer sent. */
  | { readonly kind: 'provider-compacted'; readonly messages: number; readonly freed: number }
  | ProviderReport
  | { readonly kind: 'hidden'; readonly messages: number; readonly freed: number }
  | { readonly kind: 'retrieved'; readonly query: string; readonly found: number }
  | {
      readonly kind: 'rehydrated';
      readonly artifactId: ArtifactId;
      readonly tokens: number;
      readonly turn: number;
    }
  | {
      readonly kind: 'rehydration-blocked';
      readonly artifactId: ArtifactId;
      readonly reason: string;
    }
  /** A host's verdict on the task, for the metrics of quality. */
  | { readonly kind: 'task-finished'; readonly completed: boolean }
  /** Something failed and the ladder went on without it. */
  | { readonly kind: 'warning'; readonly message: string }
  /** A provider refused a prompt as too long, with what it said of the sizes. */
  | { readonly kind: 'refused'; readonly requestTokens?: number; readonly limitTokens?: number }
  /** Soft pressure, but a rewrite would cost more than it saves. */
  | { readonly kind: 'postponed'; readonly reason: string }
  | {
      readonly kind: 'completed';
      readonly freed: number;
      readonly rungs: readonly string[];
      /** What the provider writes to its cache again because of it. */
      readonly rewrittenTokens: number;
      /** After how many requests what it frees has paid for that; absent if the policy knows no prices. */
      readonly paysAfterRequests?: number;
    };

/** What a provider says about a request that it has answered. */
export type ProviderReport =
  /** It left out part of the prompt itself, such as old tool results; `edit` is its own word for that. */
  | { readonly kind: 'provider-edited'; readonly edit: string; readonly freed: number }
  /** Its cache could not be read up to where the last prompt ended; `reason` is its own word. */
  | { readonly kind: 'cache-missed'; readonly reason: string };
