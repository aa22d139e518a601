import assert from 'node:assert/strict';
import { test } from 'node:test';
import { travel } from './journey.ts';
import { failureText, runShare } from './law-runner.ts';

const CASES = 2_000;
/** Found by the soak test, and valid since. */
const ONCE_INVALID = [
  1_112_828, 1_292_242, 1_341_065, 1_404_226, 1_490_871, 1_239_832, 1_002_484, 1_006_211, 1_013_422,
  7_426_746, 7_429_194, 8_090_182, 8_145_232, 7_642_069, 8_196_288, 50_093_759, 30_059_257,
  30_265_468, 100_253_032, 100_254_898, 200_369_029,
];
const { BOBBIN_SEED: again, BOBBIN_FIRST_SEED: from = '1' } = process.env;

test(`every prompt is valid: ${CASES} random threads, presets and budgets`, async (t) => {
  if (again !== undefined) {
    await travel(Number(again));
    return;
  }
  const first = Number(from);
  t.diagnostic(`seeds ${first} to ${first + CASES - 1}; others with BOBBIN_FIRST_SEED`);
  // The other cores run other tests.
  const report = await runShare({ first, beyond: first + CASES, step: 1 });
  t.diagnostic(`${report.prompts} prompts, ${report.compactions} compactions`);
  assert.equal(report.failures.length, 0, failureText(report));
  assert.ok(report.compactions > CASES / 4, `only ${report.compactions} compactions`);
});

for (const seed of ONCE_INVALID)
  test(`every prompt is valid: seed ${seed}, which once was not`, async () => {
    assert.ok((await travel(seed)).prompts > 0);
  });
