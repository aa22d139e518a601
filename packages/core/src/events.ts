import type { SummaryReport } from './verify/report.ts';
import type { ArtifactId, ThreadId } from './message/message.ts';
import type { Span } from './thread/thread.ts';

/**
 * Something that happened during a compaction or a request, such as `completed` or `warning`. `onEvent` gets each event
 * at once. docs/compactor.md explains every kind.
 */
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
  /** There was space left, so a result that had been shortened is shown whole again. */
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
  /** What happened while a summary was made, or what it cost. */
  | { readonly kind: 'summary-report'; readonly report: SummaryReport }
  /** The provider compacted the conversation itself. Messages before its compaction are no longer sent. */
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
  /** The host reported whether its task is done. `quality()` uses it. */
  | { readonly kind: 'task-finished'; readonly completed: boolean }
  /** Something failed, and the compaction continued without it. */
  | { readonly kind: 'warning'; readonly message: string }
  /** A provider refused a prompt as too long. The sizes are those that it named. */
  | { readonly kind: 'refused'; readonly requestTokens?: number; readonly limitTokens?: number }
  /** A trigger fired, but a compaction would cost more than it saves. */
  | { readonly kind: 'postponed'; readonly reason: string }
  | {
      readonly kind: 'completed';
      readonly freed: number;
      readonly rungs: readonly string[];
      /** How many tokens the provider writes to its cache again because of the compaction. */
      readonly rewrittenTokens: number;
      /**
       * After how many requests the freed tokens have saved as much as the rewrite cost. Absent if the policy has no
       * prices.
       */
      readonly paysAfterRequests?: number;
    };

/** What a provider reports about a request that it has answered. */
export type ProviderReport =
  /**
   * The provider left out part of the prompt itself, such as old tool results. `edit` is the provider's name for this
   * edit.
   */
  | { readonly kind: 'provider-edited'; readonly edit: string; readonly freed: number }
  /**
   * The provider could not read the whole last prompt from its cache. `reason` is the provider's name for the cause.
   */
  | { readonly kind: 'cache-missed'; readonly reason: string };
