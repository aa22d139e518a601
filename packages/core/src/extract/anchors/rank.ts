import { KIND } from './anchor.ts';
import type { AnchorStatistics } from './statistics.ts';
import { LEARNT } from './weights.ts';

/** What the need of an anchor is judged by. */
export const FEATURES = [
  /** How often the agent named it of late: half of the weight is lost in about 33 messages. Log of the sum. */
  'namedByAgent',
  /** How often any speaker named it, lost in about 8 messages. Log of the sum. */
  'namedByAnyone',
  /** How few other anchors were in the text that named the fewest. Log of the number. */
  'fewestBeside',
  /** The share of the turns in which it was named. */
  'shareOfTurns',
  'isHash',
  'isNumber',
] as const;

/** Calls back with the features of every anchor, one after the other, in an array that is written over. */
export function eachFeatures(
  statistics: AnchorStatistics,
  visit: (id: number, features: Float64Array) => void,
): void {
  const turns = Math.max(1, statistics.turns);
  const features = new Float64Array(FEATURES.length);
  for (const [id, row] of statistics.rows.entries()) {
    const kind = statistics.anchors[id]?.kind;
    const [own, any] = statistics.faded(row);
    features[0] = Math.log2(1 + own);
    features[1] = Math.log2(1 + any);
    features[2] = row.fewestBeside;
    features[3] = Math.min(1, row.turns / turns);
    features[4] = kind === KIND.hash ? 1 : 0;
    features[5] = kind === KIND.number || kind === KIND.code ? 1 : 0;
    visit(id, features);
  }
}

export interface Weights {
  readonly bias: number;
  readonly weights: readonly number[];
}

/** How likely each anchor is to be named again from memory, 0 to 1: a logistic formula. */
export function needs(
  statistics: AnchorStatistics,
  { bias, weights }: Weights = LEARNT,
): Float64Array {
  const need = new Float64Array(statistics.anchors.length);
  eachFeatures(statistics, (id, features) => {
    let sum = bias;
    for (let k = 0; k < features.length; k++)
      sum += (features[k] as number) * (weights[k] as number);
    need[id] = 1 / (1 + Math.exp(-sum));
  });
  return need;
}
