import type { Budget } from '../tokens/budget.ts';
import { besideMessages, softLimit } from '../tokens/budget.ts';
import {
  func,
  nonNegative,
  fraction,
  string,
  listOf,
  oneOf,
  optional,
  variant,
  type Shape,
} from '../check/shape.ts';

/** How much a prompt holds. */
export interface PromptSize {
  /** What the prompt's messages cost. */
  readonly tokens: number;
  readonly messages: number;
  /** Real user messages of the root branch in the prompt. */
  readonly turns: number;
}

/** What a trigger sees. Every figure is kept up to date as messages come, so that checking costs nothing. */
export interface TriggerInput extends PromptSize {
  /** What the provider reported for the whole request, with the rest estimated; `tokens` if nothing was reported. */
  readonly contextTokens: number;
  readonly budget: Budget;
}

/**
 * Says when to compact. A trigger is data, except for the kind `custom`, which has a function of yours. docs/plan.md
 * has a table of all kinds.
 */
export type Trigger =
  /**
   * Fires if the messages exceed `budget.softShare` of the window, less the tokens of system prompt, tools and output.
   */
  | { readonly kind: 'soft-limit' }
  /**
   * Fires if system prompt, tools and messages together exceed a share of the window. With `of: 'reported'`, the size
   * that the provider reported counts if it is larger.
   */
  | { readonly kind: 'window-share'; readonly share: number; readonly of?: 'reported' }
  /**
   * Fires if fewer tokens than the reserve are left in the window. In a small window, the reserve is at most half of
   * it.
   */
  | { readonly kind: 'reserve'; readonly reserveTokens: number }
  /** Fires if the prompt has at least a number of tokens and, if `messages` is given, more messages than that. */
  | { readonly kind: 'tokens'; readonly atLeast: number; readonly messages?: number }
  /** Fires if the prompt has more than a number of turns. */
  | { readonly kind: 'turns'; readonly over: number }
  | { readonly kind: 'any-of'; readonly triggers: readonly Trigger[] }
  | { readonly kind: 'all-of'; readonly triggers: readonly Trigger[] }
  | {
      readonly kind: 'custom';
      readonly name: string;
      readonly fires: (check: TriggerInput) => boolean;
    };

export const triggerShape: Shape = variant<Trigger>('a trigger, such as turnCount(20) makes', {
  'soft-limit': {},
  'window-share': { share: fraction, of: optional(oneOf('reported')) },
  reserve: { reserveTokens: nonNegative },
  tokens: { atLeast: nonNegative, messages: optional(nonNegative) },
  turns: { over: nonNegative },
  'any-of': { triggers: listOf((inner, path) => triggerShape(inner, path)) },
  'all-of': { triggers: listOf((inner, path) => triggerShape(inner, path)) },
  custom: { name: string, fires: func },
});

function made(by: string, trigger: Trigger): Trigger {
  triggerShape(trigger, by);
  return trigger;
}

/** Fires if the prompt has more than `over` turns. */
export const turnCount = (over: number): Trigger => made('turnCount', { kind: 'turns', over });
/** Fires if the prompt has at least `atLeast` tokens. */
export const tokenCount = (atLeast: number): Trigger =>
  made('tokenCount', { kind: 'tokens', atLeast });
/** Fires if at least one of the triggers fires. */
export const anyOf = (...triggers: readonly Trigger[]): Trigger =>
  made('anyOf', { kind: 'any-of', triggers });
/** Fires if all of the triggers fire. */
export const allOf = (...triggers: readonly Trigger[]): Trigger =>
  made('allOf', { kind: 'all-of', triggers });
/** Fires if your function `fires` returns true. Events show `name` as the reason. */
export const when = (name: string, fires: (check: TriggerInput) => boolean): Trigger =>
  made('when', { kind: 'custom', name, fires });

/** Why a trigger fires, in words for a person; undefined if it does not. */
export function firedBecause(trigger: Trigger, check: TriggerInput): string | undefined {
  const { tokens, contextTokens, budget } = check;
  switch (trigger.kind) {
    case 'soft-limit':
      return tokens > softLimit(budget)
        ? `${tokens} tokens > soft limit ${softLimit(budget)}`
        : undefined;
    case 'window-share': {
      const most = Math.floor(budget.windowTokens * trigger.share);
      const estimated = tokens + budget.systemTokens + budget.toolTokens;
      const sent = trigger.of === 'reported' ? Math.max(estimated, contextTokens) : estimated;
      return sent > most ? `${sent} tokens > ${trigger.share} of the window (${most})` : undefined;
    }
    case 'reserve': {
      const { windowTokens } = budget;
      const most = Math.max(windowTokens - trigger.reserveTokens, Math.floor(windowTokens / 2));
      return contextTokens > most
        ? `context ${contextTokens} > window - reserve (${most})`
        : undefined;
    }
    case 'tokens':
      if (trigger.messages !== undefined && check.messages <= trigger.messages) return undefined;
      return tokens >= trigger.atLeast ? `${tokens} tokens >= ${trigger.atLeast}` : undefined;
    case 'turns':
      return check.turns > trigger.over ? `${check.turns} turns > ${trigger.over}` : undefined;
    case 'any-of': {
      for (const inner of trigger.triggers) {
        const reason = firedBecause(inner, check);
        if (reason !== undefined) return reason;
      }
      return undefined;
    }
    case 'all-of': {
      const reasons = trigger.triggers.map((inner) => firedBecause(inner, check));
      return reasons.length > 0 && reasons.every((reason) => reason !== undefined)
        ? reasons.join(' and ')
        : undefined;
    }
    case 'custom':
      return trigger.fires(check) ? trigger.name : undefined;
  }
}

/** What the provider counted beyond all that is known of the request: a target that ignores it frees nothing. */
export function unseenTokens({ tokens, contextTokens, budget }: TriggerInput): number {
  return Math.max(0, contextTokens - tokens - besideMessages(budget));
}

/** What has to come on top of what the last compaction left before soft pressure compacts again. */
const QUIET_SHARE = 0.2;

/**
 * True if a trigger fires on hardly more than the floor: what the last compaction left, or what none may change. A
 * compaction would free little, and the next message would ask for another.
 */
export function firesNearFloor(trigger: Trigger, check: TriggerInput, floor: PromptSize): boolean {
  const tokens = more(floor.tokens);
  if (check.tokens >= tokens) return false;
  const contextTokens = check.contextTokens + tokens - check.tokens;
  const soon = { tokens, contextTokens, messages: more(floor.messages), turns: more(floor.turns) };
  return firedBecause(trigger, { ...check, ...soon }) !== undefined;
}

function more(figure: number): number {
  return Math.ceil(figure * (1 + QUIET_SHARE));
}
