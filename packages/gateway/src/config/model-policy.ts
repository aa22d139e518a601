import type { Budget, Policy } from '@bobbin/core';
import { contextLimit, ladder, PRESETS, type ModelTable, type Thrift } from '@bobbin/core/internal';
import type { ModelPolicy } from './gateway-config.ts';

/** A client that only changed its URL did not ask to lose anything: the most careful level that still saves. */
const USUAL_THRIFT: Thrift = 'gentle';

/** What is done with the requests for one model. */
export interface ResolvedPolicy {
  readonly compaction: 'on' | 'off';
  readonly windowTokens: number;
  readonly policy: Policy;
  readonly budget: Partial<Budget>;
}

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
  return {
    compaction: merged.compaction ?? 'on',
    windowTokens,
    policy: changedPolicy(merged),
    budget: merged.softShare === undefined ? {} : { softShare: merged.softShare },
  };
}

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
