import { contentWords } from '../message/text.ts';
import { plain } from '../extract/facts/supersede.ts';

/** Two texts with this share of the shorter one's words in common say the same. */
const SAME = 0.6;

/** Texts that are there already, found by their words: a text in other words is the same text. */
export class KnownTexts {
  readonly #texts = new Set<string>();
  readonly #sizes: number[] = [];
  readonly #byWord = new Map<string, number[]>();

  constructor(texts: Iterable<{ readonly text: string }> = []) {
    for (const { text } of texts) this.add(text);
  }

  add(text: string): void {
    const words = new Set(contentWords(text));
    const id = this.#sizes.push(words.size) - 1;
    this.#texts.add(plain(text));
    for (const word of words) {
      const ids = this.#byWord.get(word);
      if (ids === undefined) this.#byWord.set(word, [id]);
      else ids.push(id);
    }
  }

  /** True if a text says what one of these says, in nearly the same words. */
  has(text: string): boolean {
    if (this.#texts.has(plain(text))) return true;
    const words = new Set(contentWords(text));
    const shared = new Map<number, number>();
    for (const word of words)
      for (const id of this.#byWord.get(word) ?? []) {
        const count = (shared.get(id) ?? 0) + 1;
        if (count >= SAME * Math.min(words.size, this.#sizes[id] as number)) return true;
        shared.set(id, count);
      }
    return false;
  }
}
