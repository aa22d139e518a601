import type { Usage } from '@bobbin/core';
import { errorText, headOf, type JsonObject } from '@bobbin/core/internal';
import type { ModelMessage, SystemModelMessage, ToolSet } from 'ai';
import type { ModelSource } from './model-source.ts';

/** One request to a model. */
export interface ModelCall {
  readonly source: ModelSource;
  readonly system?: string | SystemModelMessage;
  readonly messages: ModelMessage[];
  /** Sent because the prompt that is extended has them; never run. */
  readonly tools?: ToolSet;
  /** If given, the provider holds the model to it. */
  readonly schema?: JsonObject;
  /** The instructions for the provider's own compaction of the messages, in place of an answer to them. */
  readonly compaction?: string;
  readonly maxOutputTokens: number;
  /** The model's own if absent: some take no other. */
  readonly temperature?: number;
  readonly signal: AbortSignal;
}

export type CallOutcome =
  | { readonly kind: 'answer'; readonly text: string; readonly usage: Usage }
  /** There is no usable answer: it was cut off, refused, or is not text. */
  | { readonly kind: 'no-answer'; readonly reason: string; readonly usage: Usage }
  /** The request is larger than the model's window. */
  | { readonly kind: 'overflow'; readonly reason: string }
  | { readonly kind: 'failure'; readonly reason: string; readonly retryAfterMs: number | undefined }
  /** Asking again would fail again. */
  | { readonly kind: 'permanent-failure'; readonly reason: string };

/** What an answer is worth, by how it ended. */
export function judged(text: string, finishReason: string, usage: Usage): CallOutcome {
  switch (finishReason) {
    case 'length':
      return { kind: 'no-answer', reason: 'the answer was cut off at its output limit', usage };
    case 'content-filter':
      return { kind: 'no-answer', reason: 'the model refused to answer', usage };
    case 'tool-calls':
      return { kind: 'no-answer', reason: 'the model called a tool instead of answering', usage };
    case 'error':
      return { kind: 'no-answer', reason: 'the provider broke the answer off', usage };
    default:
      return text.trim() === ''
        ? { kind: 'no-answer', reason: 'the answer is blank', usage }
        : { kind: 'answer', text, usage };
  }
}

const LONGEST_REASON = 300;

export function messageOf(error: unknown): string {
  const message = errorText(error);
  return message.length <= LONGEST_REASON ? message : `${headOf(message, LONGEST_REASON)}…`;
}
