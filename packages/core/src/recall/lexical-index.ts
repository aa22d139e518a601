/** BM25 with its usual constants (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;

export interface Scored<Id> {
  readonly id: Id;
  readonly score: number;
}

/** Words and the texts that hold them, ranked by BM25: for stores that have no index of their own. */
export class LexicalIndex<Id> {
  /** By word: each text that holds it, and how often. */
  readonly #held = new Map<string, [id: Id, count: number][]>();
  readonly #lengths = new Map<Id, number>();
  #total = 0;

  add(id: Id, words: readonly string[]): void {
    if (this.#lengths.has(id)) return;
    this.#lengths.set(id, words.length);
    this.#total += words.length;
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      const held = this.#held.get(word);
      if (held === undefined) this.#held.set(word, [[id, count]]);
      else held.push([id, count]);
    }
  }

  search(words: readonly string[]): readonly Scored<Id>[] {
    const found = words.flatMap((word) => {
      const held = this.#held.get(word);
      return held === undefined ? [] : [new Map(held)];
    });
    return rankTexts(found, this.#lengths, this.#total);
  }
}

/**
 * Texts by how well they match, best first. Each of the postings says how often one word stands in each text that
 * holds it; `lengths` are those of all texts in words, and `total` is their sum.
 */
export function rankTexts<Id>(
  postings: readonly ReadonlyMap<Id, number>[],
  lengths: ReadonlyMap<Id, number>,
  total: number,
): readonly Scored<Id>[] {
  const scores = new Map<Id, number>();
  const mean = total / Math.max(1, lengths.size);
  for (const counts of postings) {
    const rarity = Math.log(1 + (lengths.size - counts.size + 0.5) / (counts.size + 0.5));
    for (const [id, count] of counts) {
      const length = (lengths.get(id) ?? 0) / Math.max(1, mean);
      const weight = (count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
      scores.set(id, (scores.get(id) ?? 0) + rarity * weight);
    }
  }
  return [...scores].map(([id, score]) => ({ id, score })).toSorted((a, b) => b.score - a.score);
}
