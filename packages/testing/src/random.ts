/** Numbers that look random and are the same for the same seed, so that a failing case can be run again. */
export interface Random {
  readonly seed: number;
  /** At least 0, less than 1. */
  next(): number;
  /** A whole number between two others, both included. */
  int(least: number, most: number): number;
  /** True in a share of the cases. */
  chance(share: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** A permuted congruential generator: 32 bits of state, every seed another sequence. */
export function seededRandom(seed: number): Random {
  let state = (Math.imul(seed, 0x9e37_79b1) ^ 0x85eb_ca6b) >>> 0;
  const bits = (): number => {
    state = (Math.imul(state, 747_796_405) + 2_891_336_453) >>> 0;
    const word = Math.imul(((state >>> ((state >>> 28) + 4)) ^ state) >>> 0, 277_803_737) >>> 0;
    return ((word >>> 22) ^ word) >>> 0;
  };
  const next = (): number => bits() / 0x1_0000_0000;
  const int = (least: number, most: number): number =>
    least + Math.floor(next() * (most - least + 1));
  return {
    seed,
    next,
    int,
    chance: (share) => next() < share,
    pick: (items) => items[int(0, items.length - 1)] ?? items[0],
  };
}
