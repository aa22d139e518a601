import type { MessageId, Usage } from '../message/message.ts';
import type { Superseded } from '../extract/facts/supersede.ts';

/** What a summary lacked and was given. */
export interface Addition {
  readonly kind: 'task' | 'fact' | 'decision' | 'item' | 'artifact' | 'outcome' | 'file' | 'note';
  readonly text: string;
}

/** Something in a model's summary that verification changed. */
export interface Correction {
  readonly kind:
    /** A number or a name was replaced by the one in the messages. */
    | 'corrected'
    /** A name or a number that no message contains was marked, or a message that says otherwise was cited. */
    | 'marked'
    /** The messages contradict it. */
    | 'removed'
    /** A tool gave an order, and the summary presented it as a wish of the user or a step. */
    | 'planted'
    /** Another one said it than the summary says. */
    | 'attributed';
  readonly claim: string;
  /** What it became, if it is not gone. */
  readonly text?: string;
  readonly because: string;
  /** The message that says so. */
  readonly id?: MessageId;
}

/** What happened while a summary was made, and what it cost. */
export type SummaryReport =
  /** A model was asked, with what it was paid. */
  | {
      readonly kind: 'called';
      readonly model: string;
      readonly usage: Usage;
      readonly attempts: number;
      readonly durationMs: number;
    }
  /** The summarizer gave nothing that may be stored: a fallback is used, or the messages stay. */
  | { readonly kind: 'failed'; readonly summarizer: string; readonly reason: string }
  | { readonly kind: 'retried'; readonly reason: string; readonly waitMs: number }
  /** The history did not fit the summarizer's own window: the oldest messages were left out of its call. */
  | { readonly kind: 'left-out'; readonly messages: number }
  /** The beginning of the split turn was not summarised: the extract describes it. */
  | { readonly kind: 'split-turn-failed'; readonly reason: string }
  /** The cache, or an equal request that was under way, had the summary. */
  | { readonly kind: 'cached'; readonly key: string }
  /** What was missing: how much, and the first of it. */
  | { readonly kind: 'added'; readonly count: number; readonly first: readonly Addition[] }
  | { readonly kind: 'corrected'; readonly corrections: readonly Correction[] }
  | { readonly kind: 'superseded'; readonly facts: readonly Superseded[] };
