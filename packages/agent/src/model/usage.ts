import type { Usage } from '@bobbin/core';
import type { LanguageModelUsage } from 'ai';

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** What the AI SDK reports, as the engine counts it: input is what was neither read from a cache nor written to one. */
export function usageOf(reported: LanguageModelUsage): Usage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, noCacheTokens } = reported.inputTokenDetails;
  const total = reported.inputTokens ?? 0;
  return {
    inputTokens: noCacheTokens ?? Math.max(0, total - cacheReadTokens - cacheWriteTokens),
    outputTokens: reported.outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

/** What Anthropic reports when an answer begins: the cost of an interrupted answer. Others report only at the end. */
export function earlyUsage(chunk: unknown): Usage | undefined {
  const { type, message } = (chunk ?? {}) as { type?: unknown; message?: { usage?: unknown } };
  const usage = type === 'message_start' ? message?.usage : undefined;
  if (typeof usage !== 'object' || usage === null) return undefined;
  const tokens = (name: string): number => {
    const value = (usage as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'number' ? value : 0;
  };
  return {
    inputTokens: tokens('input_tokens'),
    outputTokens: tokens('output_tokens'),
    cacheReadTokens: tokens('cache_read_input_tokens'),
    cacheWriteTokens: tokens('cache_creation_input_tokens'),
  };
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  };
}

/** The share of the input that came from the provider's cache. */
export function cacheShare({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  const input = inputTokens + cacheReadTokens + cacheWriteTokens;
  return input === 0 ? 0 : cacheReadTokens / input;
}
