import { aimOf, firstSightTokens } from '../../compact/policy.ts';
import { lastOf } from '../../check/list.ts';
import { mediaBytes } from '../../message/message.ts';
import { rewritePays } from '../../plan/economics.ts';
import {
  firedBecause,
  firesNearFloor,
  unseenTokens,
  type TriggerInput,
} from '../../plan/trigger.ts';
import { LEAST_FREED_TOKENS, type TrimCase, trimPays } from '../../plan/trim-figures.ts';
import { beginsTurn, type PromptBuilder } from '../../render/builder.ts';
import type { PromptMessage } from '../../render/prompt.ts';
import { besideMessages } from '../../tokens/budget.ts';
import type { SessionState } from './state.ts';

/** What has to happen before a prompt is sent, in this order. */
export type Step =
  /** The provider has compacted the conversation: the prompt starts there. */
  | { readonly kind: 'start-at-compaction'; readonly index: number }
  | { readonly kind: 'expire' }
  /** Pictures and files take more bytes than a request may contain. */
  | { readonly kind: 'externalize-media' }
  | { readonly kind: 'shorten-unread' }
  | { readonly kind: 'restore-pins' }
  | { readonly kind: 'trim'; readonly reason: string }
  | { readonly kind: 'compact'; readonly reason: string }
  | { readonly kind: 'postpone'; readonly reason: string }
  | { readonly kind: 'remind' }
  | { readonly kind: 'release-reasoning' }
  | { readonly kind: 'ready' };

/** Once one of these was taken, the trigger has been asked. */
const AFTER_DECISION = ['compact', 'postpone', 'remind', 'release-reasoning'] as const;

/** Pins that were cut are shown whole again only if this share of the limit is enough for them. */
const RESTORE_SHARE = 0.85;

/** One request for a prompt. */
export interface PromptRequest {
  readonly now: number;
  /** The state when the prompt was asked for. */
  readonly start: SessionState;
  /** What the messages may cost. */
  readonly limitTokens: number;
  /** Steps that were taken for this request. */
  readonly done: ReadonlySet<Step['kind']>;
}

/** Computes what a batch of trimming would do; undefined if the policy does not trim. */
export type TrimOf = () => TrimCase | undefined;

/** True if nothing was said since the plan was made, or since a compaction was tried: the trigger has its answer. */
function isSettled({ version, plan, thread, figures }: SessionState): boolean {
  const isPlanned = version > 0 && plan.threadVersion === thread.length;
  return figures.hasNewBudget !== true && (isPlanned || figures.triedAt === thread.length);
}

/** The request once a step was taken. */
export function withDone(request: PromptRequest, { kind }: Step): PromptRequest {
  return { ...request, done: new Set(request.done).add(kind) };
}

/** The next step towards a prompt. Pure: the same state, prompt and request give the same step. */
export function next(
  state: SessionState,
  prompt: PromptBuilder,
  trim: TrimOf,
  request: PromptRequest,
): Step {
  const { config, plan } = state;
  const { done } = request;
  if (!AFTER_DECISION.some((kind) => done.has(kind))) {
    const input = triggerInput(state, prompt);
    const step =
      upkeep(state, prompt, trim, input, request) ?? decided(state, prompt, input, request);
    if (step !== undefined) return step;
  }
  // Only what was compacted can be brought back.
  if (plan.records.length > 0 && !done.has('remind')) return { kind: 'remind' };
  if (config.rules.bindsReasoning && !done.has('release-reasoning'))
    return { kind: 'release-reasoning' };
  return { kind: 'ready' };
}

/** What has to be done at any pressure. */
function upkeep(
  state: SessionState,
  prompt: PromptBuilder,
  trim: TrimOf,
  { tokens }: TriggerInput,
  { now, start, limitTokens, done }: PromptRequest,
): Step | undefined {
  const { figures, config, plan } = state;
  const { compactionAt: index } = figures;
  if (!done.has('start-at-compaction') && index !== undefined && index > plan.start)
    return { kind: 'start-at-compaction', index };
  const isFree = !isBound(state);
  if (isFree && !done.has('expire') && now > figures.nextExpiry) return { kind: 'expire' };
  const { mediaBytes: most = Number.POSITIVE_INFINITY } = config.rules;
  const mayExceed = !done.has('externalize-media') && figures.mediaBytes > most;
  if (mayExceed && exceedsMediaBytes(state, prompt, most)) return { kind: 'externalize-media' };
  const mayShorten = !done.has('shorten-unread') && tokens > limitTokens;
  if (mayShorten && figures.largestUnsentTokens > firstSightTokens(config.policy, config.budget))
    return { kind: 'shorten-unread' };
  const { cutPinTokens = 0 } = plan;
  const mayRestore = isFree && !done.has('restore-pins') && cutPinTokens > 0;
  const hasSpace = tokens + cutPinTokens <= limitTokens * RESTORE_SHARE;
  if (mayRestore && hasSpace && !isSettled(start)) return { kind: 'restore-pins' };
  const mayTrim = isFree && !done.has('trim') && tokens >= LEAST_FREED_TOKENS;
  return mayTrim ? trimming(state, trim, now) : undefined;
}

