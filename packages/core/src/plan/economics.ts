/** Cache prices as multiples of the price of fresh input. Figures are data; a table by model is in `models.ts`. */
export interface CachePrices {
  /** Writing a token to the cache. */
  readonly write: number;
  /** Reading a token from the cache. */
  readonly read: number;
  /** How long an entry lives without being read. */
  readonly ttlMs: number;
}

export interface RewriteCase {
  readonly prices: CachePrices;
  /** Tokens of the prompt from the first changed byte on, as they are now. */
  readonly rewrittenTokens: number;
  /** How many of them the rewrite takes away. */
  readonly tokensFreed: number;
  /** How many requests are still to come. */
  readonly requestsToCome: number;
  /** True if the provider's cache has expired: there is nothing to lose. */
  readonly cold: boolean;
}

/** The share that a rewrite must free after its first changed byte to pay for the cache it throws away. */
export function breakEvenShare(prices: CachePrices, requestsToCome: number): number {
  if (requestsToCome <= 0) return 1;
  const { write, read } = prices;
  return Math.max(0, 1 - (read * requestsToCome) / (write + read * (requestsToCome - 1)));
}

/** Whether a rewrite costs less than going on with the old prompt. */
export function rewritePays(rewrite: RewriteCase): boolean {
  if (rewrite.tokensFreed <= 0) return false;
  if (rewrite.cold || rewrite.rewrittenTokens <= 0) return true;
  const share = rewrite.tokensFreed / rewrite.rewrittenTokens;
  return share > breakEvenShare(rewrite.prices, rewrite.requestsToCome);
}

/** After how many requests a rewrite has paid: it writes once what would have been read, and reads less from then on. */
export function paysAfter(
  { write, read }: CachePrices,
  rewrittenTokens: number,
  tokensFreed: number,
): number {
  const cost = rewrittenTokens * (write - read) - tokensFreed * read;
  return cost <= 0 ? 1 : 1 + Math.ceil(cost / (tokensFreed * read));
}
