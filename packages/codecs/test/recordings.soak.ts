import { test } from 'node:test';
import { checkCompaction } from './recording-check.ts';
import { recordings } from './recordings.ts';
import { WIRE_FORMS } from './wire-forms.ts';

for (const form of WIRE_FORMS) {
  test(`${form.codec.name}: compacted at three budgets, every recorded conversation is lawful`, async () => {
    for (const recording of recordings()) await checkCompaction(form, recording);
  });
}