/** Whether a batch of trimming pays now. */
function trimming(state: SessionState, trim: TrimOf, now: number): Step | undefined {
  const { economics } = state.config.policy;
  if (economics === undefined || state.plan.undid !== undefined) return undefined;
  const cache = isCold(state, now) ? 'cold' : 'warm';
  const batch = trim();
  if (batch === undefined || !trimPays(batch, economics.prices, cache)) return undefined;
  return { kind: 'trim', reason: `trimming pays${cache === 'cold' ? ': the cache is cold' : ''}` };
}

/** Whether a provider would refuse the prompt for its bytes, although some of them could be left out. */
function exceedsMediaBytes(state: SessionState, prompt: PromptBuilder, most: number): boolean {
  const newest = lastOf(prompt.messages, beginsTurn);
  // A running loop that is bound to its prompt can only be summarised, and a preset may keep the user's messages.
  const stays = (shown: PromptMessage): boolean =>
    shown === newest || (isBound(state) && beginsTurn(shown));
  const isLoose = (shown: PromptMessage): boolean =>
    shown.source.kind === 'kept' && !stays(shown) && !state.plan.pins.includes(shown.source.id);
  const holders = prompt.messages.filter(({ message }) => mediaBytes(message) > 0);
  const total = holders.reduce((sum, { message }) => sum + mediaBytes(message), 0);
  return total > most && holders.some(isLoose);
}

/**
 * Whether to compact now: what no longer fits must be compacted, otherwise the trigger decides. If no message came since
 * the plan was made, the trigger has its answer. A running turn whose reasoning is bound to its prefix is left alone.
 */
function decided(
  state: SessionState,
  prompt: PromptBuilder,
  input: TriggerInput,
  { now, start, limitTokens }: PromptRequest,
): Step | undefined {
  const { tokens } = input;
  if (tokens > limitTokens)
    return { kind: 'compact', reason: `${tokens} tokens > limit ${limitTokens}` };
  if (isBound(state)) return undefined;
  const reason = firedBecause(state.config.policy.trigger, input);
  if (reason === undefined || isSettled(start) || state.plan.undid !== undefined) return undefined;
  return weighed(state, prompt, input, reason, now);
}

/** A trigger has fired: a compaction that would free little, or not pay yet, is postponed. */
function weighed(
  state: SessionState,
  { floor }: PromptBuilder,
  input: TriggerInput,
  reason: string,
  now: number,
): Step | undefined {
  const { policy } = state.config;
  const { tokens, budget } = input;
  const target = aimOf(policy, budget);
  if (policy.stop === 'at-target' && tokens <= target - unseenTokens(input)) return undefined;
  if (firesNearFloor(policy.trigger, input, floor))
    return { kind: 'postpone', reason: `${reason}, but hardly any of it can be freed` };
  const { economics } = policy;
  const pays =
    economics === undefined ||
    rewritePays({
      prices: economics.prices,
      rewrittenTokens: tokens,
      tokensFreed: tokens - Math.max(target, floor.tokens),
      requestsToCome: economics.requestsToCome,
      cold: isCold(state, now),
    });
  return pays
    ? { kind: 'compact', reason }
    : { kind: 'postpone', reason: `${reason}, but a rewrite does not pay yet` };
}

/** What the trigger of a policy sees. */
export function triggerInput(
  { config, figures }: SessionState,
  prompt: PromptBuilder,
): TriggerInput {
  const { extent } = prompt;
  const { budget } = config;
  const contextTokens = figures.reportedTokens ?? extent.tokens + besideMessages(budget);
  return { ...extent, contextTokens, budget };
}

/** The running turn contains reasoning that a provider would refuse after a changed prefix. */
export function isBound({ config, figures }: SessionState): boolean {
  return config.rules.bindsReasoning && figures.signedInTurn;
}

/** The provider's cache has expired. */
function isCold({ config, figures }: SessionState, now: number): boolean {
  const ttlMs = config.policy.economics?.prices.ttlMs ?? 0;
  return figures.sentAt === undefined || now - figures.sentAt > ttlMs;
}
