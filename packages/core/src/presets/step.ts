import { nonNegative, fraction, optionsParser, integerFrom } from '../check/shape.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';
import type { Policy } from '../compact/policy.ts';
import { summarize } from '../compact/rungs/summarize.ts';
import { STEP_DEFAULTS, stepThreshold, type StepConfig } from '../tokens/budget.ts';

const parseOptions = optionsParser<StepConfig>(
  'step',
  {
    modelContextLimit: nonNegative,
    systemReserve: nonNegative,
    outputReserve: nonNegative,
    safetyBuffer: nonNegative,
    thresholdPercent: fraction,
    recentMessagesToKeep: integerFrom(0),
  },
  STEP_DEFAULTS,
);

/** The step layer: at a fixed threshold, everything but the newest messages into one session summary. */
export function step(config: Partial<StepConfig> = {}): Policy {
  const whole = parseOptions(config);
  const keep = whole.recentMessagesToKeep;
  return {
    name: 'step',
    trigger: { kind: 'tokens', atLeast: stepThreshold(whole), messages: keep + 1 },
    cut: { kind: 'keep-messages', messages: keep },
    ladder: [summarize({ maxTokens: 1_000, ratio: 1 })],
    stop: 'at-end',
    targetShare: 0.85,
    style: { ...DEFAULT_STYLE, summaryPrefix: '## Session Summary (Compaction Round {round})' },
  };
}
