/**
 * The size of the window, and how much of it is not for messages: the tokens of the system prompt, tool schemas,
 * formatting and answer, a safety margin, and a reserve for compacted content that Bobbin shows again.
 */
export interface Budget {
  readonly windowTokens: number;
  /** The share of the window above which the trigger `soft-limit` fires. */
  readonly softShare: number;
  readonly systemTokens: number;
  readonly toolTokens: number;
  readonly formattingTokens: number;
  readonly outputTokens: number;
  readonly safetyTokens: number;
  readonly rehydrationTokens: number;
}

export const BUDGET_DEFAULTS: Budget = {
  windowTokens: 100_000,
  softShare: 0.85,
  systemTokens: 0,
  toolTokens: 0,
  formattingTokens: 0,
  outputTokens: 0,
  safetyTokens: 500,
  rehydrationTokens: 2_000,
};

/** In a small window, what is kept free takes at most these shares of it. */
const MOST_SAFETY_SHARE = 0.1;
const MOST_REHYDRATION_SHARE = 0.4;

/** A budget in another window. Where that is small, less of it is kept free. */
export function inWindow(b: Budget, windowTokens: number): Budget {
  return {
    ...b,
    windowTokens,
    safetyTokens: Math.min(b.safetyTokens, Math.floor(windowTokens * MOST_SAFETY_SHARE)),
    rehydrationTokens: Math.min(
      b.rehydrationTokens,
      Math.floor(windowTokens * MOST_REHYDRATION_SHARE),
    ),
  };
}

export function budget(given: Partial<Budget> = {}): Budget {
  const { windowTokens = BUDGET_DEFAULTS.windowTokens } = given;
  const whole: Budget = { ...inWindow(BUDGET_DEFAULTS, windowTokens), ...given };
  for (const name of Object.keys(whole) as (keyof Budget)[]) {
    const value = whole[name];
    if (!Number.isFinite(value) || value < 0) {
      throw new RangeError(`budget.${name} must be a number of at least 0, not ${value}`);
    }
  }
  if (whole.softShare > 1)
    throw new RangeError(`budget.softShare must be at most 1, not ${whole.softShare}`);
  return whole;
}

/** What a request contains in addition to its messages, in tokens. */
export function besideMessages(b: Budget): number {
  return b.systemTokens + b.toolTokens + b.formattingTokens;
}

/** The most that messages may cost: the window, less what is sent beside them and what is kept free. */
export function messageLimit(b: Budget): number {
  const freeTokens = b.outputTokens + b.safetyTokens + b.rehydrationTokens;
  return Math.max(0, b.windowTokens - besideMessages(b) - freeTokens);
}

/** Where compaction should begin: what messages may cost if only the soft share of the window is used. */
export function softLimit(b: Budget): number {
  return messageLimit({ ...b, windowTokens: Math.floor(b.windowTokens * b.softShare) });
}

/** The same budget, with messages of at most so many tokens. */
export function boundedTo(b: Budget, tokens: number): Budget {
  const lessTokens = Math.max(0, messageLimit(b) - tokens);
  return { ...b, windowTokens: b.windowTokens - lessTokens };
}

/** A budget that bounds the messages alone. */
export function messagesOnly(tokens: number): Budget {
  return budget({ windowTokens: tokens, safetyTokens: 0, rehydrationTokens: 0, softShare: 1 });
}

/** The step layer's configuration. */
export interface StepConfig {
  readonly modelContextLimit: number;
  readonly systemReserve: number;
  readonly outputReserve: number;
  readonly safetyBuffer: number;
  readonly thresholdPercent: number;
  readonly recentMessagesToKeep: number;
}

export const STEP_DEFAULTS: StepConfig = {
  modelContextLimit: 128_000,
  systemReserve: 2_000,
  outputReserve: 4_000,
  safetyBuffer: 5_000,
  thresholdPercent: 0.8,
  recentMessagesToKeep: 10,
};

export function stepThreshold(config: StepConfig = STEP_DEFAULTS): number {
  const { modelContextLimit, systemReserve, outputReserve, safetyBuffer } = config;
  return Math.floor(
    (modelContextLimit - systemReserve - outputReserve - safetyBuffer) * config.thresholdPercent,
  );
}
