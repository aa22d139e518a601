import type { CompactionEvent } from '../events.ts';
import type { ToolPolicies } from '../plan/tool-policy.ts';
import type { Plan } from '../plan/plan.ts';
import type { ArtifactStore, Clock, Summarizer, ThreadKey } from '../ports.ts';
import type { CacheLimits } from '../render/cache-points.ts';
import type { ProviderRules } from '../render/rules.ts';
import type { Redact } from '../summary/redact.ts';
import type { Node, Window } from '../thread/thread.ts';
import type { Budget } from '../tokens/budget.ts';
import type { Counter } from '../tokens/counter.ts';
import type { Policy } from './policy.ts';
import type { Rung } from './rungs/rung.ts';

/** All that a compaction needs in addition to the thread. */
export interface CompactorConfig {
  readonly policy: Policy;
  readonly budget: Budget;
  readonly counter: Counter;
  readonly rules: ProviderRules;
  readonly cacheLimits?: CacheLimits;
  readonly tools: ToolPolicies;
  readonly summarizer: Summarizer;
  /** Used when the summarizer fails: the built-in extract if absent. */
  readonly fallback?: Summarizer;
  /** How long a summarizer may take before the fallback is used. */
  readonly summaryDeadlineMs?: number;
  readonly artifacts: ArtifactStore;
  readonly clock: Clock;
  /** Takes secrets out of what plans say of messages; `redactSecrets` if absent. */
  readonly redact?: Redact;
  /** Asked at each compaction: true if the model was given the tools that read back what was compacted. */
  readonly offersTools?: () => boolean;
}

/** What to compact. */
export interface Job {
  readonly key: ThreadKey;
  /** The newest message of the path. */
  readonly head: Node;
  readonly window: Window;
  readonly plan: Plan;
  readonly task: string | null;
  /** How many messages of the path were sent to a provider before. */
  readonly sent: number;
  readonly reason: string;
  /** Compacts even if the target already holds. */
  readonly forced?: boolean;
  /** What the provider reported beyond what is known of the request. */
  readonly unseenTokens?: number;
  /** Only these rungs are climbed, all of them, without the last resort: the caller checks the budget again. */
  readonly rungs?: readonly Rung[];
  readonly instructions?: string;
  readonly signal?: AbortSignal;
  /** Receives each event as it happens. */
  readonly onEvent?: (event: CompactionEvent) => void;
}

export interface Compaction {
  /** The new plan, or the one that was given if nothing changed. */
  readonly plan: Plan;
  readonly changed: boolean;
  /** False only if the pins alone exceed the budget and could not be shortened. */
  readonly fits: boolean;
  readonly events: readonly CompactionEvent[];
}
