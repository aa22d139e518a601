import { decide, firstSightTokens } from '../../compact/compact.ts';
import type { PromptBuilder } from '../../render/builder.ts';
import { besideMessages } from '../../tokens/budget.ts';
import type { SessionState } from './state.ts';

/** What has to happen before a prompt is sent. */
export type Step =
  | { readonly kind: 'expire' }
  | { readonly kind: 'shorten-unread' }
  | { readonly kind: 'compact'; readonly reason: string }
  | { readonly kind: 'postpone'; readonly reason: string }
  | { readonly kind: 'remind' }
  | { readonly kind: 'release-reasoning' }
  | { readonly kind: 'ready' };

/** Once one of these was taken, the trigger has been asked. */
const AFTER_DECISION = ['compact', 'postpone', 'remind', 'release-reasoning'] as const;

/** One request for a prompt. */
export interface PromptRequest {
  readonly now: number;
  /** Nothing was said between the plan in force and this request: the trigger has had its answer. */
  readonly settled: boolean;
  /** Steps that were taken for this request. */
  readonly done: ReadonlySet<Step['kind']>;
}

export function startRequest({ version, plan, thread }: SessionState, now: number): PromptRequest {
  return { now, settled: version > 0 && plan.threadVersion === thread.length, done: new Set() };
}

/** The request once a step was taken. */
export function withDone(request: PromptRequest, { kind }: Step): PromptRequest {
  return { ...request, done: new Set(request.done).add(kind) };
}

/** The next step towards a prompt. Pure: the same state, prompt and request give the same step. */
export function next(state: SessionState, prompt: PromptBuilder, request: PromptRequest): Step {
  const { figures, config, plan } = state;
  const { done, now } = request;
  if (!done.has('expire') && now > figures.nextExpiry) return { kind: 'expire' };
  if (
    !done.has('shorten-unread') &&
    !done.has('compact') &&
    figures.largestUnsentTokens > firstSightTokens(config)
  )
    return { kind: 'shorten-unread' };
  if (!AFTER_DECISION.some((kind) => done.has(kind))) {
    const { extent, floor } = prompt;
    const { budget, policy } = config;
    const contextTokens = figures.reportedTokens ?? extent.tokens + besideMessages(budget);
    const ttlMs = policy.economics?.prices.ttlMs ?? 0;
    const cold = figures.sentAt === undefined || now - figures.sentAt > ttlMs;
    const input = { ...extent, contextTokens, budget };
    const decision = decide(config, input, plan, { cold, settled: request.settled, floor });
    if (decision.kind !== 'rest') return decision;
  }
  // Only what was compacted can be brought back.
  if (plan.records.length > 0 && !done.has('remind')) return { kind: 'remind' };
  if (config.rules.bindsReasoning && !done.has('release-reasoning'))
    return { kind: 'release-reasoning' };
  return { kind: 'ready' };
}
