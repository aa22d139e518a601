import { nonNegative, optionsParser, string } from '../check/shape.ts';
import type { Policy } from '../compact/policy.ts';
import { anyOf, tokenCount } from '../plan/trigger.ts';
import { summarize } from '../compact/rungs/summarize.ts';
import { HAND_OVER } from './pi.ts';

export interface CodexOptions {
  /** An absolute limit. */
  readonly autoCompactTokens?: number;
  /** The model whose absolute limit is meant, if `autoCompactTokens` gives none. */
  readonly model?: string;
  readonly keepUserTokens: number;
}

const parseOptions = optionsParser<CodexOptions>(
  'codex',
  { autoCompactTokens: nonNegative, model: string, keepUserTokens: nonNegative },
  { keepUserTokens: 20_000 },
);

/** What Codex compacts at, by model: nine tenths of the window that it gives each. */
const LIMITS: readonly (readonly [pattern: RegExp, tokens: number])[] = [
  [/^(?:gpt-5|codex)/, 244_800],
  [/^(?:o3|o4-mini)/, 180_000],
];

function limitOf(model: string | undefined): number | undefined {
  return LIMITS.find(([pattern]) => model !== undefined && pattern.test(model))?.[1];
}

/** Codex: the newest user messages stay up to 20 000 tokens, the summary comes after them. */
export function codex(options: Partial<CodexOptions> = {}): Policy {
  const { model, keepUserTokens, ...given } = parseOptions(options);
  const autoCompactTokens = given.autoCompactTokens ?? limitOf(model);
  const window = { kind: 'window-share', share: 0.95, of: 'reported' } as const;
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
