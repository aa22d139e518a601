import type { Usage } from '@bobbin/core';
import { isContextLimit } from '@bobbin/core/internal';
import { callAnthropic, callLangchain, callOpenAI } from './client-call.ts';
import { judged, messageOf, type CallOutcome, type ModelCall } from './model-call.ts';
import type { LanguageModel, LanguageModelUsage } from 'ai';

const DEFAULT_TEMPERATURE = 0.3;

/** Asks once. Nothing that a provider does makes it reject. */
export async function callModel(call: ModelCall): Promise<CallOutcome> {
  const { source } = call;
  switch (source.kind) {
    case 'ai-sdk':
      return callAiSdk(call, source.model as LanguageModel);
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

async function failureOf(error: unknown): Promise<CallOutcome> {
  const { APICallError } = await import('ai');
  const reason = messageOf(error);
  if (!APICallError.isInstance(error)) return { kind: 'permanent-failure', reason };
  const { statusCode, responseHeaders } = error;
  const shown = statusCode === undefined ? reason : `HTTP ${statusCode}: ${reason}`;
  if (isContextLimit(error)) return { kind: 'overflow', reason: shown };
  if (!error.isRetryable) return { kind: 'permanent-failure', reason: shown };
  return { kind: 'failure', reason: shown, retryAfterMs: retryAfterMs(responseHeaders) };
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
