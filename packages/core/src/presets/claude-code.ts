import type { Policy } from '../compact/policy.ts';
import { summarize } from '../compact/rungs/summarize.ts';

/** Claude Code: near the end of the window the whole history becomes one summary, and work goes on in place. */
export const claudeCode: Policy = {
  name: 'claude-code',
  trigger: { kind: 'window-share', share: 0.95, of: 'reported' },
  cut: { kind: 'everything' },
  ladder: [summarize({ maxTokens: 16_000, ratio: 1 })],
  stop: 'at-end',
  targetShare: 0.95,
  style: {
    summaryRole: 'user',
    summaryPrefix:
      'This session continues an earlier conversation that ran out of context. What happened so far:',
    summaryAt: 'first',
  },
};
