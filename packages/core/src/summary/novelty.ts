import { contentWords } from '../message/words.ts';

/** Exact strings count more than words: nobody can guess them. */
const EXACT = /\d|_|\p{Ll}\p{Lu}/u;
const EXACT_WEIGHT = 1.5;

/** The words that a reader has seen, to find what a further line adds to them. */
export class SeenWords {
  readonly #words: Set<string>;

  constructor(text: string = '') {
    this.#words = new Set(contentWords(text));
  }

  add(text: string): void {
    for (const word of contentWords(text)) this.#words.add(word);
  }

  /** The share of a text's words that are new, 0 to 1. */
  freshShare(text: string): number {
    const words = new Set(contentWords(text));
    if (words.size === 0) return 0;
    let fresh = 0;
    for (const word of words) if (!this.#words.has(word)) fresh += 1;
    return fresh / words.size;
  }

  /** How much new there is in a text: its new words, exact strings more than others. */
  freshWeight(text: string): number {
    let weight = 0;
    for (const word of new Set(contentWords(text)))
      if (!this.#words.has(word)) weight += EXACT.test(word) ? EXACT_WEIGHT : 1;
    return weight;
  }
}
