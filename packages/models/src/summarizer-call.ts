import type { Usage } from '@bobbin/core';
import { headOf, isContextLimit, type JsonObject } from '@bobbin/core/internal';
import { callAnthropic, callLangchain, callOpenAI } from './client-call.ts';
import type { ModelSource } from './model-source.ts';
import type {
  LanguageModel,
  LanguageModelUsage,
  ModelMessage,
  SystemModelMessage,
  ToolSet,
} from 'ai';

/** One request to a model. */
export interface ModelCall {
  readonly source: ModelSource;
  readonly system?: string | SystemModelMessage;
  readonly messages: ModelMessage[];
  /** Sent because the prompt that is extended has them; never run. */
  readonly tools?: ToolSet;
  /** Where given, the provider holds the model to it. */
  readonly schema?: JsonObject;
  /** The instructions for the provider's own compaction of the messages, in place of an answer to them. */
  readonly compaction?: string;
  readonly maxOutputTokens: number;
  /** The model's own where absent: some take no other. */
  readonly temperature?: number;
  readonly signal: AbortSignal;
}

export type CallOutcome =
  | { readonly kind: 'answer'; readonly text: string; readonly usage: Usage }
  /** The answer is none: cut off, refused, or something else than text. */
  | { readonly kind: 'no-answer'; readonly reason: string; readonly usage: Usage }
  /** The request is larger than the model's window. */
  | { readonly kind: 'overflow'; readonly reason: string }
  | { readonly kind: 'failure'; readonly reason: string; readonly retryAfterMs: number | undefined }
  /** Asking again would fail again. */
  | { readonly kind: 'permanent-failure'; readonly reason: string };

const DEFAULT_TEMPERATURE = 0.3;

/** Asks once. Nothing that a provider does makes it reject. */
export async function callModel(call: ModelCall): Promise<CallOutcome> {
  const { source } = call;
  switch (source.kind) {
    case 'ai-sdk':
      return callAiSdk(call, source.model);
    case 'openai':
      return callOpenAI(call, source);
    case 'anthropic':
      return callAnthropic(call, source);
    case 'langchain':
      return callLangchain(call, source);
  }
}

async function callAiSdk(call: ModelCall, model: LanguageModel): Promise<CallOutcome> {
  const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await import('ai');
  const { signal, schema, source: _, temperature = DEFAULT_TEMPERATURE, ...settings } = call;
  try {
    const result = await generateText({
      ...settings,
      model,
      temperature,
      abortSignal: signal,
      maxRetries: 0,
      ...(schema === undefined
        ? {}
        : { output: Output.object({ schema: jsonSchema(schema as object) }) }),
    });
    return judged(result.text, result.finishReason, usageOf(result.usage));
  } catch (error) {
    if (NoObjectGeneratedError.isInstance(error))
      return judged(error.text ?? '', error.finishReason ?? 'stop', usageOf(error.usage));
    if (signal.aborted) return { kind: 'permanent-failure', reason: messageOf(signal.reason) };
    return failureOf(error);
  }
}

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

async function failureOf(error: unknown): Promise<CallOutcome> {
  const { APICallError } = await import('ai');
  const reason = messageOf(error);
  if (!APICallError.isInstance(error)) return { kind: 'permanent-failure', reason };
  const { statusCode, responseHeaders } = error;
  const told = statusCode === undefined ? reason : `HTTP ${statusCode}: ${reason}`;
  if (isContextLimit(error)) return { kind: 'overflow', reason: told };
  if (!error.isRetryable) return { kind: 'permanent-failure', reason: told };
  return { kind: 'failure', reason: told, retryAfterMs: retryAfterMs(responseHeaders) };
}

function retryAfterMs(headers: Readonly<Record<string, string>> | undefined): number | undefined {
  const exact = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN);
  if (Number.isFinite(exact)) return exact;
  return Number.isFinite(seconds) ? seconds * 1_000 : undefined;
}

function usageOf(usage: LanguageModelUsage | undefined): Usage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0 } = usage?.inputTokenDetails ?? {};
  const inputTokens = usage?.inputTokens ?? 0;
  return {
    inputTokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    outputTokens: usage?.outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

const LONGEST_REASON = 300;

export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.length <= LONGEST_REASON ? message : `${headOf(message, LONGEST_REASON)}…`;
}
