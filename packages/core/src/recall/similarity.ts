import { sorted } from '../check/list.ts';
import type { Scored } from './lexical-index.ts';

/** The vectors that point most in the direction of one (cosine), best first; those of another size do not compare. */
export function nearestVectors<Id>(
  vectors: Iterable<readonly [Id, ArrayLike<number>]>,
  wanted: ArrayLike<number>,
): readonly Scored<Id>[] {
  const scored: Scored<Id>[] = [];
  for (const [id, vector] of vectors)
    if (vector.length === wanted.length) scored.push({ id, score: cosine(vector, wanted) });
  return sorted(scored, (a, b) => b.score - a.score);
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let dot = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    const y = b[i] as number;
    dot += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  return lengthA === 0 || lengthB === 0 ? 0 : dot / Math.sqrt(lengthA * lengthB);
}
