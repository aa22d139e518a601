import { fraction, integerFrom, nonNegative, optionsParser } from '../check/shape.ts';
import type { Policy } from '../compact/policy.ts';
import { clear } from '../compact/rungs/clear.ts';
import { drop } from '../compact/rungs/drop.ts';
import { externalize } from '../compact/rungs/externalize.ts';
import { summarize } from '../compact/rungs/summarize.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';

export interface PlanEngineOptions {
  /** Larger results are moved to artifacts. */
  readonly externalizeOverTokens: number;
  /** The most that a summary may take of what it replaces. */
  readonly summaryRatio: number;
  readonly preserveRecentTurns: number;
}

const parseOptions = optionsParser<PlanEngineOptions>(
  'planEngine',
  {
    externalizeOverTokens: nonNegative,
    summaryRatio: fraction,
    preserveRecentTurns: integerFrom(1),
  },
  { externalizeOverTokens: 1_000, summaryRatio: 0.25, preserveRecentTurns: 3 },
);

/** The plan engine with its own defaults: above the soft limit of the budget, rung by rung until the target holds. */
export function planEngine(options: Partial<PlanEngineOptions> = {}): Policy {
  const { externalizeOverTokens, summaryRatio, preserveRecentTurns } = parseOptions(options);
  return {
    name: 'plan-engine',
    trigger: { kind: 'soft-limit' },
    cut: { kind: 'turn-window', turns: preserveRecentTurns },
    ladder: [
      externalize({ overTokens: externalizeOverTokens }),
      summarize({ ratio: summaryRatio }),
      clear(),
      drop(),
    ],
    stop: 'at-target',
    targetShare: 0.8,
    style: DEFAULT_STYLE,
  };
}
