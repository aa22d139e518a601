import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FEATURES } from '../packages/core/src/extract/anchors/rank.ts';
import { LEARNT } from '../packages/core/src/extract/anchors/weights.ts';
import { digestOfFeatures } from '../scripts/learn/digest.ts';
import { fit } from '../scripts/learn/logistic.ts';

test('the weights were learnt for the features that are there: else run npm run learn', () => {
  assert.deepEqual(LEARNT.features, FEATURES);
  assert.equal(LEARNT.weights.length, FEATURES.length);
  assert.equal(LEARNT.featuresDigest, digestOfFeatures());
});

const near = (a: number, b: number): boolean => Math.abs(a - b) < 0.02;

test('the formula that made some labels is found again', () => {
  const count = 4_000;
  const rows = Float64Array.from({ length: count * 2 }, (_, i) => ((i * 7919) % 1_000) / 500 - 1);
  const chance = (i: number): number =>
    1 / (1 + Math.exp(1 - 2 * (rows[2 * i] as number) + (rows[2 * i + 1] as number)));
  const labels = Uint8Array.from({ length: count * 2 }, (_, i) => i % 2);
  const doubled = Float64Array.from(
    { length: count * 4 },
    (_, k) => rows[2 * (k >> 2) + (k % 2)] as number,
  );
  const counts = Float64Array.from({ length: count * 2 }, (_, i) =>
    i % 2 === 1 ? chance(i >> 1) : 1 - chance(i >> 1),
  );
  const { bias, weights } = fit({ rows: doubled, labels, counts }, 2);
  assert.ok(
    near(bias, -1) && near(weights[0] ?? 0, 2) && near(weights[1] ?? 0, -1),
    `${bias} ${weights.join(' ')}`,
  );
});
