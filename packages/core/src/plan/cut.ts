import { lastIndex } from '../check/list.ts';
import {
  callsOf,
  hasCalls,
  hasResults,
  isSummary,
  resultsOf,
  startsTurn,
  type Message,
} from '../message/message.ts';
import {
  boolean,
  nonNegative,
  fraction,
  variant,
  integerFrom,
  optional,
  type Shape,
} from '../check/shape.ts';

/** A message as a cut rule sees it. */
export interface CutItem {
  readonly message: Message;
  readonly tokens: number;
  /** What it costs as it came in, if it is shown shortened. */
  readonly wholeTokens?: number;
  /** True if no pair would be parted by cutting before it. */
  readonly startsUnit: boolean;
}

/**
 * Says which of the newest messages stay as they are. The messages before the cut may be compacted. docs/plan.md has a
 * table of all kinds.
 */
export type CutRule =
  /** The newest messages by number, and the calls of their results. */
  | { readonly kind: 'keep-messages'; readonly messages: number }
  /** The newest messages by tokens. Without `splitTurns`, a turn that fits stays whole. */
  | {
      readonly kind: 'keep-tokens';
      readonly tokens: number;
      readonly splitTurns: boolean;
      /** If there is no space even for a few words of each of the newest messages, none of them stays. */
      readonly orNone?: boolean;
    }
  /**
   * The newest messages that fit into a share of the target. They may begin inside a turn. If a summary of
   * `summaryTokens` needs the space, the share becomes smaller, down to half.
   */
  | { readonly kind: 'keep-share'; readonly share: number; readonly summaryTokens?: number }
  | BesideSummary
  /**
   * The newest messages by number, beginning at a user message. Messages of sub-agents and synthetic messages do not
   * count.
   */
  | { readonly kind: 'sliding-window'; readonly messages: number }
  /** The newest whole turns. */
  | { readonly kind: 'turn-window'; readonly turns: number }
  /**
   * The newest messages within a number of tokens, beginning at a user message. The tokens of synthetic messages are
   * subtracted first.
   */
  | { readonly kind: 'token-window'; readonly tokens: number }
  /** Only pins stay. */
  | { readonly kind: 'everything' };

/** The newest messages that fit beside a summary. Long results count as if they were shortened. */
export interface BesideSummary {
  readonly kind: 'beside-summary';
  /** How many tokens the summary should have. */
  readonly summaryTokens: number;
  /** The smallest and the largest share of the target that the newest messages take, without system messages. */
  readonly leastShare: number;
  readonly mostShare: number;
}

export const cutShape: Shape = variant<CutRule>(
  "a cut rule, such as { kind: 'turn-window', turns: 5 }",
  {
    'keep-messages': { messages: integerFrom(0) },
    'keep-tokens': { tokens: nonNegative, splitTurns: boolean, orNone: optional(boolean) },
    'keep-share': { share: fraction, summaryTokens: optional(nonNegative) },
    'beside-summary': { summaryTokens: nonNegative, leastShare: fraction, mostShare: fraction },
    'sliding-window': { messages: integerFrom(1) },
    'turn-window': { turns: integerFrom(1) },
    'token-window': { tokens: nonNegative },
    everything: {},
  },
);

export interface Cut {
  /** The first item that stays; 0 if there is nothing to take away. */
  readonly index: number;
  /** Where the turn of that item starts. */
  readonly turnStart: number;
  /** True if the cut falls inside a turn, so that its beginning is summarised apart. */
  readonly split: boolean;
}

export interface CutLimits {
  /** The size that the ladder aims at: a single turn above it must be split. */
  readonly targetTokens: number;
  /** What no prompt may exceed: a number of tokens to keep is at most a third of it. No bound if absent. */
  readonly limitTokens?: number;
}

export function findCut(rule: CutRule, items: readonly CutItem[], limits: CutLimits): Cut {
  return describeCut(items, cutIndex(rule, items, limits));
}

