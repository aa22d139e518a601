import type { Weights } from '../../packages/core/src/extract/anchors/rank.ts';

/** Rows of features, one after the other, with what each was and how much it counts. */
export interface Sample {
  readonly rows: Float64Array;
  readonly labels: Uint8Array;
  readonly counts: Float64Array;
}

const STEPS = 12;
/** Keeps weights of features that say little near to nothing. */
const RIDGE = 1e-6;

/** Logistic regression by Newton's method. The same sample gives the same weights. */
export function fit({ rows, labels, counts }: Sample, features: number): Weights {
  const size = features + 1;
  const weights = new Float64Array(size);
  for (let step = 0; step < STEPS; step++) {
    const gradient = new Float64Array(size);
    const curvature = Array.from({ length: size }, () => new Float64Array(size));
    for (let i = 0; i < labels.length; i++) {
      const value = (k: number): number =>
        k === features ? 1 : (rows[i * features + k] as number);
      let sum = 0;
      for (let k = 0; k < size; k++) sum += value(k) * (weights[k] as number);
      const chance = 1 / (1 + Math.exp(-sum));
      const count = counts[i] as number;
      const slope = count * (chance - (labels[i] as number));
      const bend = count * chance * (1 - chance);
      for (let k = 0; k < size; k++) {
        gradient[k] = (gradient[k] as number) + slope * value(k);
        const row = curvature[k] as Float64Array;
        for (let j = 0; j < size; j++) row[j] = (row[j] as number) + bend * value(k) * value(j);
      }
    }
    for (let k = 0; k < size; k++) {
      const row = curvature[k] as Float64Array;
      row[k] = (row[k] as number) + RIDGE * labels.length;
    }
    const move = solved(curvature, gradient);
    for (let k = 0; k < size; k++) weights[k] = (weights[k] as number) - (move[k] as number);
  }
  const rounded = Array.from(weights, (weight) => Number(weight.toFixed(3)));
  return { bias: rounded[features] as number, weights: rounded.slice(0, features) };
}

/** The solution of a few linear equations, by elimination. */
function solved(equations: readonly Float64Array[], right: Float64Array): Float64Array {
  const size = right.length;
  const rows = equations.map((row, k) => Float64Array.from([...row, right[k] as number]));
  for (let k = 0; k < size; k++) {
    const pivot = rows[k] as Float64Array;
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = (row[k] as number) / (pivot[k] as number);
      for (let j = k; j <= size; j++) row[j] = (row[j] as number) - factor * (pivot[j] as number);
    }
  }
  return Float64Array.from(rows, (row, k) => (row[size] as number) / (row[k] as number));
}
