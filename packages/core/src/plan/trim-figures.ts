import { integerFrom, nonNegative, optionsParser, type Shapes } from '../check/shape.ts';
import { callsOf, type Message, resultsOf, resultText } from '../message/message.ts';
import type { CachePrices } from './economics.ts';
import type { Plan } from './plan.ts';
import type { Thread } from '../thread/thread.ts';
import { messageLimit, type Budget } from '../tokens/budget.ts';
import type { Counter } from '../tokens/counter.ts';

/** What trimming leaves. */
export interface TrimLimits {
  /** The newest results, which stay whole. */
  readonly keepResults: number;
  /** A result up to about this long stays whole; a longer one keeps this much, or more if it holds much. */
  readonly standInChars: number;
  /** The same for the arguments of a call. */
  readonly argsChars: number;
  /** A line stays if the strings in it are needed again with at least this likelihood per character. */
  readonly leastWorth: number;
}

const FIELDS: Shapes<TrimLimits> = {
  keepResults: integerFrom(1),
  standInChars: nonNegative,
  argsChars: nonNegative,
  leastWorth: nonNegative,
};

/** How much is trimmed, from least to most. */
export type Thrift = 'gentle' | 'careful' | 'balanced' | 'frugal';

/** Longer than any arguments: what the model wrote itself stays. */
const WHOLE_ARGS_CHARS = 1_000_000_000;

/** Each row is a measured point between what a session costs and what its reader still knows: docs/cost.md. */
export const THRIFT: Readonly<Record<Thrift, TrimLimits>> = {
  gentle: {
    keepResults: 30,
    standInChars: 1_500,
    argsChars: WHOLE_ARGS_CHARS,
    leastWorth: 0.00005,
  },
  careful: { keepResults: 6, standInChars: 300, argsChars: 800, leastWorth: 0.0002 },
  balanced: { keepResults: 4, standInChars: 200, argsChars: 400, leastWorth: 0.0004 },
  frugal: { keepResults: 2, standInChars: 200, argsChars: 200, leastWorth: 0.0006 },
};

export const parseTrimLimits: (options: Partial<TrimLimits>) => TrimLimits = optionsParser(
  'trim',
  FIELDS,
  THRIFT.careful,
);

/** The limits are made for at least this many tokens of messages: in a smaller window less stays. */
const FULL_LIMIT_TOKENS = 60_000;
const SMALLEST_SHARE = 0.25;
const FEWEST_RESULTS = 2;
const SHORTEST_CHARS = 200;

/** What trimming leaves if messages may cost so many tokens: a smaller window must be used more sparingly. */
export function limitsWithin(limits: TrimLimits, limitTokens: number): TrimLimits {
  const share = Math.min(1, Math.max(SMALLEST_SHARE, limitTokens / FULL_LIMIT_TOKENS));
  const scaled = (figure: number, least: number): number =>
    Math.min(figure, Math.max(least, Math.round(figure * share)));
  return {
    keepResults: scaled(limits.keepResults, FEWEST_RESULTS),
    standInChars: scaled(limits.standInChars, SHORTEST_CHARS),
    argsChars: scaled(limits.argsChars, SHORTEST_CHARS),
    leastWorth: limits.leastWorth / share,
  };
}

/** A stand-in has a frame: what is hardly longer than one stays whole. */
const FRAME_CHARS = 80;

/** How many characters of a text trimming would take away; none if it is hardly longer than what it leaves. */
function excessChars({ length }: string, leftChars: number): number {
  return length > leftChars + FRAME_CHARS ? length - leftChars : 0;
}

/** The share of a message that trimming would free, before anything of it is chosen. */
function freeableShare(message: Message, limits: TrimLimits): number {
  let [freeable, chars] = [0, 1];
  for (const part of message.parts) {
    switch (part.kind) {
      case 'text':
      case 'reasoning':
        chars += part.text.length;
        break;
      case 'call':
        chars += part.args.length;
        freeable += excessChars(part.args, limits.argsChars);
        break;
      case 'result': {
        const text = resultText(part);
        chars += text.length;
        freeable += excessChars(text, limits.standInChars);
        break;
      }
      case 'image':
      case 'file':
      case 'opaque':
        break;
    }
  }
  return freeable / chars;
}

interface Item {
  readonly tokens: number;
  readonly freeableTokens: number;
  readonly results: number;
}

/** What a batch of trimming would free now, what it would write again, and what was read in vain without it. */
export interface TrimCase {
  readonly freeableTokens: number;
  readonly rewrittenTokens: number;
  /** Added up over the requests since the last batch. */
  readonly wastedTokens: number;
}

