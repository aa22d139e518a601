import type { Scored } from './lexical-index.ts';

/** The vectors that point most in the direction of one (cosine), best first. */
export function nearestVectors<Id>(
  vectors: Iterable<readonly [Id, ArrayLike<number>]>,
  wanted: ArrayLike<number>,
  most: number,
): readonly Scored<Id>[] {
  const scored: Scored<Id>[] = [];
  for (const [id, vector] of vectors) scored.push({ id, score: cosine(vector, wanted) });
  return scored.toSorted((a, b) => b.score - a.score).slice(0, most);
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length)
    throw new RangeError(`vectors of ${a.length} and ${b.length} dimensions cannot be compared`);
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
