import type { Message } from '../thread/message.ts';
import { counterOf, type Counter } from './counter.ts';
import { mediaTokens, type MediaProvider } from './media.ts';

/**
 * How many of a model's tokens one of the estimator's units is. It starts from a table by model family and learns
 * from reported usage; it moves up at once and down slowly, so that it errs on the safe side.
 */
export interface Calibration {
  readonly factor: number;
  readonly samples: number;
}

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
const HIGHEST = 4;
const DOWNWARD = 0.2;

export function startCalibration(model?: string): Calibration {
  const family = FAMILIES.find(([pattern]) => model !== undefined && pattern.test(model));
  return { factor: family?.[1] ?? UNKNOWN_FAMILY, samples: 0 };
}

/** Where a learnt figure goes once another was seen. */
export function towards(known: number, seen: number): number {
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
  const factor = towards(calibration.factor, seen);
  return { factor: Math.min(HIGHEST, Math.max(LOWEST, factor)), samples: calibration.samples + 1 };
}

/** A counter times what was learnt of its model; what it counted before is not counted again. */
export function scaled(counter: Counter, { factor }: Calibration): Counter {
  if (factor === 1) return counter;
  const text = (t: string): number => Math.ceil(counter.text(t) * factor);
  const message = (m: Message): number => Math.ceil(counter.message(m) * factor);
  return counterOf({ name: `${counter.name}×${factor.toFixed(3)}`, text }, message);
}

/**
 * The default counter where no tokenizer is public, to be scaled by a model's factor: runs of characters weighed by what
 * they are.
 */
export function estimator(provider?: MediaProvider): Counter {
  const media = mediaTokens(provider);
  return counterOf({ name: 'estimate', text: (text) => Math.ceil(units(text)), media });
}

/** What runs of characters cost. A word is about one token, a long one more; signs and digits join little. */
const WORD = 0.85;
const SHORT_WORD = 5;
const LETTER_OF_LONG_WORD = 0.3;
const THREE_DIGITS = 1.8;
const SIGN = 0.7;
const NEXT_SIGN = 0.35;
const GAP = 0.75;
const LONG_GAP = 12;
const OTHER_ALPHABET = 0.6;
const IDEOGRAPH = 0.9;
const SYMBOL = 1.2;

const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const SIGNS = 4;
const BLANK = 5;
const BREAK = 6;
const ALPHABET = 7;
const WIDE = 8;
const SYMBOLS = 9;

/** Estimator units of a text, in one pass: mostly 1.0 to 1.2 times o200k over recorded conversations, seldom below 1. */
function units(text: string): number {
  let sum = 0;
  let state = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const kind = code < 128 ? (ASCII_KINDS[code] as number) : kindBeyondAscii(code);
    state = NEXT[(state << 4) | kind] as number;
    sum += PRICES[state] as number;
  }
  return sum;
}

const ASCII_KINDS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => asciiKind(code));

function asciiKind(code: number): number {
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 48 && code <= 57) return DIGIT;
  if (code === 32 || code === 9) return BLANK;
  return code === 10 || code === 13 ? BREAK : SIGNS;
}

function kindBeyondAscii(code: number): number {
  if (code < 0x2000) return ALPHABET;
  return code >= 0x3000 && code < 0xd800 ? WIDE : SYMBOLS;
}

/**
 * Every character is looked up, because branches on the kinds of a text's characters are mostly guessed wrong. A state
 * is the kind of a character and its place in its run, four bits each; where a run is longer than what prices tell
 * apart, its places come again.
 */
const STATES = 256;
const PRICES: Float64Array = Float64Array.from({ length: STATES }, (_, state) =>
  priceOf(state >> 4, state & 15),
);
const NEXT: Uint8Array = Uint8Array.from({ length: STATES << 4 }, (_, at) => {
  const [before, place, kind] = [at >> 8, (at >> 4) & 15, at & 15];
  return (kind << 4) | (continues(kind, before, place) ? placeBehind(kind, place) : 1);
});

function priceOf(kind: number, place: number): number {
  switch (kind) {
    case LOWER:
    case UPPER:
      return place === 1 ? WORD : place > SHORT_WORD ? LETTER_OF_LONG_WORD : 0;
    case DIGIT:
      return place === 1 ? THREE_DIGITS : 0;
    case SIGNS:
      return place === 1 ? SIGN : NEXT_SIGN;
    case BLANK:
    case BREAK:
      return place === 2 || (kind === BREAK && place === 1) ? GAP : 0;
    case ALPHABET:
      return OTHER_ALPHABET;
    case WIDE:
      return IDEOGRAPH;
    default:
      return SYMBOL;
  }
}

function placeBehind(kind: number, place: number): number {
  switch (kind) {
    case LOWER:
    case UPPER:
      return Math.min(place, SHORT_WORD) + 1;
    case DIGIT:
      return (place % 3) + 1;
    case BLANK:
    case BREAK:
      return place > LONG_GAP ? 2 : place + 1;
    default:
      return 2;
  }
}

/** A capital begins a word, unless it follows a capital; blanks and breaks are one run. */
function continues(kind: number, before: number, place: number): boolean {
  if (kind === LOWER && before === UPPER) return place === 1;
  const blank = kind === BLANK || kind === BREAK;
  return blank ? before === BLANK || before === BREAK : kind === before;
}
