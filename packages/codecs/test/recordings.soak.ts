import { test } from 'node:test';
import { checkCompaction } from './recording-check.ts';
import { withoutRecorded } from '@bobbin/testing/recorded';
import { recordings } from './recordings.ts';
import { WIRE_FORMS } from './wire-forms.ts';

const skip = withoutRecorded('transcripts');

for (const form of WIRE_FORMS) {
  test(
    `${form.codec.name}: compacted at three budgets, every recorded conversation is valid`,
    { skip },
    async () => {
      for (const recording of recordings()) await checkCompaction(form, recording);
    },
  );
}
