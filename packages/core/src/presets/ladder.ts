import { clear } from '../plan/clear.ts';
import type { BesideSummary } from '../plan/cut.ts';
import { drop } from '../plan/drop.ts';
import { excerpts } from '../plan/excerpts.ts';
import { externalize } from '../plan/externalize.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';
import type { Policy } from '../plan/policy.ts';
import { squeeze } from '../plan/squeeze.ts';
import { summarize } from '../plan/summarize.ts';

const KEEP: BesideSummary = {
  kind: 'beside-summary',
  summaryTokens: 8_000,
  leastShare: 0.22,
  mostShare: 0.5,
};

/** The default: gentle rungs first, room enough afterwards to be quiet for long, and only when it pays. */
export const ladder: Policy = {
  name: 'ladder',
  trigger: { kind: 'soft-limit' },
  cut: KEEP,
  ladder: [
    squeeze({ reach: 'oversized-pins', floorTokens: 256 }),
    externalize(),
    excerpts(KEEP),
    summarize({ ratio: 1, leastShare: 0.25 }),
    clear({ aim: 'limit' }),
    drop({ aim: 'limit' }),
  ],
  stop: 'at-target',
  targetShare: 0.5,
  style: DEFAULT_STYLE,
  firstSightShare: 0.25,
  economics: { prices: { write: 1.25, read: 0.1, ttlMs: 300_000 }, requestsToCome: 20 },
};
