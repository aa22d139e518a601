import { boolean, nonNegative, optionsParser } from '../check/shape.ts';
import type { Policy } from '../compact/policy.ts';
import { summarize } from '../compact/rungs/summarize.ts';

export interface PiOptions {
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
  /** Today's pi cuts inside turns; the seed's rule does not. */
  readonly splitTurns: boolean;
}

export const PI_DEFAULTS: PiOptions = {
  reserveTokens: 16_384,
  keepRecentTokens: 20_000,
  splitTurns: false,
};

const parseOptions = optionsParser<PiOptions>(
  'pi',
  { reserveTokens: nonNegative, keepRecentTokens: nonNegative, splitTurns: boolean },
  PI_DEFAULTS,
);

/** The coding agent's compaction: a reserve at the end of the window, recent tokens kept, a hand-over summary. */
export function pi(options: Partial<PiOptions> = {}): Policy {
  const { reserveTokens, keepRecentTokens, splitTurns } = parseOptions(options);
  return {
    name: 'pi',
    trigger: { kind: 'reserve', reserveTokens },
    cut: { kind: 'keep-tokens', tokens: keepRecentTokens, splitTurns },
    ladder: [summarize({ maxTokens: Math.floor(reserveTokens * 0.8), ratio: 1 })],
    stop: 'at-end',
    targetShare: 0.85,
    style: { summaryRole: 'user', summaryPrefix: HAND_OVER, summaryAt: 'first' },
  };
}

/** Frames a summary as a hand-over between models. */
export const HAND_OVER: string =
  'The work so far was done by another language model, which left this summary. Go on from it, and do nothing twice:';
