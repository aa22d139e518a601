import type { Policy } from '../compact/policy.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { ladder } from './ladder.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { planEngine } from './plan-engine.ts';
import { recursiveSummary } from './recursive-summary.ts';
import { step } from './step.ts';
import { timeline } from './timeline.ts';
import { slidingWindow, tokenWindow, turnWindow } from './windows.ts';

/** Every preset with its defaults, by name. */
export const PRESETS: Readonly<Record<PresetName, Policy>> = {
  ladder: ladder(),
  step: step(),
  pi: pi(),
  codex: codex(),
  'claude-code': claudeCode,
  opencode: opencode(),
  'sliding-window': slidingWindow(),
  'turn-window': turnWindow(),
  'token-window': tokenWindow(),
  'recursive-summary': recursiveSummary(),
  timeline: timeline(),
  'plan-engine': planEngine(),
};

/** The function that makes each preset: call one to change its figures, as in `presets.pi({ keepRecentTokens: 8_000 })`. */
export interface Presets {
  readonly ladder: typeof ladder;
  readonly step: typeof step;
  readonly pi: typeof pi;
  readonly codex: typeof codex;
  claudeCode(): Policy;
  readonly opencode: typeof opencode;
  readonly slidingWindow: typeof slidingWindow;
  readonly turnWindow: typeof turnWindow;
  readonly tokenWindow: typeof tokenWindow;
  readonly recursiveSummary: typeof recursiveSummary;
  readonly timeline: typeof timeline;
  readonly planEngine: typeof planEngine;
}

/**
 * The presets (named policies). Each one is a function that returns a policy, as in `presets.pi({ keepRecentTokens:
 * 8_000 })`.
 */
export const presets: Presets = {
  ladder,
  step,
  pi,
  codex,
  claudeCode: () => claudeCode,
  opencode,
  slidingWindow,
  turnWindow,
  tokenWindow,
  recursiveSummary,
  timeline,
  planEngine,
};

export type PresetName =
  | 'ladder'
  | 'step'
  | 'pi'
  | 'codex'
  | 'claude-code'
  | 'opencode'
  | 'sliding-window'
  | 'turn-window'
  | 'token-window'
  | 'recursive-summary'
  | 'timeline'
  | 'plan-engine';
