import type { Counter } from '@bobbin/core';
import { modelFacts } from '@bobbin/core/internal';
import type { Model } from './models.ts';

/** How long a session that was just opened has priority over loading. */
const PEACE_MS = 1_000;

/**
 * The tokenizer of a model, if it is public. Loading takes a while: it begins after the session is open, or when it is
 * needed.
 */
export function loadedBehind({ id }: Model): () => Promise<Counter | undefined> {
  if (modelFacts(id).encoding === undefined) return () => Promise.resolve(undefined);
  let loading: Promise<Counter | undefined> | undefined;
  const load = (): Promise<Counter | undefined> =>
    (loading ??= import('@bobbin/models')
      .then(({ counterFor }) => counterFor(id))
      // Counting goes on with the estimator.
      .catch(() => undefined));
  setTimeout(() => void load(), PEACE_MS).unref();
  return load;
}
