import type { Usage } from '@bobbin/core';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type ProviderReport,
} from '@bobbin/core/internal';

/** What a provider's own response says about the request that it answers. */
export interface ResponseUsage {
  /** What the provider held in its window for its last answer; absent if it only compacted. */
  readonly usage?: Usage;
  /** True if the provider compacted the conversation itself. */
  readonly compacted: boolean;
  /** Edits that the provider made to the request, such as tool results that it cleared. */
  readonly appliedEdits: readonly JsonObject[];
  /** Why the provider did not read from its cache, in its own word. */
  readonly cacheMiss?: string;
}

/**
 * Reads the usage of a response of Anthropic Messages, OpenAI Chat or Responses, Gemini or Bedrock, as their clients
 * give it. Undefined if it reports none.
 */
export function responseUsage(response: unknown): ResponseUsage | undefined {
  if (!isJsonObject(response)) return undefined;
  const { usage, usageMetadata } = response;
  if (isJsonObject(usageMetadata)) return { ...NOTHING, usage: geminiUsage(usageMetadata) };
  if (!isJsonObject(usage)) return undefined;
  if (usage['inputTokens'] !== undefined) return { ...NOTHING, usage: bedrockUsage(usage) };
  if (usage['prompt_tokens'] !== undefined) return { ...NOTHING, usage: openaiUsage(usage) };
  if (usage['input_tokens_details'] !== undefined)
    return { ...NOTHING, usage: openaiUsage(usage), compacted: hasCompaction(response['output']) };
  return anthropicUsage(response, usage);
}

/** What a response says about the provider's own edits and its cache. */
export function providerReports(response: unknown): readonly ProviderReport[] {
  const { appliedEdits = [], cacheMiss } = responseUsage(response) ?? {};
  const edits = appliedEdits.map(({ type, cleared_input_tokens: cleared }): ProviderReport => ({
    kind: 'provider-edited',
    edit: typeof type === 'string' ? type : 'unknown',
    freed: count(cleared),
  }));
  return cacheMiss === undefined ? edits : [...edits, { kind: 'cache-missed', reason: cacheMiss }];
}

const NOTHING: ResponseUsage = { compacted: false, appliedEdits: [] };

function anthropicUsage(response: JsonObject, usage: JsonObject): ResponseUsage {
  const { content, stop_reason: stopReason, context_management: managed } = response;
  const edits = isJsonObject(managed) ? objectsIn(managed['applied_edits']) : [];
  const miss = isJsonObject(response['diagnostics'])
    ? response['diagnostics']['cache_miss_reason']
    : undefined;
  const missType = isJsonObject(miss) ? miss['type'] : undefined;
  const last = contextUsage(usage);
  return {
    ...(last === undefined ? {} : { usage: last }),
    compacted: stopReason === 'compaction' || hasCompaction(content),
    appliedEdits: edits,
    ...(typeof missType === 'string' ? { cacheMiss: missType } : {}),
  };
}

/**
 * Anthropic's usage of the context. Its total sums up several samplings, and leaves out those that compacted: if they
 * are listed, the last message among them counts.
 */
export function contextUsage(usage: JsonObject): Usage | undefined {
  const iterations = objectsIn(usage['iterations']);
  const messages = iterations.filter(({ type }) => type === 'message');
  const own = iterations.length === 0 ? usage : messages[messages.length - 1];
  return (
    own && {
      inputTokens: count(own['input_tokens']),
      outputTokens: count(own['output_tokens']),
      cacheReadTokens: count(own['cache_read_input_tokens']),
      cacheWriteTokens: count(own['cache_creation_input_tokens']),
    }
  );
}

/** OpenAI counts what it cached as part of the input. */
function openaiUsage(usage: JsonObject): Usage {
  const details = usage['prompt_tokens_details'] ?? usage['input_tokens_details'];
  const cached = isJsonObject(details) ? count(details['cached_tokens']) : 0;
  const inputTokens = count(usage['prompt_tokens'] ?? usage['input_tokens']) - cached;
  const outputTokens = count(usage['completion_tokens'] ?? usage['output_tokens']);
  return { inputTokens, outputTokens, cacheReadTokens: cached, cacheWriteTokens: 0 };
}

/** Thoughts are counted in addition to the answer. */
function geminiUsage(usage: JsonObject): Usage {
  const cached = count(usage['cachedContentTokenCount']);
  return {
    inputTokens:
      count(usage['promptTokenCount']) + count(usage['toolUsePromptTokenCount']) - cached,
    outputTokens: count(usage['candidatesTokenCount']) + count(usage['thoughtsTokenCount']),
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  };
}

function bedrockUsage(usage: JsonObject): Usage {
  return {
    inputTokens: count(usage['inputTokens']),
    outputTokens: count(usage['outputTokens']),
    cacheReadTokens: count(usage['cacheReadInputTokens']),
    cacheWriteTokens: count(usage['cacheWriteInputTokens']),
  };
}

function hasCompaction(blocks: Json | undefined): boolean {
  return objectsIn(blocks).some(
    ({ type, content, encrypted_content: encrypted }) =>
      type === 'compaction' && typeof (content ?? encrypted) === 'string',
  );
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function count(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
