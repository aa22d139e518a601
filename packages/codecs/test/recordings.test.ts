import { test } from 'node:test';
import { checkCompaction, checkLossless } from './recording-check.ts';
import { withoutRecorded } from '@bobbin/testing/recorded';
import { recordings } from './recordings.ts';
import { WIRE_FORMS } from './wire-forms.ts';

/** All of them are compacted by the soak test. */
const COMPACTED_STEP = 130;

const skip = withoutRecorded('transcripts');

for (const form of WIRE_FORMS) {
  test(
    `${form.codec.name}: every recorded conversation is decoded and encoded to equal JSON`,
    { skip },
    () => {
      for (const recording of recordings()) checkLossless(form, recording);
    },
  );

  test(
    `${form.codec.name}: compacted at three budgets, recorded conversations are valid`,
    { skip },
    async () => {
      for (const recording of recordings(COMPACTED_STEP)) await checkCompaction(form, recording);
    },
  );
}
