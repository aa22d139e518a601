import { nonNegative, optionsParser } from '../check/shape.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';
import type { Policy } from '../compact/policy.ts';
import { summarize } from '../compact/rungs/summarize.ts';

export interface TimelineOptions {
  readonly keepRecentTokens: number;
}

const parseOptions = optionsParser<TimelineOptions>(
  'timeline',
  { keepRecentTokens: nonNegative },
  { keepRecentTokens: 20_000 },
);

/** The timeline: compact above nine tenths of the window, split turns if the cut falls inside one. */
export function timeline(options: Partial<TimelineOptions> = {}): Policy {
  const { keepRecentTokens } = parseOptions(options);
  return {
    name: 'timeline',
    trigger: { kind: 'window-share', share: 0.9 },
    cut: { kind: 'keep-tokens', tokens: keepRecentTokens, splitTurns: true },
    ladder: [summarize({ maxTokens: 800, splitTurnTokens: 400, ratio: 1 })],
    stop: 'at-end',
    targetShare: 0.9,
    style: DEFAULT_STYLE,
  };
}
