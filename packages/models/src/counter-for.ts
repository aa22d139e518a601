import type { Counter } from '@bobbin/core';
import {
  estimator,
  modelFacts,
  scaled,
  startCalibration,
  type ModelTable,
} from '@bobbin/core/internal';
import { bpe } from './bpe.ts';

/** The best counter for a model: exact if its tokenizer is public, otherwise an estimate that errs on the safe side. */
export async function counterFor(model: string | undefined, own?: ModelTable): Promise<Counter> {
  const { encoding, provider } = modelFacts(model, own);
  if (encoding !== undefined) return bpe(encoding, provider);
  return scaled(estimator(provider), startCalibration(model));
}