function cutIndex(rule: CutRule, items: readonly CutItem[], limits: CutLimits): number {
  switch (rule.kind) {
    case 'keep-messages':
      return cutIndexForMessages(items, rule.messages);
    case 'keep-tokens': {
      const tokens = Math.min(rule.tokens, mostKept(items, limits));
      const index = rule.splitTurns
        ? cutIndexForTokens(items, tokens)
        : cutIndexForWholeTurns(items, tokens, limits.targetTokens);
      return rule.orNone === true && tokensWhenShortened(items.slice(index)) > tokens
        ? items.length
        : index;
    }
    case 'keep-share':
      return cutIndexForTokens(items, shareOf(limits.targetTokens, rule.share, rule.summaryTokens));
    case 'beside-summary':
      return cutIndexBesideSummary(rule, items, limits);
    case 'sliding-window':
      return toTurnStart(items, nthRealFromEnd(items, rule.messages));
    case 'turn-window':
      return turnWindow(items, rule.turns);
    case 'token-window':
      return toTurnStart(items, suffixWithin(items, rule.tokens));
    case 'everything':
      return items.length;
  }
}

function shareOf(targetTokens: number, share: number, summaryTokens: number = 0): number {
  const left = Math.max(targetTokens / 2, targetTokens - summaryTokens);
  return Math.floor(Math.min(targetTokens * share, left));
}

/** The cut at an index: where its turn starts, and whether it falls inside one. */
export function describeCut(items: readonly CutItem[], index: number): Cut {
  let turnStart = Math.min(index, items.length - 1);
  while (turnStart > 0 && !turnStartsAt(items, turnStart)) turnStart--;
  const split =
    index < items.length &&
    index > 0 &&
    !turnStartsAt(items, index) &&
    turnStartsAt(items, turnStart);
  return { index, turnStart: index >= items.length ? index : turnStart, split };
}

function turnStartsAt(items: readonly CutItem[], index: number): boolean {
  const item = items[index];
  return item !== undefined && startsTurn(item.message);
}

function cutIndexForMessages(items: readonly CutItem[], keep: number): number {
  if (items.length <= keep + 1) return 0;
  let index = items.length - keep;
  while (index > 0 && (items[index]?.message.role === 'tool' || items[index]?.startsUnit === false))
    index--;
  return index;
}

/**
 * Results count toward what is kept, but are not cut points; neither are summaries, nor messages by system or tools.
 */
function isCutPoint({ message, startsUnit }: CutItem): boolean {
  const author = message.meta?.author ?? message.role;
  const isSpoken = author !== 'system' && author !== 'tool';
  return startsUnit && isSpoken && !hasResults(message) && !isSummary(message);
}

/** Walks back until the kept tokens reach the limit, then takes the first cut point at or after it. */
function cutIndexForTokens(items: readonly CutItem[], tokens: number): number {
  const reached = walkBack(items, tokens);
  if (reached === undefined) return 0;
  for (let i = reached; i < items.length; i++) if (isCutPoint(items[i] as CutItem)) return i;
  for (let i = reached; i > 0; i--) if (isCutPoint(items[i] as CutItem)) return i;
  return 0;
}

/** About what messages cost in a few words each. */
function tokensWhenShortened(items: readonly CutItem[]): number {
  return items.reduce((sum, { message, tokens }) => {
    const parts = callsOf(message).length + resultsOf(message).length;
    return sum + Math.min(tokens, LEAST_PART_TOKENS * Math.max(1, parts));
  }, 0);
}

const LEAST_PART_TOKENS = 60;

/**
 * The most that a number of tokens to keep may mean: figures are made for large windows, and in a small one the rest
 * must leave space for a summary.
 */
export function mostKept(items: readonly CutItem[], { limitTokens }: CutLimits): number {
  if (limitTokens === undefined) return Number.POSITIVE_INFINITY;
  let space = limitTokens;
  for (const { message, tokens } of items) if (message.role === 'system') space -= tokens;
  return Math.max(0, Math.floor(space * MOST_KEPT_SHARE));
}

const MOST_KEPT_SHARE = 1 / 3;

/** What may be kept next to a summary, in tokens. In a prompt of a given size: all that the summary leaves. */
export function besideSummary(
  { summaryTokens, leastShare, mostShare }: BesideSummary,
  items: readonly CutItem[],
  { targetTokens, limitTokens = Number.POSITIVE_INFINITY }: CutLimits,
): number {
  let [system, all, turns] = [0, 0, 0];
  for (const { message, tokens } of items) {
    all += tokens;
    if (startsTurn(message)) turns += 1;
    if (message.role === 'system') system += tokens;
  }
  const left = Math.max(0, targetTokens - Math.min(system, targetTokens / 2));
  const summary = Math.min(summaryTokens, (all - system) * MOST_OF_SUMMARISED);
  const most = targetTokens >= limitTokens ? left : left * mostShare;
  const least =
    turns > FEW_TURNS ? leastShare : Math.max(leastShare, Math.min(mostShare, FEW_TURNS_SHARE));
  return Math.floor(Math.max(left * least, Math.min(most, left - summary)));
}

