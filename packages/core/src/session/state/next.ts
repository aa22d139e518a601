import { decide, firstSightTokens } from '../../compact/compact.ts';
import type { PromptBuilder } from '../../render/builder.ts';
import { besideMessages } from './learning.ts';
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
  const { figures, config } = state;
  const { done, now } = request;
  if (!done.has('expire') && now > figures.nextExpiry) return { kind: 'expire' };
  if (
    !done.has('shorten-unread') &&
    !done.has('compact') &&
    figures.largestUnsentTokens > firstSightTokens(config)
  )
    return { kind: 'shorten-unread' };
  if (!done.has('compact') && !done.has('postpone')) {
    const decision = decideNow(state, prompt, request);
    if (decision.kind !== 'rest') return decision;
  }
  if (!done.has('remind')) return { kind: 'remind' };
  if (config.rules.bindsReasoning && !done.has('release-reasoning'))
    return { kind: 'release-reasoning' };
  return { kind: 'ready' };
}

function decideNow(
  { config, plan, figures }: SessionState,
  { extent, floor }: PromptBuilder,
  { now, settled }: PromptRequest,
): ReturnType<typeof decide> {
  const ttlMs = config.policy.economics?.prices.ttlMs ?? 0;
  const cold = figures.sentAt === undefined || now - figures.sentAt > ttlMs;
  const { budget } = config;
  const contextTokens = figures.reportedTokens ?? extent.tokens + besideMessages(budget);
  const input = { ...extent, contextTokens, budget };
  return decide(config, input, plan, { cold, settled, floor });
}
