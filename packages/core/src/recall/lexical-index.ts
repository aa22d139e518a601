import { sorted } from '../check/list.ts';
/** BM25 with its usual constants (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;

export interface Scored<Id> {
  readonly id: Id;
  readonly score: number;
}

/** The texts that have a word: how often, and how many words each of them has. */
export type Posting<Id> = readonly (readonly [id: Id, count: number, length: number])[];

/** How many texts there are, and how many words they have together. */
export interface TextSizes {
  readonly texts: number;
  readonly words: number;
}

/** Words and the texts that hold them, ranked by BM25: for stores that have no index. */
export class LexicalIndex<Id> {
  readonly #postings = new Map<string, (readonly [id: Id, count: number, length: number])[]>();
  readonly #known = new Set<Id>();
  #words = 0;

  get sizes(): TextSizes {
    return { texts: this.#known.size, words: this.#words };
  }

  add(id: Id, words: readonly string[]): void {
    if (this.#known.has(id)) return;
    this.#known.add(id);
    this.#words += words.length;
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      const posting = this.#postings.get(word);
      if (posting === undefined) this.#postings.set(word, [[id, count, words.length]]);
      else posting.push([id, count, words.length]);
    }
  }

  posting(word: string): Posting<Id> {
    return this.#postings.get(word) ?? [];
  }

  search(words: readonly string[]): readonly Scored<Id>[] {
    const postings = words.map((word) => this.posting(word));
    const rare = tellingWords(
      postings.map(({ length }) => length),
      this.sizes.texts,
    );
    return rankTexts(
      rare.map((i) => postings[i] ?? []),
      this.sizes,
    );
  }
}

/** Below so many texts every word is looked up: it costs nothing. */
const MANY_TEXTS = 1_000;
/** A word that more than this share of the texts have says little. */
const COMMON_SHARE = 0.25;

/**
 * Which of some words to search many texts for, given how many texts have each: a common word changes little in an
 * order that rarer ones give, and costs the most. If all are common, all are searched for.
 */
export function tellingWords(held: readonly number[], texts: number): readonly number[] {
  const all = held.map((_, i) => i).filter((i) => held[i] !== 0);
  const rare = all.filter((i) => (held[i] ?? 0) <= COMMON_SHARE * texts);
  return texts < MANY_TEXTS || rare.length === 0 ? all : rare;
}

/** Texts by how well they match, best first: one posting for each word that is searched for. */
export function rankTexts<Id>(
  postings: readonly Posting<Id>[],
  sizes: TextSizes,
): readonly Scored<Id>[] {
  const scores = new Map<Id, number>();
  const mean = Math.max(1, sizes.words / Math.max(1, sizes.texts));
  for (const posting of postings) {
    const rarity = Math.log(1 + (sizes.texts - posting.length + 0.5) / (posting.length + 0.5));
    for (const [id, count, length] of posting) {
      const weight = (count * (K1 + 1)) / (count + K1 * (1 - B + B * (length / mean)));
      scores.set(id, (scores.get(id) ?? 0) + rarity * weight);
    }
  }
  return sorted(
    [...scores].map(([id, score]) => ({ id, score })),
    (a, b) => b.score - a.score,
  );
}
