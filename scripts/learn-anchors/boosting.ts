import { FEATURES } from '../../packages/core/src/extract/anchors/features.ts';
import type { Trees } from '../../packages/core/src/extract/anchors/rank.ts';
import type { Case } from './cases.ts';

export interface BoostOptions {
  readonly trees: number;
  readonly depth: number;
}

const RATE = 0.12;
const BINS = 48;
const L2 = 5;
const LEAST_WEIGHT = 2;
const LEAST_GAIN = 1e-4;
/** Each tree sees half of the features, so that no few of them decide everything. */
const SEEN_OF_TEN = 5;
const ONE_NEGATIVE_IN = 4;
const WIDTH = FEATURES.length;

/** Rows to learn from: every needed anchor, and one in four of the others, which then counts four times. */
interface Sample {
  readonly bins: Uint8Array;
  readonly labels: Uint8Array;
  readonly weights: Float32Array;
  readonly edges: readonly (readonly number[])[];
}

/** Gradient boosting of perfect trees over binned features, logistic loss. The same cases give the same trees. */
export function boost(cases: readonly Case[], { trees, depth }: BoostOptions): Trees {
  const sample = sampleOf(cases);
  const count = sample.labels.length;
  const base = startOf(sample);
  const scores = new Float32Array(count).fill(base);
  const gradients = new Float32Array(count);
  const curvatures = new Float32Array(count);
  const [features, limits, leaves]: [number[], number[], number[]] = [[], [], []];
  for (let t = 0; t < trees; t++) {
    for (let i = 0; i < count; i++) {
      const p = 1 / (1 + Math.exp(-(scores[i] as number)));
      const weight = sample.weights[i] as number;
      gradients[i] = weight * ((sample.labels[i] as number) - p);
      curvatures[i] = weight * p * (1 - p);
    }
    const tree = grow(sample, gradients, curvatures, depth, t);
    for (let i = 0; i < count; i++)
      scores[i] = (scores[i] as number) + (tree.leaves[tree.nodes[i] as number] as number);
    features.push(...tree.features);
    limits.push(...tree.limits);
    leaves.push(...tree.leaves);
  }
  return {
    depth,
    base: Number(base.toFixed(4)),
    features: Uint8Array.from(features),
    limits: Float64Array.from(limits),
    leaves: Float64Array.from(leaves, (leaf) => Number(leaf.toFixed(4))),
  };
}

function sampleOf(cases: readonly Case[]): Sample {
  const chosen: (readonly [Case, number])[] = [];
  for (const [c, one] of cases.entries())
    for (let anchor = 0; anchor < one.needed.length; anchor++)
      if (one.needed[anchor] === 1 || (anchor * 7 + c) % ONE_NEGATIVE_IN === 0)
        chosen.push([one, anchor]);
  const edges = Array.from({ length: WIDTH }, (_, f) => edgesOf(chosen, f));
  const bins = new Uint8Array(chosen.length * WIDTH);
  const labels = new Uint8Array(chosen.length);
  const weights = new Float32Array(chosen.length);
  for (const [i, [one, anchor]] of chosen.entries()) {
    const needed = one.needed[anchor] as number;
    const fair = Math.min(2, 30 / one.neededCount);
    labels[i] = needed;
    weights[i] = needed === 1 ? fair : ONE_NEGATIVE_IN * fair;
    for (let f = 0; f < WIDTH; f++)
      bins[i * WIDTH + f] = binOf(
        edges[f] as readonly number[],
        one.rows[anchor * WIDTH + f] as number,
      );
  }
  return { bins, labels, weights, edges };
}

function edgesOf(chosen: readonly (readonly [Case, number])[], feature: number): readonly number[] {
  const values: number[] = [];
  const step = Math.max(1, Math.floor(chosen.length / 20_000));
  for (let i = 0; i < chosen.length; i += step) {
    const [one, anchor] = chosen[i] as readonly [Case, number];
    values.push(one.rows[anchor * WIDTH + feature] as number);
  }
  values.sort((a, b) => a - b);
  const edges: number[] = [];
  for (let b = 1; b < BINS; b++) {
    const value = Number((values[Math.floor((values.length * b) / BINS)] as number).toPrecision(5));
    if (edges.at(-1) !== value) edges.push(value);
  }
  return edges;
}

