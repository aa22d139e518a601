// `npm run learn`: learns from recorded conversations how likely an anchor is to be named again from memory, prints how
// well the formula ranks conversations that it has not seen, and writes the weights that core uses.
//   npm run learn [-- --data FOLDER]
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FEATURES, type Weights } from '../../packages/core/src/extract/anchors/rank.ts';
import { casesOf, type Case } from './cases.ts';
import { digestOfFeatures } from './digest.ts';
import { fit, type Sample } from './logistic.ts';
import { digestOf, isHeldOut, recordedIn } from './recorded.ts';

const TABLE = fileURLToPath(
  new URL('../../packages/core/src/extract/anchors/weights.ts', import.meta.url),
);
const TOPS = [50, 100, 300] as const;
const { values } = parseArgs({ options: { data: { type: 'string' } } });
const folder =
  values.data ?? fileURLToPath(new URL('../../../shared/transcripts', import.meta.url));

if (existsSync(folder)) learn([...recordedIn(folder)].flatMap((one) => [...casesOf(one)]));
else console.log(`no recorded conversations in ${folder}: nothing to learn from`);

function learn(cases: readonly Case[]): void {
  const heldOut = cases.filter(isHeldOut);
  const score = scoresOf(learnt(cases.filter((one) => !isHeldOut(one))), heldOut);
  console.log(`${cases.length} cases; a third kept aside (${heldOut.length}): ${score}`);
  for (const source of new Set(cases.map((one) => one.source))) {
    const own = cases.filter((one) => one.source === source);
    const others = cases.filter((one) => one.source !== source);
    console.log(`${source} (${own.length}), learnt without it: ${scoresOf(learnt(others), own)}`);
  }
  writeFileSync(TABLE, tableOf(learnt(cases), cases.length, score));
}

function learnt(cases: readonly Case[]): Weights {
  return fit(sampleOf(cases), FEATURES.length);
}

/** Every case counts the same, however many anchors it has. */
function sampleOf(cases: readonly Case[]): Sample {
  const rows = cases.reduce((sum, { needed }) => sum + needed.length, 0);
  const sample = {
    rows: new Float64Array(rows * FEATURES.length),
    labels: new Uint8Array(rows),
    counts: new Float64Array(rows),
  };
  let at = 0;
  for (const one of cases) {
    sample.rows.set(one.rows, at * FEATURES.length);
    sample.labels.set(one.needed, at);
    sample.counts.fill(1 / one.neededCount, at, at + one.needed.length);
    at += one.needed.length;
  }
  return sample;
}

/** The share of what was needed among the anchors that rank first. */
function scoresOf(weights: Weights, cases: readonly Case[]): string {
  const shares = TOPS.map((top) => {
    const all = cases.map((one) => shareAmongFirst(weights, one, top));
    return `${(all.reduce((sum, share) => sum + share, 0) / Math.max(1, all.length)).toFixed(3)} of the needed among the first ${top}`;
  });
  return shares.join(', ');
}

function shareAmongFirst(
  { weights }: Weights,
  { rows, needed, neededCount }: Case,
  top: number,
): number {
  const scored = Array.from(needed, (label, anchor) => {
    let score = 0;
    for (const [k, weight] of weights.entries())
      score += weight * (rows[anchor * FEATURES.length + k] as number);
    return { label, score };
  });
  const first = scored.toSorted((a, b) => b.score - a.score).slice(0, top);
  return first.reduce((sum, { label }) => sum + label, 0) / neededCount;
}

const list = (items: readonly (string | number)[]): string =>
  items.map((item) => (typeof item === 'string' ? `'${item}'` : `${item}`)).join(', ');

function tableOf({ bias, weights }: Weights, cases: number, score: string): string {
  return `/** The weights of the formula in rank.ts. Written by \`npm run learn\`; a test fails when the features have changed since. */
export const LEARNT = {
  features: [${list(FEATURES)}],
  bias: ${bias},
  weights: [${list(weights)}],
  /** What the features of a made-up conversation come to. */
  featuresDigest: '${digestOfFeatures()}',
  /** The recorded conversations that it was learnt from. */
  cases: ${cases},
  dataSha256: '${digestOf(folder)}',
  /** Measured on the third of the cases that was kept aside. */
  score: '${score}',
} as const;
`;
}
