import type { Budget, Policy, Trigger } from '@bobbin/core';
import {
  contextLimit,
  didYouMean,
  ladder,
  PRESETS,
  type ModelTable,
  type Thrift,
} from '@bobbin/core/internal';
import type { ModelPolicy } from './gateway-config.ts';

/** A client that only changed its URL did not ask to lose anything: the most careful level that still saves. */
const USUAL_THRIFT: Thrift = 'gentle';

/** What is done with the requests for one model. */
export interface ResolvedPolicy {
  readonly compaction: 'on' | 'off';
  readonly windowTokens: number;
  readonly policy: Policy;
  readonly budget: Partial<Budget>;
  /** A request of at most so many bytes, which nobody has answered yet, needs nothing: no token is less than a byte. */
  readonly idleBytes: number;
}

/** The share of the point from which a policy acts up to which nothing is worked out. */
const IDLE_SHARE = 0.25;

/** The policy of a model: the most specific that matches, over those that match less. */
export function policyFor(
  model: string,
  policies: readonly ModelPolicy[],
  models: ModelTable,
): ResolvedPolicy {
  const matching = policies
    .filter((each) => model.startsWith(each.model))
    .toSorted((a, b) => a.model.length - b.model.length);
  const merged = Object.fromEntries(matching.flatMap(Object.entries)) as Partial<ModelPolicy>;
  const windowTokens = merged.windowTokens ?? contextLimit(model, models);
  const policy = changedPolicy(merged);
  const budget = merged.softShare === undefined ? {} : { softShare: merged.softShare };
  const least = Math.min(windowTokens, firesFrom(policy.trigger, { windowTokens, ...budget }));
  return {
    compaction: merged.compaction ?? 'on',
    windowTokens,
    policy,
    budget,
    idleBytes: Math.floor(least * IDLE_SHARE),
  };
}

const POLICY_FIELDS: Readonly<Record<keyof ModelPolicy, true>> = {
  model: true,
  compaction: true,
  windowTokens: true,
  softShare: true,
  preset: true,
  thrift: true,
  requestsToCome: true,
  firstSightShare: true,
};

/** In a smaller window no prompt says anything. */
const LEAST_WINDOW_TOKENS = 500;

/** What is wrong with a policy, after the name of its field; undefined if nothing is. */
export function policyProblem(policy: ModelPolicy): string | undefined {
  for (const name of Object.keys(policy))
    if (!Object.hasOwn(POLICY_FIELDS, name))
      return `${name}: there is no such field${didYouMean(name, Object.keys(POLICY_FIELDS))}; known are ${Object.keys(POLICY_FIELDS).join(', ')}`;
  const { windowTokens, softShare, firstSightShare, requestsToCome } = policy;
  if (isBelow(windowTokens, LEAST_WINDOW_TOKENS))
    return `windowTokens must be a number of at least ${LEAST_WINDOW_TOKENS}, not ${JSON.stringify(windowTokens)}`;
  if (isBelow(requestsToCome, 0))
    return `requestsToCome must be a number of at least 0, not ${JSON.stringify(requestsToCome)}`;
  for (const [name, share] of Object.entries({ softShare, firstSightShare }))
    if (isBelow(share, Number.MIN_VALUE) || (share ?? 0) > 1)
      return `${name} must be a number above 0 and at most 1, not ${JSON.stringify(share)}`;
  return undefined;
}

function isBelow(value: unknown, least: number): boolean {
  if (value === undefined) return false;
  return typeof value !== 'number' || !Number.isFinite(value) || value < least;
}

/** From how many tokens on a trigger can fire; 0 if something else decides. */
function firesFrom(
  trigger: Trigger,
  window: { readonly windowTokens: number; readonly softShare?: number },
): number {
  const { windowTokens, softShare = LEAST_SOFT_SHARE } = window;
  switch (trigger.kind) {
    case 'soft-limit':
      return windowTokens * softShare;
    case 'window-share':
      return windowTokens * trigger.share;
    case 'reserve':
      return Math.max(windowTokens / 2, windowTokens - trigger.reserveTokens);
    case 'tokens':
      return trigger.atLeast;
    case 'any-of':
      return Math.min(...trigger.triggers.map((each) => firesFrom(each, window)));
    case 'all-of':
      return Math.max(...trigger.triggers.map((each) => firesFrom(each, window)));
    case 'turns':
    case 'custom':
      return 0;
  }
}

/** No default soft limit of core is lower. */
const LEAST_SOFT_SHARE = 0.5;

function changedPolicy({
  preset = 'ladder',
  thrift = USUAL_THRIFT,
  ...changes
}: Partial<ModelPolicy>): Policy {
  const named = preset === 'ladder' ? ladder({ thrift }) : preset;
  const policy = typeof named === 'string' ? PRESETS[named] : named;
  const { economics } = policy;
  const { requestsToCome, firstSightShare, softShare } = changes;
  return {
    ...policy,
    ...(softShare === undefined ? {} : { trigger: { kind: 'soft-limit' } }),
    ...(firstSightShare === undefined ? {} : { firstSightShare }),
    ...(economics === undefined || requestsToCome === undefined
      ? {}
      : { economics: { ...economics, requestsToCome } }),
  };
}
