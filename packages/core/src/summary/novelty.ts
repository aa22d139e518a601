import { Heap } from '../check/heap.ts';
import { contentWords } from '../message/text.ts';

/** Exact strings count more than words: they cannot be guessed. */
const EXACT = /\d|_|\p{Ll}\p{Lu}/u;
const EXACT_WEIGHT = 1.5;
/** How much a line gains by being short: 0 not at all, 1 in proportion. */
const BREVITY = 0.7;
const OVERHEAD_CHARS = 10;

/** The words that a reader has seen, to find what a further line adds to them. */
export class SeenWords {
  readonly #words: Set<string>;

  constructor(text: string = '') {
    this.#words = new Set(contentWords(text));
  }

  add(words: Iterable<string>): void {
    for (const word of words) this.#words.add(word);
  }

  /** The share of some words that are new, 0 to 1. */
  freshShare(words: readonly string[]): number {
    return words.length === 0 ? 0 : this.#fresh(words).length / words.length;
  }

  /** What a text with these words adds for its length: its new words, exact strings more than others. */
  freshValue(words: readonly string[], chars: number): number {
    let weight = 0;
    for (const word of this.#fresh(words)) weight += EXACT.test(word) ? EXACT_WEIGHT : 1;
    return weight / (chars + OVERHEAD_CHARS) ** BREVITY;
  }

  #fresh(words: readonly string[]): readonly string[] {
    return words.filter((word) => !this.#words.has(word));
  }
}

/** The words of a text, each once. */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(contentWords(text))];
}

/** A line that may be shown. */
export interface Candidate {
  readonly text: string;
  /** What a new word in it counts, compared with those of other lines. */
  readonly weight: number;
}

interface Queued<T> {
  readonly line: T;
  readonly words: readonly string[];
  value: number;
}

/**
 * The lines that add most for their length, each compared with those chosen before it, within a number of characters. A
 * line is left out if too small a share of it is new.
 */
export function chooseFresh<T extends Candidate>(
  lines: readonly T[],
  seen: SeenWords,
  chars: number,
  leastFresh: number,
): ReadonlySet<T> {
  const valueOf = ({ line, words }: Omit<Queued<T>, 'value'>): number =>
    seen.freshShare(words) < leastFresh
      ? 0
      : line.weight * seen.freshValue(words, line.text.length);
  const queue = new Heap<Queued<T>>();
  for (const line of lines) {
    const one = { line, words: wordsOf(line.text) };
    queue.push({ ...one, value: valueOf(one) });
  }
  const chosen = new Set<T>();
  let left = chars;
  for (let best = queue.pop(); best !== undefined; best = queue.pop()) {
    if (best.line.text.length + 1 > left) continue;
    const value = valueOf(best);
    if (value <= 0) continue;
    if (value < queue.top) {
      queue.push({ ...best, value });
      continue;
    }
    chosen.add(best.line);
    seen.add(best.words);
    left -= best.line.text.length + 1;
  }
  return chosen;
}