/** The figures that say when a batch pays, kept up to date as messages come after the last batch. */
class TrimFigures {
  readonly #limits: TrimLimits;
  readonly #items: Item[] = [];
  /** The first item that stays whole, and how many results there are from there on. */
  #boundary = 0;
  #keptResults = 0;
  #freeable = 0;
  #tail = 0;
  #wasted = 0;
  #lastRole: Message['role'] | undefined;

  constructor(limits: TrimLimits) {
    this.#limits = limits;
  }

  get case(): TrimCase {
    return {
      freeableTokens: this.#freeable,
      rewrittenTokens: this.#tail - this.#freeable,
      wastedTokens: this.#wasted,
    };
  }

  /** Takes the next message, with what it costs. A model's answer shows that a request was made. */
  push(message: Message, tokens: number): void {
    if (message.role === 'assistant' && this.#lastRole !== 'assistant')
      this.#wasted += this.#freeable;
    this.#lastRole = message.role;
    const freeableTokens = Math.floor(tokens * freeableShare(message, this.#limits));
    const results = message.parts.filter(({ kind }) => kind === 'result').length;
    this.#items.push({ tokens, freeableTokens, results });
    this.#tail += tokens;
    this.#keptResults += results;
    this.#advance();
  }

  /** The newest results stay: the boundary moves on as others come. */
  #advance(): void {
    for (;;) {
      const item = this.#items[this.#boundary];
      if (item === undefined || this.#keptResults - item.results < this.#limits.keepResults) return;
      this.#boundary += 1;
      this.#keptResults -= item.results;
      this.#freeable += item.freeableTokens;
      // What precedes the first change stays cached.
      if (this.#freeable === 0) this.#tail -= item.tokens;
    }
  }
}

/** What the figures were computed for. */
interface Computed {
  readonly thread: Thread;
  readonly plan: Plan;
  readonly config: {
    readonly counter: Counter;
    readonly budget: Budget;
    readonly policy: { readonly ladder: readonly { readonly trims?: TrimLimits }[] };
  };
}

/** What a batch of trimming would do to a thread, computed step by step: only new messages cost anything. */
export class GrowingTrim {
  #computed: Computed | undefined;
  #figures: TrimFigures | undefined;

  /** Undefined if the policy does not trim. */
  of({ thread, plan, config }: Computed): TrimCase | undefined {
    const { counter, policy, budget } = config;
    const limits = policy.ladder.find(({ trims }) => trims !== undefined)?.trims;
    if (limits === undefined) return undefined;
    const before = this.#computed;
    const isSame =
      before !== undefined &&
      before.plan === plan &&
      before.config.counter === counter &&
      before.config.policy === policy &&
      messageLimit(before.config.budget) === messageLimit(budget) &&
      before.thread.length <= thread.length;
    const figures =
      this.#figures === undefined || !isSame
        ? new TrimFigures(limitsWithin(limits, messageLimit(budget)))
        : this.#figures;
    const from = isSame ? before.thread.length : Math.max(plan.start, plan.trimmedTo ?? 0);
    if (!isSame || before.thread !== thread)
      for (const { message } of thread.path(from)) figures.push(message, counter.message(message));
    this.#computed = { thread, plan, config };
    this.#figures = figures;
    return figures.case;
  }
}

/** A batch that frees less is not worth a plan. */
export const LEAST_FREED_TOKENS = 500;

/**
 * Whether a batch pays: as soon as what was read in vain since the last one has cost as much as the rewrite will. If as
 * many requests come as have come since, the batch saves more than it costs; and waiting longer or shorter costs more
 * on average, since reads in vain grow with the square of the requests. On a cold cache a rewrite costs nothing.
 */
export function trimPays(
  { freeableTokens, rewrittenTokens, wastedTokens }: TrimCase,
  { read, write }: CachePrices,
  cache: 'warm' | 'cold',
): boolean {
  if (freeableTokens < LEAST_FREED_TOKENS) return false;
  if (cache === 'cold') return true;
  const before = (rewrittenTokens + freeableTokens) * read;
  return wastedTokens * read >= rewrittenTokens * write - before;
}

/** How many results a message holds that trimming would shorten, and how many calls. */
export function longParts(
  message: Message,
  { standInChars, argsChars }: TrimLimits,
): { readonly results: number; readonly calls: number } {
  const results = resultsOf(message).map(resultText);
  return {
    results: results.filter((text) => excessChars(text, standInChars) > 0).length,
    calls: callsOf(message).filter(({ args }) => excessChars(args, argsChars) > 0).length,
  };
}
