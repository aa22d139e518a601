/** BM25 with its usual constants (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;

export interface Scored<Id> {
  readonly id: Id;
  readonly score: number;
}

/** Words and the texts that hold them, ranked by BM25: for stores that have no index of their own. */
export class LexicalIndex<Id> {
  readonly #counts = new Map<string, Map<Id, number>>();
  readonly #lengths = new Map<Id, number>();
  #total = 0;

  add(id: Id, words: readonly string[]): void {
    if (this.#lengths.has(id)) return;
    this.#lengths.set(id, words.length);
    this.#total += words.length;
    for (const word of words) {
      const counts = this.#counts.get(word);
      if (counts === undefined) this.#counts.set(word, new Map([[id, 1]]));
      else counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }

  search(words: readonly string[]): readonly Scored<Id>[] {
    const postings = words.flatMap((word) => this.#counts.get(word) ?? []);
    return rankTexts(postings, this.#lengths, this.#total);
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
