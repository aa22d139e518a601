import { eachRow } from './features.ts';
import type { AnchorStatistics } from './statistics.ts';
import { WEIGHTS } from './weights.ts';

/** Boosted trees: every tree is perfect, so that its nodes need no pointers. */
export interface Trees {
  readonly depth: number;
  readonly base: number;
  /** Of each inner node of each tree: the feature it looks at, and the most that goes left. */
  readonly features: Uint8Array;
  readonly limits: Float64Array;
  readonly leaves: Float64Array;
}

/** Reads the table that the learning script wrote: a line for each tree, `feature≤limit … | leaf …`. */
function readTrees(table: string): Trees {
  const [head = '', ...lines] = table.trim().split('\n');
  const [depth = 0, base = 0] = head.split(' ').map(Number);
  const trees = lines.map((line) => line.split('|').map((side) => side.trim().split(' ')));
  const nodes = trees.flatMap(([splits = []]) => splits.map((split) => split.split('<')));
  return {
    depth,
    base,
    features: Uint8Array.from(nodes, ([feature]) => Number(feature)),
    limits: Float64Array.from(nodes, ([, limit]) =>
      limit === '' ? Number.POSITIVE_INFINITY : Number(limit),
    ),
    leaves: Float64Array.from(trees.flatMap(([, leaves = []]) => leaves.map(Number))),
  };
}

/** The sum over all trees for one row. */
export function scoreOf(
  { depth, base, features, limits, leaves }: Trees,
  row: Float64Array,
): number {
  const inner = (1 << depth) - 1;
  let score = base;
  for (let from = 0, leaf = 0; from < limits.length; from += inner, leaf += inner + 1) {
    let node = 0;
    while (node < inner) {
      const at = from + node;
      const left = (row[features[at] as number] as number) <= (limits[at] as number);
      // A number in place of a branch: nothing foretells which way a row goes.
      node = 2 * node + 2 - Number(left);
    }
    score += leaves[leaf + node - inner] as number;
  }
  return score;
}

let shipped: Trees | undefined;

/** How likely each anchor of a survey is to be named again from memory: 0 to 1. */
export function needs(
  survey: AnchorStatistics,
  trees: Trees = (shipped ??= readTrees(WEIGHTS)),
): Float64Array {
  const need = new Float64Array(survey.anchors.length);
  eachRow(survey, (id, row) => {
    need[id] = 1 / (1 + Math.exp(-scoreOf(trees, row)));
  });
  return need;
}
