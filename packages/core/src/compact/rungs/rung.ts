import type { Counter } from '../../tokens/counter.ts';
import type { ArtifactStore, Summarizer, ThreadKey } from '../../ports.ts';
import type { Span } from '../../thread/thread.ts';
import type { Cut } from '../../plan/cut.ts';
import type { Draft } from '../draft.ts';
import type { ToolPolicies } from '../../plan/tool-policy.ts';
import { hasMethods, type Shape } from '../../check/shape.ts';
import type { TrimLimits } from '../../plan/trim-figures.ts';
import type { PlanRecord } from '../../plan/plan.ts';

/** What a strategy would do, before it is done. */
export interface Proposal {
  readonly strategy: string;
  readonly span: Span;
  readonly tokensFreed: number;
  readonly reason: string;
}

/** What a strategy sees: the draft with every message's cost, and how far it has to go. */
export interface RungContext {
  readonly key: ThreadKey;
  readonly draft: Draft;
  readonly cut: Cut;
  readonly targetTokens: number;
  readonly limitTokens: number;
  readonly tools: ToolPolicies;
  readonly counter: Counter;
  /** The thread's first user message. */
  readonly task: string | null;
  readonly instructions?: string;
  readonly now: number;
  /** How many messages of the path were sent to a model before. */
  readonly sent: number;
  readonly signal?: AbortSignal;
}

/** The outside world, as strategies may use it. */
export interface Effects {
  readonly artifacts: ArtifactStore;
  readonly summarizer: Summarizer;
  /** Reports a failure that the ladder can do without. */
  readonly warn: (message: string) => void;
}

/** One rung: proposes spans, cheapest loss first, and carries proposals out one at a time. */
export interface Rung {
  readonly name: string;
  /** What it works towards: the target (the default), or only what no prompt may exceed. */
  readonly aim?: 'target' | 'limit';
  /** What it leaves when it trims: with prices, a policy then trims whenever that pays. */
  readonly trims?: TrimLimits;
  /** Its records replace whole messages. */
  readonly replacesMessages?: true;
  /** Carries all of its proposals out once it has to act at all. */
  readonly wholeBatch?: true;
  propose(context: RungContext): readonly Proposal[];
  /** The record that the proposal becomes, or undefined if it turned out to be impossible or of no use. */
  execute(
    proposal: Proposal,
    context: RungContext,
    effects: Effects,
  ): Promise<PlanRecord | undefined>;
}

export const rungShape: Shape = hasMethods(
  'a strategy, such as summarize() makes',
  'propose',
  'execute',
);
