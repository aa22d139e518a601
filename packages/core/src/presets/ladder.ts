import { oneOf, optionsParser } from '../check/shape.ts';
import type { Policy } from '../compact/policy.ts';
import { clear } from '../compact/rungs/clear.ts';
import { drop } from '../compact/rungs/drop.ts';
import { squeeze } from '../compact/rungs/squeeze.ts';
import { summarize } from '../compact/rungs/summarize.ts';
import { trim } from '../compact/rungs/trim.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';
import { THRIFT, type Thrift } from '../plan/trim-figures.ts';

export interface LadderOptions {
  /** How much of older tool output is trimmed: the one choice between what a session costs and what stays exact. */
  readonly thrift: Thrift;
}

const parseOptions = optionsParser<LadderOptions>(
  'ladder',
  { thrift: oneOf('careful', 'balanced', 'frugal') },
  { thrift: 'careful' },
);

/**
 * The default. Older tool output is trimmed in place whenever that pays; the oldest turns are summarised only when what
 * is left no longer fits. All other text stays as it was said.
 */
export function ladder(options: Partial<LadderOptions> = {}): Policy {
  const limits = THRIFT[parseOptions(options).thrift];
  return {
    name: 'ladder',
    trigger: { kind: 'window-share', share: 0.95 },
    cut: { kind: 'keep-share', share: 0.5, summaryTokens: 1_200 },
    ladder: [
      squeeze({ reach: 'oversized-pins', floorTokens: 256 }),
      trim(limits),
      summarize({ ratio: 1, leastShare: 0.1 }),
      clear({ aim: 'limit' }),
      drop({ aim: 'limit' }),
    ],
    stop: 'at-target',
    targetShare: 0.5,
    style: DEFAULT_STYLE,
    firstSightShare: 0.25,
    economics: { prices: { write: 1.25, read: 0.1, ttlMs: 300_000 }, requestsToCome: 20 },
  };
}
