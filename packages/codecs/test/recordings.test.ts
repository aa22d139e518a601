import { test } from 'node:test';
import { checkCompaction, checkLossless } from './recording-check.ts';
import { withoutRecorded } from '@bobbin/testing/recorded';
import { volume } from '@bobbin/testing/volume';
import { recordings } from './recordings.ts';
import { WIRE_FORMS } from './wire-forms.ts';

/** The first of so many is tested. */
const LOSSLESS_STEP = volume(50, 1);
const COMPACTED_STEP = volume(700, 1);

const skip = withoutRecorded('transcripts');

for (const form of WIRE_FORMS) {
  test(
    `${form.codec.name}: recorded conversations are decoded and encoded to equal JSON`,
    { skip },
    () => {
      for (const recording of recordings(LOSSLESS_STEP)) checkLossless(form, recording);
    },
  );

  test(`${form.codec.name}: compacted, recorded conversations are valid`, { skip }, async () => {
    for (const recording of recordings(COMPACTED_STEP)) await checkCompaction(form, recording);
  });
}
