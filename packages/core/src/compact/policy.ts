import type { CachePrices } from '../plan/economics.ts';
import { cutKind, type CutRule } from '../plan/cut.ts';
import { anAmount, aShare, aText, listOf, maybe, oneOf, whole, type Kind } from '../check/shape.ts';
import type { RenderStyle } from '../plan/plan.ts';
import { strategyKind, type Strategy } from './rungs/rung.ts';
import { triggerKind, type Trigger } from '../plan/trigger.ts';

/** When to compact, what stays, how to make room, how it is shown. A preset is a policy with a name. */
export interface Policy {
  readonly name: string;
  readonly trigger: Trigger;
  readonly cut: CutRule;
  /** Rungs from the gentlest to the most aggressive. */
  readonly ladder: readonly Strategy[];
  /** Whether the rungs stop as soon as the target holds, or each runs once whenever the trigger fires. */
  readonly stop: 'at-target' | 'at-end';
  /** The share of the limit that a compaction aims at: apart from the trigger, so that it is quiet for long. */
  readonly targetShare: number;
  readonly style: RenderStyle;
  /** A tool result larger than this share of the limit is shortened when it is first seen, which costs no cache. */
  readonly firstSightShare?: number;
  /** Where given, soft pressure waits until a rewrite pays (DESIGN decision 4). */
  readonly economics?: { readonly prices: CachePrices; readonly requestsToCome: number };
  /** What a failing summarizer leads to: the extract stands in (the default), or the messages stay as they are (D9). */
  readonly onSummaryFailure?: 'extract' | 'keep';
  /** Sent by the host after an automatic compaction, so that the task goes on (B22). */
  readonly continueWith?: string;
}

/** A policy is looked at where it comes in: a slip in it would only show under pressure, hours later. */
export const policyKind: Kind = whole<Policy>({
  name: aText,
  trigger: triggerKind,
  cut: cutKind,
  ladder: listOf(strategyKind),
  stop: oneOf('at-target', 'at-end'),
  targetShare: aShare,
  style: whole<RenderStyle>({
    summaryRole: oneOf('assistant', 'user', 'pair'),
    summaryPrefix: aText,
    summaryAt: oneOf('first', 'last'),
  }),
  firstSightShare: maybe(aShare),
  economics: maybe(
    whole<Required<Policy>['economics']>({
      prices: whole<CachePrices>({ write: anAmount, read: anAmount, ttlMs: anAmount }),
      requestsToCome: anAmount,
    }),
  ),
  onSummaryFailure: maybe(oneOf('extract', 'keep')),
  continueWith: maybe(aText),
});
