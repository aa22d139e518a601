import { withoutSecrets } from '../compact/compaction-log.ts';
import type { CompactionEvent, EventDetail } from '../events.ts';
import type { GrowingPrompt } from '../render/builder.ts';
import { messageLimit } from '../tokens/budget.ts';
import type { CompactionHooks, SessionConfig } from './config/session-config.ts';
import type { GrowingTrim } from '../plan/trim-figures.ts';
import type { SessionState } from './state/state.ts';
import { errorText } from '../check/error-text.ts';
import type { Embedder, Store, ThreadKey } from '../ports.ts';
import { embedCompacted } from '../recall/recall.ts';

/** What a session works with. Its tasks run one after another, and each replaces the state. */
export interface Work<Wire = unknown> {
  state: SessionState;
  readonly config: SessionConfig<Wire>;
  readonly prompt: GrowingPrompt;
  readonly trim: GrowingTrim;
  readonly embedding: Embedding;
  /** Warnings that the next prompt reports. */
  readonly pending: string[];
}

/** What a step of a session did. */
export interface Outcome {
  readonly events: readonly CompactionEvent[];
  readonly changed?: boolean;
  /** Another writer committed first: its plan is in force. */
  readonly lost?: true;
}

export const NOTHING_DONE: Outcome = { events: [] };

/** How often a lost race is run again before it is left to the winners. */
export const MOST_RACES = 8;

/** Emits what happened as an event, without secrets. */
export function emit({ state, config, prompt }: Work, detail: EventDetail): CompactionEvent {
  const { clock, budget, redact } = state.config;
  const { tokens } = prompt.of(state);
  const event = {
    thread: state.key.thread,
    time: clock.now(),
    tokensBefore: tokens,
    tokensAfter: tokens,
    limitTokens: messageLimit(budget),
    ...withoutSecrets(detail, redact),
  };
  callHook(config.hooks, (hooks) => hooks.onEvent?.(event));
  return event;
}

export function warn(work: Work, message: string): CompactionEvent {
  return emit(work, { kind: 'warning', message });
}

/** Calls a hook of the host. A hook that fails does not stop the session. */
export function callHook(hooks: CompactionHooks, call: (hooks: CompactionHooks) => unknown): void {
  try {
    Promise.resolve(call(hooks)).catch(() => undefined);
  } catch {
    // A hook that fails has failed for its host only.
  }
}

/** Gives vectors to what was compacted, one batch after another. No prompt waits: recall finds it by its words meanwhile. */
export class Embedding {
  #last: Promise<unknown> = Promise.resolve();

  start(
    embedder: Embedder,
    store: Store,
    key: ThreadKey,
    onFailure: (reason: string) => void,
  ): void {
    const work = this.#last.then(() => embedCompacted(store, key, embedder));
    this.#last = work.catch((error: unknown) => onFailure(errorText(error)));
  }
}
