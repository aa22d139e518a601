import { drop } from './drop.ts';
import type { Rung } from './rung.ts';
import { shrinkSummary } from './summarize.ts';
import { squeeze } from './squeeze.ts';

/** Above this size an excerpt is still useful. */
const READABLE_TOKENS = 256;

/**
 * Every ladder ends with these rungs, under any policy. They need no model and together reach any budget that the pins
 * leave space for. Pins are shortened only if they alone exceed the budget, and the plan says so.
 */
export const LAST_RESORT: readonly Rung[] = [
  squeeze({ reach: 'oversized-pins', floorTokens: READABLE_TOKENS }),
  squeeze({ reach: 'read', floorTokens: READABLE_TOKENS }),
  squeeze({ reach: 'loose', floorTokens: READABLE_TOKENS }),
  drop({ reach: 'target' }),
  shrinkSummary(),
  squeeze({ reach: 'loose', floorTokens: 0 }),
  drop({ reach: 'everything' }),
  squeeze({ reach: 'pins', floorTokens: 0 }),
];

/** What follows a ladder under hard pressure if it leaves a prompt that only just fits. Pins stay as they are. */
export const QUIET: readonly Rung[] = [
  squeeze({ reach: 'read', floorTokens: READABLE_TOKENS }),
  drop({ reach: 'target' }),
];
