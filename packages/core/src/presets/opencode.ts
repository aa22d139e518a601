import { clear } from '../compact/rungs/clear.ts';
import { nonNegative, optionsParser } from '../check/shape.ts';
import type { Policy } from '../compact/policy.ts';
import { summarize } from '../compact/rungs/summarize.ts';

export interface OpencodeOptions {
  readonly outputReserveTokens: number;
}

const parseOptions = optionsParser<OpencodeOptions>(
  'opencode',
  { outputReserveTokens: nonNegative },
  { outputReserveTokens: 32_000 },
);

/** OpenCode: older tool output is pruned first, then the whole history becomes a summary; "continue" follows. */
export function opencode(options: Partial<OpencodeOptions> = {}): Policy {
  const { outputReserveTokens } = parseOptions(options);
  return {
    name: 'opencode',
    trigger: { kind: 'reserve', reserveTokens: outputReserveTokens },
    cut: { kind: 'everything' },
    ladder: [clear({ protectTokens: 40_000, minimumTokens: 20_000 }), summarize({ ratio: 1 })],
    stop: 'at-target',
    targetShare: 0.6,
    style: {
      summaryRole: 'assistant',
      summaryPrefix: '[Context Summary - Turns {first}-{last}]',
      summaryAt: 'first',
    },
    continueWith: 'Continue if you have next steps.',
  };
}
