import {
  callsOf,
  hasResults,
  resultsOf,
  resultText,
  type Message,
  type ResultPart,
} from '../message/message.ts';
import {
  integerFrom,
  nonNegative,
  object,
  optional,
  optionsParser,
  type Shape,
  type Shapes,
} from '../check/shape.ts';
import type { CachePrices } from './economics.ts';

/** What trimming leaves whole. */
export interface TrimLimits {
  /** The newest results that stay whole. */
  readonly keepResults: number;
  /** How many characters a result keeps, on average over a batch. */
  readonly standInChars: number;
  /** How many characters a call's arguments keep. */
  readonly argsChars: number;
  /** How much must have been read in vain before a batch pays, as a multiple of what it rewrites. */
  readonly patience: number;
  readonly leastWorth?: number;
  readonly roomFactor?: number;
}

const TRIM_FIELDS: Shapes<TrimLimits> = {
  keepResults: integerFrom(1),
  standInChars: nonNegative,
  argsChars: nonNegative,
  patience: nonNegative,
  leastWorth: optional(nonNegative),
  roomFactor: optional(nonNegative),
};
export const trimShape: Shape = object<TrimLimits>(TRIM_FIELDS);
export const TRIM_DEFAULTS: TrimLimits = {
  keepResults: 6,
  standInChars: 300,
  argsChars: 800,
  patience: 1,
};
export const parseTrimLimits: (options: Partial<TrimLimits>) => TrimLimits = optionsParser(
  'trim',
  TRIM_FIELDS,
  TRIM_DEFAULTS,
);

/** A stand-in has a frame: what is hardly longer stays as it is. */
const FRAME_CHARS = 80;

/** True where trimming would shorten a result. */
export function isLongResult(result: ResultPart, { standInChars }: TrimLimits): boolean {
  return resultText(result).length > standInChars + FRAME_CHARS;
}

/** True where trimming would shorten a call's arguments. */
export function isLongCall({ args }: { readonly args: string }, { argsChars }: TrimLimits): boolean {
  return args.length > argsChars + FRAME_CHARS;
}

/** How many characters trimming takes from a message, before anything of it is chosen. */
function freeableChars(message: Message, limits: TrimLimits): number {
  let chars = 0;
  for (const result of resultsOf(message))
    if (isLongResult(result, limits)) chars += resultText(result).length - limits.standInChars;
  for (const call of callsOf(message))
    if (isLongCall(call, limits)) chars += call.args.length - limits.argsChars;
  return chars;
}

function charsOf(message: Message): number {
  let chars = 1;
  for (const part of message.parts) {
    if (part.kind === 'text' || part.kind === 'reasoning') chars += part.text.length;
    if (part.kind === 'call') chars += part.args.length;
    if (part.kind === 'result') chars += resultText(part).length;
  }
  return chars;
}

interface Item {
  readonly tokens: number;
  readonly freeable: number;
  readonly results: number;
}

/**
 * What a batch of trimming would free now and what it would rewrite, kept up to date as messages come. `wasted` is what
 * was read from the cache since the last batch though trimming could have freed it, in token reads.
 */
export class TrimFigures {
  readonly #limits: TrimLimits;
  readonly #items: Item[] = [];
  #boundary = 0;
  #keptResults = 0;
  #freeable = 0;
  #tail = 0;
  #wasted = 0;
  #lastRole: Message['role'] | undefined;

  constructor(limits: TrimLimits) {
    this.#limits = limits;
  }

  /** Takes the next message after the last batch, with what it costs. */
  push(message: Message, tokens: number): void {
    if (message.role === 'assistant' && this.#lastRole !== 'assistant') this.#wasted += this.#freeable;
    this.#lastRole = message.role;
    const share = freeableChars(message, this.#limits) / charsOf(message);
    const results = hasResults(message) ? resultsOf(message).length : 0;
    this.#items.push({ tokens, freeable: Math.floor(tokens * share), results });
    this.#tail += tokens;
    this.#keptResults += results;
    this.#advance();
  }

  /** The newest results stay: the boundary moves on as others come. */
  #advance(): void {
    for (;;) {
      const item = this.#items[this.#boundary];
      if (item === undefined || this.#keptResults - item.results < this.#limits.keepResults) return;
      this.#keptResults -= item.results;
      this.#boundary += 1;
      this.#freeable += item.freeable;
      // What stands before the first message that changes keeps its place in the cache.
      if (this.#freeable === 0) this.#tail -= item.tokens;
    }
  }

  /** What a batch would free. */
  get freeableTokens(): number {
    return this.#freeable;
  }

  /** What a batch would write again, less what it frees. */
  get rewrittenTokens(): number {
    return this.#tail - this.#freeable;
  }

  get wastedTokens(): number {
    return this.#wasted;
  }
}

/** A batch that frees less than this is not worth a plan. */
const LEAST_FREED_TOKENS = 500;

/**
 * Whether a batch pays: as soon as what was read in vain since the last one costs as much as the rewrite. If as many
 * requests come as have come since, it saves at least what it costs; on a cold cache a rewrite costs nothing.
 */
export function trimPays(
  { freeableTokens, rewrittenTokens, wastedTokens }: Pick<TrimFigures, 'freeableTokens' | 'rewrittenTokens' | 'wastedTokens'>,
  { read, write }: CachePrices,
  cold: boolean,
  patience: number = 1,
): boolean {
  if (freeableTokens < LEAST_FREED_TOKENS) return false;
  if (cold) return true;
  return wastedTokens * read >= patience * Math.max(0, rewrittenTokens * write - (rewrittenTokens + freeableTokens) * read);
}
