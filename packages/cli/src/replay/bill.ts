import type { Counter, Message } from '@bobbin/core';
import { contentHash } from '@bobbin/core/internal';

/** Prices as multiples of the price of fresh input. */
export interface Prices {
  readonly read: number;
  readonly write: number;
}

/**
 * What a row of requests costs if a provider caches prefixes: the beginning that a prompt shares with the one before is
 * read from the cache, all else is written to it.
 */
export class Bill {
  readonly #prices: Prices;
  readonly #counter: Counter;
  #last: readonly string[] = [];
  #read = 0;
  #written = 0;
  #rewritten = 0;
  #rewrites = 0;
  readonly #sizes: number[] = [];

  constructor(prices: Prices, counter: Counter) {
    this.#prices = prices;
    this.#counter = counter;
  }

  /** Takes the next prompt. */
  add(prompt: readonly Message[]): void {
    const hashes = prompt.map(contentHash);
    let same = 0;
    while (same < this.#last.length && hashes[same] === this.#last[same]) same++;
    const before = new Set(same < this.#last.length ? this.#last.slice(same) : []);
    let size = 0;
    for (const [i, message] of prompt.entries()) {
      const tokens = this.#counter.message(message);
      size += tokens;
      if (i < same) this.#read += tokens;
      else this.#written += tokens;
      if (before.has(hashes[i] as string)) this.#rewritten += tokens;
    }
    if (before.size > 0) this.#rewrites += 1;
    this.#sizes.push(size);
    this.#last = hashes;
  }

  /** In tokens of fresh input. */
  get total(): number {
    return this.#read * this.#prices.read + this.#written * this.#prices.write;
  }

  /** Tokens that were written again although they had not changed: what precedes them had. */
  get rewrittenTokens(): number {
    return this.#rewritten;
  }

  /** How many prompts did not begin as the one before. */
  get rewrites(): number {
    return this.#rewrites;
  }

  /** The tokens of each prompt. */
  get sizes(): readonly number[] {
    return this.#sizes;
  }
}

/** Where requests were made: the length of the conversation before each answer of the model, and at its end. */
export function requestsIn(messages: readonly Message[]): readonly number[] {
  const answers = messages.flatMap(({ role }, i) =>
    i > 0 && role === 'assistant' && messages[i - 1]?.role !== 'assistant' ? [i] : [],
  );
  return [...answers, messages.length];
}
