import type { Counter } from '@bobbin/core';
import {
  estimator,
  modelFacts,
  NotInstalled,
  scaled,
  startCalibration,
  type ModelTable,
} from '@bobbin/core/internal';
import { bpe } from './bpe.ts';

/**
 * The best counter for a model: exact if its tokenizer is public and installed, otherwise an estimate that errs on the
 * safe side.
 */
export async function counterFor(model: string | undefined, own?: ModelTable): Promise<Counter> {
  const { encoding, provider } = modelFacts(model, own);
  const exact = encoding === undefined ? undefined : await installed(bpe(encoding, provider));
  return exact ?? scaled(estimator(provider), startCalibration(model));
}

function installed(counter: Promise<Counter>): Promise<Counter | undefined> {
  return counter.catch((error: unknown) => {
    if (error instanceof NotInstalled) return undefined;
    throw error;
  });
}
