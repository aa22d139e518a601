import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureText, runSeeds } from './law-runner.ts';

const CASES = 500_000;
const BATCH = 50_000;

test(`every prompt is valid: ${CASES} random threads, presets and budgets`, async (t) => {
  const first = Number(process.env['BOBBIN_FIRST_SEED'] ?? 1_000_000);
  t.diagnostic(`seeds ${first} to ${first + CASES - 1}; others with BOBBIN_FIRST_SEED`);
  for (let done = 0; done < CASES; done += BATCH) {
    const report = await runSeeds(first + done, BATCH);
    assert.equal(report.failures.length, 0, failureText(report));
    // A diagnostic would be shown at the end only, and this takes long.
    console.log(
      `${done + BATCH} cases: ${report.prompts} prompts, ${report.compactions} compactions`,
    );
  }
});
