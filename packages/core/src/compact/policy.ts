import type { CachePrices } from '../plan/economics.ts';
import { cutShape, type CutRule } from '../plan/cut.ts';
import {
  boolean,
  nonNegative,
  fraction,
  string,
  listOf,
  optional,
  oneOf,
  object,
  type Shape,
} from '../check/shape.ts';
import type { RenderStyle } from '../plan/plan.ts';
import { messageLimit, type Budget } from '../tokens/budget.ts';
import { rungShape, type Rung } from './rungs/rung.ts';
import { triggerShape, type Trigger } from '../plan/trigger.ts';

/**
 * Says when to compact, which messages stay, how to free tokens, and how a summary looks. A preset is a policy with a
 * name.
 */
export interface Policy {
  readonly name: string;
  readonly trigger: Trigger;
  readonly cut: CutRule;
  /** The steps that free tokens, from the gentlest to the most aggressive. */
  readonly ladder: readonly Rung[];
  /** `'at-target'`: the ladder stops as soon as the target is reached. `'at-end'`: each rung runs once. */
  readonly stop: 'at-target' | 'at-end';
  /**
   * A compaction reduces the messages to this share of the limit. If it is far below the trigger, compactions are rare.
   */
  readonly targetShare: number;
  /** An upper limit, in tokens, for the size that a compaction aims at. It keeps requests small in a large window. */
  readonly mostTargetTokens?: number;
  readonly style: RenderStyle;
  /**
   * If the prompt does not fit, a new tool result larger than this share of the limit is shortened before it is first
   * sent. The provider has not cached it yet, so this costs nothing.
   */
  readonly firstSightShare?: number;
  /** If given, a compaction of a prompt that still fits waits until the rewrite costs less than it saves. */
  readonly economics?: { readonly prices: CachePrices; readonly requestsToCome: number };
  /**
   * What happens if a model's summary fails. `'extract'` (the default): the summary is made without a model. `'keep'`:
   * the messages stay as they are.
   */
  readonly onSummaryFailure?: 'extract' | 'keep';
  /** A text that the host should send after an automatic compaction, so that the agent continues. */
  readonly continueWith?: string;
}

/** A policy is checked when it is given: a mistake in it would otherwise show only under pressure, hours later. */
export const policyShape: Shape = object<Policy>({
  name: string,
  trigger: triggerShape,
  cut: cutShape,
  ladder: listOf(rungShape),
  stop: oneOf('at-target', 'at-end'),
  targetShare: fraction,
  mostTargetTokens: optional(nonNegative),
  style: object<RenderStyle>({
    summaryRole: oneOf('assistant', 'user', 'pair'),
    summaryPrefix: string,
    summaryAt: oneOf('first', 'last'),
    offersReadArtifact: optional(boolean),
    shadowPrompt: optional(string),
  }),
  firstSightShare: optional(fraction),
  economics: optional(
    object<Required<Policy>['economics']>({
      prices: object<CachePrices>({ write: nonNegative, read: nonNegative, ttlMs: nonNegative }),
      requestsToCome: nonNegative,
    }),
  ),
  onSummaryFailure: optional(oneOf('extract', 'keep')),
  continueWith: optional(string),
});

/** The size above which a new tool result is shortened at once. */
export function firstSightTokens(policy: Policy, budget: Budget): number {
  return Math.floor(messageLimit(budget) * (policy.firstSightShare ?? Number.POSITIVE_INFINITY));
}

/** What a compaction aims at, in tokens. */
export function aimOf(policy: Policy, budget: Budget): number {
  const { targetShare, mostTargetTokens = Number.POSITIVE_INFINITY } = policy;
  return Math.min(Math.floor(messageLimit(budget) * targetShare), mostTargetTokens);
}
