import type { CompactorConfig } from '../../compact/compaction.ts';
import type { CompactionEvent } from '../../events.ts';
import type { Policy } from '../../compact/policy.ts';
import type { Codec, Embedder, Requester, Store } from '../../ports.ts';
import type { RehydrationLimits } from '../../recall/rehydrate.ts';
import type { Budget } from '../../tokens/budget.ts';
import type { Calibration } from '../../tokens/calibration.ts';
import type { Counter } from '../../tokens/counter.ts';
import type { Tokenizer } from '../../tokens/models.ts';

/** Hooks are not awaited. One that throws or rejects has failed for its host only. */
export interface CompactionHooks {
  onEvent?(event: CompactionEvent): unknown;
  onBeforeCompaction?(size: { readonly beforeTokens: number }): unknown;
  onAfterCompaction?(size: {
    readonly beforeTokens: number;
    readonly afterTokens: number;
    readonly compactedTokens: number;
  }): unknown;
}

/** What a session works with. */
export interface SessionConfig<Wire> extends CompactorConfig {
  readonly store: Store;
  readonly codec: Codec<Wire>;
  /** The counter without its calibration: a session learns another one. */
  readonly unscaled: Counter;
  readonly calibration: Calibration;
  /** Which tokenizer counts exactly; absent if the host gave a counter. */
  readonly tokenizer?: Tokenizer;
  readonly singleWriter: boolean;
  readonly rehydration: Partial<RehydrationLimits>;
  readonly embedder?: Embedder;
  readonly requester?: Requester;
  readonly hooks: CompactionHooks;
  /** What was assumed because the host did not say it: its first prompt reports it. */
  readonly assumption?: string;
}

/** Options of one call of `fit`, `send`, `prompt` or `compact`. */
export interface CompactOptions {
  readonly instructions?: string;
  readonly signal?: AbortSignal;
  /** Parts of the budget that have changed. The new values apply to all later calls too. */
  readonly budget?: Partial<Budget>;
  /**
   * Whether the model has the tools `read_artifact` and `recall`. Only then do prompts mention them. The value applies
   * to all later calls too.
   */
  readonly offersReadArtifact?: boolean;
}

/** What a host may change while a session is open. */
export interface SessionChanges {
  readonly policy?: Policy;
  readonly budget?: Partial<Budget>;
}

/** The sizes that a provider named when it refused a prompt as too long. */
export interface Refusal {
  readonly requestTokens?: number;
  readonly limitTokens?: number;
}