/** A conversation with so few requests needs a short summary: what the agent saw last gets at least this share. */
const [FEW_TURNS, FEW_TURNS_SHARE] = [2, 0.38];
/** A summary hardly ever needs a larger share than this of what it replaces. */
const MOST_OF_SUMMARISED = 0.45;

/** A long result counts as what an excerpt of it would cost, and leaves space for more of it than that. */
const EXCERPT_SHARE = 0.05;
const LEAST_EXCERPT_TOKENS = 200;
const SHARE_BEFORE_EXCERPTS = 0.75;

function cutIndexBesideSummary(
  rule: BesideSummary,
  items: readonly CutItem[],
  limits: CutLimits,
): number {
  const space = besideSummary(rule, items, limits);
  const most = Math.max(LEAST_EXCERPT_TOKENS, limits.targetTokens * EXCERPT_SHARE);
  // What was already shortened counts as before, so that the cut does not move.
  const shortened = items.map((item) => {
    const { message, tokens, wholeTokens = tokens } = item;
    const isLong = hasResults(message) || (hasCalls(message) && wholeTokens > 2 * most);
    return isLong && tokens > 0
      ? { ...item, tokens: Math.min(wholeTokens, hasResults(message) ? most : 2 * most) }
      : item;
  });
  return cutIndexForTokens(shortened, Math.floor(space * SHARE_BEFORE_EXCERPTS));
}

function cutIndexForWholeTurns(
  items: readonly CutItem[],
  tokens: number,
  targetTokens: number,
): number {
  const reached = walkBack(items, tokens);
  if (reached === undefined) return 0;
  for (let i = reached; i < items.length; i++) if (turnStartsAt(items, i)) return i;
  const last = lastIndex(items, (item) => startsTurn(item.message));
  const lastTurnTokens = items.slice(Math.max(0, last)).reduce((sum, item) => sum + item.tokens, 0);
  return last < 0 || lastTurnTokens > targetTokens ? cutIndexForTokens(items, tokens) : last;
}

/** The index at which the tokens from the end reach the limit, or undefined if they never do. */
function walkBack(items: readonly CutItem[], tokens: number): number | undefined {
  let kept = 0;
  for (let i = items.length - 1; i >= 0; i--) {
    kept += items[i]?.tokens ?? 0;
    if (kept >= tokens) return i;
  }
  return undefined;
}

function nthRealFromEnd(items: readonly CutItem[], n: number): number {
  let real = 0;
  for (let i = items.length - 1; i >= 0; i--) {
    const { message } = items[i] as CutItem;
    // A sub-agent's messages go with those around them, and take none of the places.
    if (isSummary(message) || message.meta?.branch !== undefined) continue;
    if (++real === n) return i;
  }
  return 0;
}

function suffixWithin(items: readonly CutItem[], tokens: number): number {
  let left = tokens;
  for (const item of items) if (isSummary(item.message)) left -= item.tokens;
  let first = items.length;
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i] as CutItem;
    if (isSummary(item.message)) continue;
    left -= item.tokens;
    if (left < 0) break;
    first = i;
  }
  return first;
}

function turnWindow(items: readonly CutItem[], turns: number): number {
  let seen = 0;
  for (let i = items.length - 1; i >= 0; i--) {
    if (turnStartsAt(items, i) && ++seen === turns) return i;
  }
  return 0;
}

/**
 * Forward to the next user message, so that what is kept starts at one. If none follows, back to the start of the
 * running turn: it is never taken away whole.
 */
function toTurnStart(items: readonly CutItem[], index: number): number {
  for (let i = index; i < items.length; i++) if (turnStartsAt(items, i)) return i;
  for (let i = Math.min(index, items.length) - 1; i >= 0; i--) if (turnStartsAt(items, i)) return i;
  return 0;
}
