import type { Message } from '../message/message.ts';
import { type Counter, counterOf, type MediaProvider, mediaTokens } from './counter.ts';
import { weighRuns } from './runs.ts';

/**
 * How many of a model's tokens one of the estimator's units is. It starts from a table by model family and learns
 * from reported usage; it moves up at once and half-way down, so that it errs on the safe side.
 */
export interface Calibration {
  readonly factor: number;
  readonly samples: number;
}

/** For a counter that counts as the provider does. */
export const EXACT: Calibration = { factor: 1, samples: 0 };

/** Families whose tokenizer is not public, measured against their reported usage. The first match counts. */
const FAMILIES: readonly (readonly [pattern: RegExp, factor: number])[] = [
  [/claude-(?:opus|sonnet|haiku|fable|mythos)-(?:[5-9]|4[.-][7-9])/, 1.7],
  [/claude/, 1.3],
  [/gemini|gemma/, 1.1],
  [/gpt|o\d|codex/, 1],
];
const UNKNOWN_FAMILY = 1.3;
/** Requests smaller than this are mostly overhead that was not estimated: they teach nothing. */
const MIN_SAMPLE_TOKENS = 500;
const LOWEST = 0.5;
export const HIGHEST_FACTOR = 4;
/** What came may have been cheaper than what comes; but a count that stays too high compacts what would fit. */
const DOWNWARD = 0.5;

export function startCalibration(model?: string): Calibration {
  const family = FAMILIES.find(([pattern]) => model !== undefined && pattern.test(model));
  return { factor: family?.[1] ?? UNKNOWN_FAMILY, samples: 0 };
}

/** The learnt figure after another one was seen: up at once, half-way down. */
export function upAtOnce(known: number, seen: number): number {
  return seen > known ? seen : known + (seen - known) * DOWNWARD;
}

/** Learns from one request: what its messages were estimated at with `calibration`, and what they were reported at. */
export function calibrate(
  calibration: Calibration,
  estimatedTokens: number,
  reportedTokens: number,
): Calibration {
  if (estimatedTokens < MIN_SAMPLE_TOKENS || reportedTokens <= 0) return calibration;
  const seen = (calibration.factor * reportedTokens) / estimatedTokens;
  const factor = upAtOnce(calibration.factor, seen);
  return {
    factor: Math.min(HIGHEST_FACTOR, Math.max(LOWEST, factor)),
    samples: calibration.samples + 1,
  };
}

/** A counter times what was learnt of its model; what it counted before is not counted again. */
export function scaled(counter: Counter, { factor }: Calibration): Counter {
  if (factor === 1) return counter;
  const text = (t: string): number => Math.ceil(counter.text(t) * factor);
  const message = (m: Message): number => Math.ceil(counter.message(m) * factor);
  return counterOf({ name: `${counter.name}×${factor.toFixed(3)}`, text }, message);
}

/**
 * The default counter if no tokenizer is public, scaled by a model's factor: runs of characters weighed by what they
 * are.
 */
export function estimator(provider?: MediaProvider): Counter {
  const media = mediaTokens(provider);
  return counterOf({ name: 'estimate', text: (text) => Math.ceil(weighRuns(text)), media });
}
