import { clear } from '../plan/clear.ts';
import { drop } from '../plan/drop.ts';
import { externalize } from '../plan/externalize.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';
import type { Policy } from '../plan/policy.ts';
import { summarize } from '../plan/summarize.ts';

/** The default: gentle rungs first, room enough afterwards to be quiet for long, and only when it pays. */
export const ladder: Policy = {
  name: 'ladder',
  trigger: { kind: 'soft-limit' },
  cut: { kind: 'keep-share', share: 0.5 },
  ladder: [externalize(), summarize(), clear(), drop()],
  stop: 'at-target',
  targetShare: 0.5,
  style: DEFAULT_STYLE,
  firstSightShare: 0.25,
  economics: { prices: { write: 1.25, read: 0.1, ttlMs: 300_000 }, requestsToCome: 20 },
};