function binOf(edges: readonly number[], value: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= (edges[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function startOf({ labels, weights }: Sample): number {
  let [needed, all] = [0, 0];
  for (let i = 0; i < labels.length; i++) {
    all += weights[i] as number;
    if (labels[i] === 1) needed += weights[i] as number;
  }
  return Math.log(needed / (all - needed));
}

interface Tree {
  readonly features: readonly number[];
  readonly limits: readonly number[];
  readonly leaves: readonly number[];
  /** The leaf of each row. */
  readonly nodes: Uint16Array;
}

function grow(
  sample: Sample,
  gradients: Float32Array,
  curvatures: Float32Array,
  depth: number,
  tree: number,
): Tree {
  const { bins, edges, labels } = sample;
  const nodes = new Uint16Array(labels.length);
  const features: number[] = [];
  const limits: number[] = [];
  for (let level = 0; level < depth; level++) {
    const splits = splitsOf(sample, gradients, curvatures, nodes, { nodes: 1 << level, tree });
    for (const { feature, bin } of splits) {
      features.push(feature);
      limits.push(bin < 0 ? Number.POSITIVE_INFINITY : (edges[feature]?.[bin] as number));
    }
    for (let i = 0; i < nodes.length; i++) {
      const { feature, bin } = splits[nodes[i] as number] as Split;
      const right = bin >= 0 && (bins[i * WIDTH + feature] as number) > bin ? 1 : 0;
      nodes[i] = (nodes[i] as number) * 2 + right;
    }
  }
  const sums = Array.from({ length: 1 << depth }, () => [0, 0] as [number, number]);
  for (let i = 0; i < nodes.length; i++) {
    const sum = sums[nodes[i] as number] as [number, number];
    sum[0] += gradients[i] as number;
    sum[1] += curvatures[i] as number;
  }
  return { features, limits, leaves: sums.map(([g, h]) => (RATE * g) / (h + L2)), nodes };
}

interface Split {
  readonly feature: number;
  /** The last bin that goes left; below 0 all do. */
  readonly bin: number;
}

function splitsOf(
  { bins, edges }: Sample,
  gradients: Float32Array,
  curvatures: Float32Array,
  nodes: Uint16Array,
  level: { readonly nodes: number; readonly tree: number },
): readonly Split[] {
  const size = WIDTH * BINS;
  const g = new Float64Array(level.nodes * size);
  const h = new Float64Array(level.nodes * size);
  for (let i = 0; i < nodes.length; i++) {
    let cell = (nodes[i] as number) * size;
    const row = i * WIDTH;
    const gradient = gradients[i] as number;
    const curvature = curvatures[i] as number;
    for (let f = 0; f < WIDTH; f++, cell += BINS) {
      const at = cell + (bins[row + f] as number);
      g[at] = (g[at] as number) + gradient;
      h[at] = (h[at] as number) + curvature;
    }
  }
  return Array.from({ length: level.nodes }, (_, node) =>
    bestSplit(
      g.subarray(node * size, (node + 1) * size),
      h.subarray(node * size, (node + 1) * size),
      edges,
      level.tree,
    ),
  );
}

function bestSplit(g: Float64Array, h: Float64Array, edges: Sample['edges'], tree: number): Split {
  let [G, H] = [0, 0];
  for (let b = 0; b < BINS; b++) {
    G += g[b] as number;
    H += h[b] as number;
  }
  let best = LEAST_GAIN;
  let split: Split = { feature: 0, bin: -1 };
  for (let feature = 0; feature < WIDTH; feature++) {
    if (!isSeen(feature, tree)) continue;
    let [left, weight] = [0, 0];
    const count = edges[feature]?.length ?? 0;
    for (let bin = 0; bin < count; bin++) {
      left += g[feature * BINS + bin] as number;
      weight += h[feature * BINS + bin] as number;
      if (weight < LEAST_WEIGHT || H - weight < LEAST_WEIGHT) continue;
      const gained = gain(left, weight) + gain(G - left, H - weight) - gain(G, H);
      if (gained > best) [best, split] = [gained, { feature, bin }];
    }
  }
  return split;
}

function gain(gradient: number, curvature: number): number {
  return (gradient * gradient) / (curvature + L2);
}

function isSeen(feature: number, tree: number): boolean {
  return (
    (Math.imul(feature * 2654435761 + tree * 40503 + 12345, 2246822519) >>> 8) % 10 >= SEEN_OF_TEN
  );
}
