import { geminiProblems } from '@bobbin/codecs';
import type { JsonObject } from '@bobbin/core/internal';
import type { Dialect, ProviderUsage } from './provider-server.ts';
import { objectsIn } from './rules.ts';

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

const FINISHES = { stop: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const;

/** Google's Gemini API: `generateContent` and its stream. */
export const geminiDialect: Dialect = {
  path: /^\/v1(?:beta)?\/models\/[^/:]+:(?:generateContent|streamGenerateContent)(?:\?|$)/,
  isStream: (url) => url.includes(':streamGenerateContent'),
  problem(body, headers) {
    if (headers['x-goog-api-key'] === undefined) return 'API key not valid.';
    return geminiProblems(objectsIn(body['contents']))[0];
  },
  answer: (text, finish, usage) => response([{ text }], FINISHES[finish], usage),
  call(tool, args, usage, _, index) {
    const functionCall = { id: `call_${index}`, name: tool, args };
    return response([{ functionCall, thoughtSignature: `c2ln${index}` }], 'STOP', usage);
  },
  error: (status, message) => ({
    error: { code: status, message, status: STATUSES[status] ?? 'INTERNAL' },
  }),
  stream: (answer) => `data: ${JSON.stringify(answer)}\n\n`,
  overflow: {
    status: 400,
    message:
      'The input token count (1050131) exceeds the maximum number of tokens allowed (1048576).',
  },
};

function response(
  parts: readonly JsonObject[],
  finishReason: string,
  usage: ProviderUsage,
): JsonObject {
  const promptTokenCount = usage.inputTokens + usage.cacheReadTokens;
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata: {
      promptTokenCount,
      candidatesTokenCount: usage.outputTokens,
      cachedContentTokenCount: usage.cacheReadTokens,
      totalTokenCount: promptTokenCount + usage.outputTokens,
    },
    modelVersion: 'scripted',
  };
}
