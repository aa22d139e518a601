import type { Usage } from '@bobbin/core';
import { modelFacts, type ModelTable } from '@bobbin/core/internal';
import type { LedgerEntry } from '@bobbin/stores';

/** What a request's input cost, in tokens of fresh input. */
export interface Cost {
  readonly paidTokens: number;
  /** What the client's full history would have cost, had nothing ever been compacted. */
  readonly fullTokens: number;
}

export interface CostCase {
  readonly model: string;
  readonly models: ModelTable;
  readonly usage: Usage;
  /** The request as the client sent it and as it went out, as counted. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly isChanged: boolean;
  readonly at: number;
  /** The request of the same thread before this one. */
  readonly previous: Pick<LedgerEntry, 'at' | 'tokensBefore' | 'usage'> | undefined;
}

interface Prices {
  readonly write: number;
  readonly read: number;
  readonly ttlMs: number;
}

/** What a request cost by the provider's own usage, and what it would have cost without the gateway, in whole tokens. */
export function costOf(request: CostCase): Cost {
  const { usage, isChanged } = request;
  const prices = pricesOf(request.model, request.models);
  const paidTokens = Math.round(inputCost(usage, prices));
  const fullTokens = isChanged ? Math.round(fullCost(request, prices)) : paidTokens;
  return { paidTokens, fullTokens };
}

/** What an answer's token costs beside one of fresh input: about this with every provider in November 2026. */
const OUTPUT_PRICE = 5;

/** What a call of a model cost with its answer, in tokens of fresh input. */
export function paidFor(usage: Usage, model: string, models: ModelTable): number {
  const input = inputCost(usage, pricesOf(model, models));
  return Math.round(input + usage.outputTokens * OUTPUT_PRICE);
}

function inputCost(usage: Usage, { write, read }: Prices): number {
  return usage.inputTokens + usage.cacheWriteTokens * write + usage.cacheReadTokens * read;
}

/** Without a compaction, all that was sent before would be read from the cache, as long as that is warm. */
function fullCost(request: CostCase, prices: Prices): number {
  const { usage, tokensBefore, tokensAfter, at, previous } = request;
  const inputTokens = usage.inputTokens + usage.cacheWriteTokens + usage.cacheReadTokens;
  const scale = tokensAfter > 0 ? inputTokens / tokensAfter : 1;
  const full = tokensBefore * scale;
  // A compaction empties the cache: the request before it shows whether there was one.
  if (!isCached(usage) && !isCached(previous?.usage)) return full;
  // What the provider read from its cache was there, however long ago it was written.
  const isWarm =
    previous !== undefined && (at - previous.at <= prices.ttlMs || usage.cacheReadTokens > 0);
  const known = isWarm ? Math.min(full, previous.tokensBefore * scale) : 0;
  return known * prices.read + (full - known) * prices.write;
}

function isCached(usage: Usage | undefined): boolean {
  return usage !== undefined && usage.cacheReadTokens + usage.cacheWriteTokens > 0;
}

/** Of a model that is not in the table: most providers with a cache have about these in November 2026. */
const USUAL_PRICES: Prices = { write: 1, read: 0.1, ttlMs: 300_000 };

function pricesOf(model: string, models: ModelTable): Prices {
  const { cache } = modelFacts(model, models);
  if (cache === undefined) return USUAL_PRICES;
  return { write: cache.writePrice, read: cache.readPrice, ttlMs: cache.ttlMs };
}
