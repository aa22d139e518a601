import {
  estimator,
  modelFacts,
  scaled,
  startCalibration,
  type Counter,
  type ModelTable,
} from '@bobbin/core';
import { bpe } from './bpe.ts';

/** The best counter for a model: exact where its tokenizer is public, else an estimate that errs on the safe side. */
export async function counterFor(model: string | undefined, own?: ModelTable): Promise<Counter> {
  const { encoding, provider } = modelFacts(model, own);
  if (encoding !== undefined) return bpe(encoding, provider);
  return scaled(estimator(provider), startCalibration(model));
}
