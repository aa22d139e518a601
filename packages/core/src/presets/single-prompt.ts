import type { Policy } from '../compact/policy.ts';
import { clear } from '../compact/rungs/clear.ts';
import { drop } from '../compact/rungs/drop.ts';
import { excerpts } from '../compact/rungs/excerpts.ts';
import { externalize } from '../compact/rungs/externalize.ts';
import { squeeze } from '../compact/rungs/squeeze.ts';
import type { Rung } from '../compact/rungs/rung.ts';
import { summarize } from '../compact/rungs/summarize.ts';
import type { BesideSummary } from '../plan/cut.ts';
import { DEFAULT_STYLE, type RenderStyle } from '../plan/plan.ts';

const KEEP: BesideSummary = {
  kind: 'beside-summary',
  summaryTokens: 8_000,
  leastShare: 0.3,
  mostShare: 0.5,
};

/** A message of the user that fills most of the prompt keeps a quarter of it: what was done since needs the rest. */
const LARGE_PINS = { pinShare: 0.25, oversizedShare: 0.5 } as const;
const PINS = { reach: 'oversized-pins', floorTokens: 256 } as const;
/** A summary has at least this share of the prompt. */
const LEAST_SHARE = 0.25;
/** A written summary has at most this share of it, and a message of the user at least the other one. */
const MOST_SHARE = 0.92;
const LEAST_KEPT_SHARE = 0.08;
/** What is added to a written summary, compared with it. */
const RECORD_SHARE = 0.15;

/**
 * One conversation into one prompt of a given size. No request follows, so there is neither a cache to spare nor a
 * reason to leave space: excerpts and a summary share all of it.
 */
export const singlePrompt: Policy = singlePromptWith(
  KEEP,
  squeeze({ ...PINS, ...LARGE_PINS }),
  [excerpts(KEEP)],
  LEAST_SHARE,
);

/** In the order in which things happened: a request, what was done for it, the newest messages. */
const BESIDE_STYLE: RenderStyle = { ...DEFAULT_STYLE, summaryRole: 'user', summaryAt: 'last' };

/**
 * The same for a summary that is already written: the newest messages get what it leaves, and stay whole rather than
 * many of them in excerpts.
 */
export function singlePromptBeside(summaryTokens: number, targetTokens: number): Policy {
  const wanted = summaryTokens * (1 + RECORD_SHARE);
  const tokens = Math.max(0, targetTokens - wanted);
  const keptShare = Math.max(LEAST_KEPT_SHARE, tokens / targetTokens);
  return singlePromptWith(
    { kind: 'keep-tokens', tokens: Math.floor(tokens), splitTurns: true, orNone: true },
    squeeze({ ...PINS, pinShare: keptShare, oversizedShare: keptShare }),
    [],
    Math.min(MOST_SHARE, Math.max(LEAST_SHARE, wanted / targetTokens)),
    BESIDE_STYLE,
  );
}

function singlePromptWith(
  cut: Policy['cut'],
  pins: Rung,
  shortening: readonly Rung[],
  leastShare: number,
  style: RenderStyle = DEFAULT_STYLE,
): Policy {
  return {
    name: 'ladder',
    trigger: { kind: 'soft-limit' },
    cut,
    ladder: [
      pins,
      externalize(),
      ...shortening,
      summarize({ ratio: 1, leastShare }),
      clear({ aim: 'limit' }),
      drop({ aim: 'limit' }),
    ],
    stop: 'at-target',
    targetShare: 1,
    style,
  };
}
