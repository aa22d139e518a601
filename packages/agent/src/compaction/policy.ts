import { externalize, summarize, when, type Budget, type Policy } from '@bobbin/core';
import { codex, opencode, pi, PRESETS, timeline, type PresetName } from '@bobbin/core/internal';
import type { CompactionSettings } from '../settings.ts';

/** The most of the window that the reserve may take: the default is made for large windows. */
const RESERVE_SHARE = 0.25;
/** The most that a summary may take of what it replaces. */
const SUMMARY_RATIO = 0.5;
const REHYDRATION_SHARE = 1 / 16;

/** The policy that the settings ask for; without automatic compaction nothing triggers it. */
export function policyOf(
  settings: CompactionSettings,
  windowTokens: number,
  automatic: boolean,
): Policy {
  const policy = policyFor(settings.preset as PresetName | undefined, {
    reserveTokens: reserveOf(settings, windowTokens),
    keepRecentTokens: settings.keepRecentTokens,
  });
  if (automatic) return policy;
  const { firstSightShare: _, ...manual } = policy;
  return { ...manual, trigger: when('never', () => false) };
}

/** The settings' figures, the reserve as the window allows it. */
interface Figures {
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
}

/** A preset with the settings' figures, if it has such; the others have their own rules. */
function policyFor(
  preset: PresetName | undefined,
  { reserveTokens, keepRecentTokens }: Figures,
): Policy {
  switch (preset) {
    case undefined:
      return agentPolicy({ reserveTokens, keepRecentTokens });
    case 'pi':
      return pi({ reserveTokens, keepRecentTokens });
    case 'opencode':
      return opencode({ outputReserveTokens: reserveTokens });
    case 'codex':
      return codex({ keepUserTokens: keepRecentTokens });
    case 'timeline':
      return timeline({ keepRecentTokens });
    case 'claude-code':
    case 'ladder':
    case 'plan-engine':
    case 'recursive-summary':
    case 'sliding-window':
    case 'step':
    case 'token-window':
    case 'turn-window':
      return PRESETS[preset];
  }
}

/**
 * The agent's own: pi's trigger, cut and hand-over, with large results moved to artifacts first, and no summary if that
 * is enough.
 */
function agentPolicy({ reserveTokens, keepRecentTokens }: Figures): Policy {
  return {
    ...pi({ reserveTokens, keepRecentTokens }),
    name: 'agent',
    ladder: [
      externalize(),
      summarize({ maxTokens: Math.floor(reserveTokens * 0.8), ratio: SUMMARY_RATIO }),
    ],
    stop: 'at-target',
    targetShare: 0.5,
    firstSightShare: 0.25,
  };
}

/** Presets that use their window to 95 %: all reserves together are less than the rest. */
const LATE_PRESETS: ReadonlySet<string> = new Set(['codex', 'claude-code']);
const LATE_RESERVE_SHARE = 0.04;

function lateBudget(windowTokens: number): Partial<Budget> {
  const reserve = Math.floor(windowTokens * LATE_RESERVE_SHARE);
  const safetyTokens = Math.min(500, Math.floor(reserve / 4));
  const rehydrationTokens = Math.min(2_000, Math.floor(reserve / 2));
  const outputTokens = reserve - safetyTokens - rehydrationTokens;
  return { windowTokens, outputTokens, safetyTokens, rehydrationTokens };
}

/** What of a window is not for messages; the system prompt and the tools are counted apart. */
export function budgetOf(settings: CompactionSettings, windowTokens: number): Partial<Budget> {
  if (LATE_PRESETS.has(settings.preset ?? '')) return lateBudget(windowTokens);
  return {
    windowTokens,
    outputTokens: Math.floor(reserveOf(settings, windowTokens) / 2),
    rehydrationTokens: Math.min(2_000, Math.floor(windowTokens * REHYDRATION_SHARE)),
  };
}

export function reserveOf({ reserveTokens }: CompactionSettings, windowTokens: number): number {
  return Math.min(reserveTokens, Math.floor(windowTokens * RESERVE_SHARE));
}
