import { clear } from '../compact/rungs/clear.ts';
import type { BesideSummary } from '../plan/cut.ts';
import { drop } from '../compact/rungs/drop.ts';
import { excerpts } from '../compact/rungs/excerpts.ts';
import { externalize } from '../compact/rungs/externalize.ts';
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
