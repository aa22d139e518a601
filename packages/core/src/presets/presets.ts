import type { Policy } from '../plan/policy.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { ladder } from './ladder.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { recursiveSummary } from './recursive-summary.ts';
import { step } from './step.ts';
import { timeline } from './timeline.ts';
import { slidingWindow, tokenWindow, turnWindow } from './windows.ts';

/** Every preset with its defaults, by name. */
export const PRESETS: Readonly<Record<PresetName, Policy>> = {
  ladder,
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
  | 'timeline';
