import type { Counter } from '@bobbin/core';
import { chars4, estimator } from '@bobbin/core/internal';

/** Ways to count tokens, by the name a user gives. Tokenizers are loaded when they are asked for. */
export const COUNTERS = {
  chars4: async () => chars4(),
  estimate: async () => estimator(),
  o200k: async () => (await import('@bobbin/models')).bpe('o200k'),
  cl100k: async () => (await import('@bobbin/models')).bpe('cl100k'),
} satisfies Record<string, () => Promise<Counter>>;

/** The way to count for a model that a user gave no other for. */
export async function usualCounter(model: string | undefined): Promise<Counter> {
  const { counterFor } = await import('@bobbin/models');
  return counterFor(model);
}
