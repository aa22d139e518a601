import { clear } from '../compact/rungs/clear.ts';
import type { BesideSummary } from '../plan/cut.ts';
import { drop } from '../compact/rungs/drop.ts';
import { excerpts } from '../compact/rungs/excerpts.ts';
import { trim } from '../compact/rungs/trim.ts';
import { TRIM_DEFAULTS } from '../plan/trim-figures.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';
import type { Policy } from '../compact/policy.ts';
import { squeeze } from '../compact/rungs/squeeze.ts';
import { summarize } from '../compact/rungs/summarize.ts';

const KEEP: BesideSummary = {
  kind: 'beside-summary',
  summaryTokens: 8_000,
  leastShare: 0.22,
  mostShare: 0.5,
};

const CAREFUL = TRIM_DEFAULTS;

/** The default: gentle rungs first, room enough afterwards to be quiet for long, and only when it pays. */
export const ladder: Policy = {
  name: 'ladder',
  trigger: { kind: 'soft-limit' },
  cut: KEEP,
  ladder: [
    squeeze({ reach: 'oversized-pins', floorTokens: 256 }),
    trim(CAREFUL),
    excerpts(KEEP),
    summarize({ ratio: 1, leastShare: 0.25 }),
    clear({ aim: 'limit' }),
    drop({ aim: 'limit' }),
  ],
  stop: 'at-target',
  targetShare: 0.5,
  style: DEFAULT_STYLE,
  firstSightShare: 0.25,
  trim: CAREFUL,
  economics: { prices: { write: 1.25, read: 0.1, ttlMs: 300_000 }, requestsToCome: 20 },
};
