import { oneOf, optionsParser } from '../check/shape.ts';
import type { Policy } from '../compact/policy.ts';
import { clear } from '../compact/rungs/clear.ts';
import { drop } from '../compact/rungs/drop.ts';
import { squeeze } from '../compact/rungs/squeeze.ts';
import { summarize } from '../compact/rungs/summarize.ts';
import { trim, trimFurther } from '../compact/rungs/trim.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';
import { type Thrift, THRIFT, type TrimLimits } from '../plan/trim-figures.ts';

export interface LadderOptions {
  /** How much of older tool output is trimmed: the one choice between what a session costs and what stays exact. */
  readonly thrift: Thrift;
}

const parseOptions = optionsParser<LadderOptions>(
  'ladder',
  { thrift: oneOf('gentle', 'careful', 'balanced', 'frugal') },
  { thrift: 'careful' },
);

/** From this size on the oldest turns are summarised in any window, if that pays: every request would read them again. */
const MOST_TOKENS: Readonly<Record<Thrift, number>> = {
  gentle: 200_000,
  careful: 128_000,
  balanced: 96_000,
  frugal: 64_000,
};

/** If trimming frees too little for the window, more is trimmed in these steps, before anything is summarised. */
const FURTHER: Readonly<Record<Thrift, readonly Partial<TrimLimits>[]>> = {
  gentle: [
    { keepResults: 15, argsChars: 3_000 },
    { keepResults: 5, argsChars: 3_000 },
  ],
  careful: [],
  balanced: [],
  frugal: [],
};

/**
 * The default. Older tool output is trimmed in place whenever that pays; the oldest turns are summarised only when what
 * is left no longer fits, or has grown so long that reading it again costs more than its summary. All other text stays as it was said.
 */
export function ladder(options: Partial<LadderOptions> = {}): Policy {
  const { thrift } = parseOptions(options);
  const limits = THRIFT[thrift];
  const mostTokens = MOST_TOKENS[thrift];
  return {
    name: 'ladder',
    trigger: {
      kind: 'any-of',
      triggers: [
        { kind: 'window-share', share: 0.95 },
        { kind: 'tokens', atLeast: mostTokens },
      ],
    },
    cut: { kind: 'keep-share', share: 0.5, summaryTokens: 1_200 },
    ladder: [
      squeeze({ reach: 'oversized-pins', floorTokens: 256 }),
      trim(limits),
      ...FURTHER[thrift].map((further) => trimFurther({ ...limits, ...further })),
      summarize({ ratio: 1, leastShare: 0.1 }),
      clear({ aim: 'limit' }),
      drop({ aim: 'limit' }),
    ],
    stop: 'at-target',
    targetShare: 0.5,
    mostTargetTokens: mostTokens / 2,
    style: DEFAULT_STYLE,
    firstSightShare: 0.25,
    economics: { prices: { write: 1.25, read: 0.1, ttlMs: 300_000 }, requestsToCome: 20 },
  };
}
