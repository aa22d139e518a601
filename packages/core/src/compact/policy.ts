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

/** When to compact, what stays, how to free space, how it is shown. A preset is a policy with a name. */
export interface Policy {
  readonly name: string;
  readonly trigger: Trigger;
  readonly cut: CutRule;
  /** Rungs from the gentlest to the most aggressive. */
  readonly ladder: readonly Rung[];
  /** Whether the rungs stop as soon as the target holds, or each runs once whenever the trigger fires. */
  readonly stop: 'at-target' | 'at-end';
  /** The share of the limit that a compaction aims at: apart from the trigger, so that it is quiet for long. */
  readonly targetShare: number;
  /** The most that a compaction aims at, however large the window is: every request pays for what it leaves. */
  readonly mostTargetTokens?: number;
  readonly style: RenderStyle;
  /** A tool result larger than this share of the limit is shortened when it is first seen, which costs no cache. */
  readonly firstSightShare?: number;
  /** If given, soft pressure waits until a rewrite pays. */
  readonly economics?: { readonly prices: CachePrices; readonly requestsToCome: number };
  /** What a failing summarizer leads to: the extract is used (the default), or the messages stay as they are. */
  readonly onSummaryFailure?: 'extract' | 'keep';
  /** Sent by the host after an automatic compaction, so that the task goes on. */
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
