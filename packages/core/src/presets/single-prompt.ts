import type { Policy } from '../compact/policy.ts';
import { clear } from '../compact/rungs/clear.ts';
import { drop } from '../compact/rungs/drop.ts';
import { excerpts } from '../compact/rungs/excerpts.ts';
import { externalize } from '../compact/rungs/externalize.ts';
import { squeeze } from '../compact/rungs/squeeze.ts';
import { summarize } from '../compact/rungs/summarize.ts';
import type { BesideSummary } from '../plan/cut.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';

const KEEP: BesideSummary = {
  kind: 'beside-summary',
  summaryTokens: 8_000,
  leastShare: 0.22,
  mostShare: 0.5,
};

/**
 * One conversation into one prompt of a given size. No request follows, so there is neither a cache to spare nor a
 * reason to leave space: excerpts and a summary share all of it.
 */
export const singlePrompt: Policy = {
  name: 'ladder',
  trigger: { kind: 'soft-limit' },
  cut: KEEP,
  ladder: [
    squeeze({ reach: 'oversized-pins', floorTokens: 256, pinShare: 0.25 }),
    externalize(),
    excerpts(KEEP),
    summarize({ ratio: 1, leastShare: 0.25 }),
    clear({ aim: 'limit' }),
    drop({ aim: 'limit' }),
  ],
  stop: 'at-target',
  targetShare: 1,
  style: DEFAULT_STYLE,
};
