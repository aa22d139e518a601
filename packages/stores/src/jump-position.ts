/**
 * Where a message at a position can jump to: the position as a sum of the fewest numbers of the form 2ⁿ − 1, without
 * the least of them. A search that jumps if that is not too far, and otherwise goes to the parent, reaches any ancestor
 * in a number of steps that grows with the logarithm of the distance (Myers, "An applicative random-access stack",
 * 1983).
 */
export function jumpPosition(position: number): number {
  let weight = 1;
  while (weight < position) weight = 2 * weight + 1;
  for (let rest = position; rest > 0; rest -= weight) while (weight > rest) weight >>= 1;
  return Math.max(0, position - weight);
}
