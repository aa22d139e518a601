import { nonNegative, optionsParser } from '../check/shape.ts';
import type { Policy } from '../compact/policy.ts';
import { anyOf, tokenCount } from '../plan/trigger.ts';
import { summarize } from '../compact/rungs/summarize.ts';
import { HAND_OVER } from './pi.ts';

export interface CodexOptions {
  /** An absolute limit for the model, where one is known. */
  readonly autoCompactTokens?: number;
  readonly keepUserTokens: number;
}

const parseOptions = optionsParser<CodexOptions>(
  'codex',
  { autoCompactTokens: nonNegative, keepUserTokens: nonNegative },
  { keepUserTokens: 20_000 },
);

/** Codex: the newest user messages stay up to 20 000 tokens, the summary stands behind them. */
export function codex(options: Partial<CodexOptions> = {}): Policy {
  const { autoCompactTokens, keepUserTokens } = parseOptions(options);
  const window = { kind: 'window-share', share: 0.95 } as const;
  return {
    name: 'codex',
    trigger:
      autoCompactTokens === undefined ? window : anyOf(window, tokenCount(autoCompactTokens)),
    cut: { kind: 'everything' },
    ladder: [summarize({ ratio: 1, keepUserTokens })],
    stop: 'at-end',
    targetShare: 0.95,
    style: { summaryRole: 'user', summaryPrefix: HAND_OVER, summaryAt: 'last' },
  };
}
