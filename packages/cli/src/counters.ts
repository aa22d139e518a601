import { chars4, estimator, type Counter } from '@bobbin/core';
import { bpe } from '@bobbin/models';

/** Ways to count tokens, by the name a user gives. Vocabularies are loaded when they are asked for. */
export const COUNTERS = {
  chars4: async () => chars4(),
  estimate: async () => estimator(),
  o200k: () => bpe('o200k'),
  cl100k: () => bpe('cl100k'),
} satisfies Record<string, () => Promise<Counter>>;
