// Learns how likely an anchor is to be needed again from recorded conversations, and writes the table that core ships:
//   node --conditions=@bobbin/source --max-old-space-size=12000 scripts/learn-anchors/main.ts [--data FOLDER] [--held-out FILE]
// It prints how well the table ranks conversations that it has not seen: a third of them kept aside, and every source
// left out in its turn. The shipped table is then learnt from all of them. With --held-out, the table that has not seen
// the part kept aside goes to FILE and nothing else is done: for measuring what the product makes of it.
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FEATURES } from '../../packages/core/src/extract/anchors/features.ts';
import { scoreOf, type Trees } from '../../packages/core/src/extract/anchors/rank.ts';
import { boost } from './boosting.ts';
import { casesOf, type Case } from './cases.ts';
import { isHeldOut, recordedIn } from './recorded.ts';

const OPTIONS = { trees: 120, depth: 4 };
const TABLE = fileURLToPath(
  new URL('../../packages/core/src/extract/anchors/weights.ts', import.meta.url),
);
const { values } = parseArgs({
  options: { data: { type: 'string' }, 'held-out': { type: 'string' } },
});
const folder =
  values.data ?? fileURLToPath(new URL('../../../shared/transcripts', import.meta.url));

if (existsSync(folder)) learn([...recordedIn(folder)].flatMap((one) => [...casesOf(one)]));
else console.log(`no recorded conversations in ${folder}: nothing to learn from`);

function learn(cases: readonly Case[]): void {
  const rows = cases.reduce((sum, { needed }) => sum + needed.length, 0);
  console.log(`${cases.length} cases, ${rows} anchors`);
  const seen = cases.filter((one) => !isHeldOut(one));
  const heldOut = cases.filter(isHeldOut);
  const split = boost(seen, OPTIONS);
  report('learnt from these', split, seen);
  report('kept aside', split, heldOut);
  const file = values['held-out'];
  if (file !== undefined) return writeFileSync(file, tableOf(split));
  for (const source of new Set(cases.map((one) => one.source))) {
    const own = cases.filter((one) => one.source === source);
    if (own.length >= 15)
      report(
        `${source}, learnt without it`,
        boost(
          cases.filter((one) => one.source !== source),
          OPTIONS,
        ),
        own,
      );
  }
  writeFileSync(TABLE, tableOf(boost(cases, OPTIONS)));
}

/** The share of what was needed among the anchors that rank first. */
function report(name: string, trees: Trees, cases: readonly Case[]): void {
  const tops = [100, 200, 300, 500];
  const means = tops.map((top) => {
    const shares = cases.map((one) => shareAmongFirst(trees, one, top));
    return `${top}: ${(shares.reduce((sum, share) => sum + share, 0) / shares.length).toFixed(3)}`;
  });
  console.log(`${name} (${cases.length} cases): needed among the first ${means.join(', ')}`);
}

function shareAmongFirst(trees: Trees, { rows, needed, neededCount }: Case, top: number): number {
  const scored = Array.from(needed, (label, anchor) => {
    const row = Float64Array.from(
      rows.subarray(anchor * FEATURES.length, (anchor + 1) * FEATURES.length),
    );
    return { label, score: scoreOf(trees, row) };
  });
  const first = scored.toSorted((a, b) => b.score - a.score).slice(0, top);
  return first.reduce((sum, { label }) => sum + label, 0) / neededCount;
}

function tableOf({ depth, base, features, limits, leaves }: Trees): string {
  const inner = (1 << depth) - 1;
  const lines = Array.from({ length: limits.length / inner }, (_, tree) => {
    const splits = Array.from({ length: inner }, (__, node) => {
      const at = tree * inner + node;
      const limit = limits[at] as number;
      return `${features[at]}<${Number.isFinite(limit) ? limit : ''}`;
    });
    return `${splits.join(' ')}|${leaves.subarray(tree * (inner + 1), (tree + 1) * (inner + 1)).join(' ')}`;
  });
  return [
    '/**',
    ' * Which anchors are needed again, learnt from recorded conversations by scripts/learn-anchors: the depth and the base',
    ' * score, then a line for each tree: its inner nodes as `feature<limit`, and its leaves, in the order of a perfect tree.',
    ' */',
    `export const WEIGHTS = \`${depth} ${base}\n${lines.join('\n')}\n\`;`,
    '',
  ].join('\n');
}
