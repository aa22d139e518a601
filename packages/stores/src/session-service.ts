import {
  createBobbin,
  when,
  type ArtifactStore,
  type BobbinOptions,
  type CompactionEvent,
  type Message,
  type MessageId,
  type Policy,
  type Prompt,
  type Session,
  type Store,
  type Trigger,
} from '@bobbin/core';
import type { TriggerInput } from '@bobbin/core/internal';

/** What `createBobbin` takes, as far as it concerns sessions that are compacted where they are stored. */
export interface SessionOptions extends Pick<
  BobbinOptions,
  | 'tenant'
  | 'model'
  | 'models'
  | 'budget'
  | 'counter'
  | 'summarizer'
  | 'summaryCache'
  | 'redact'
  | 'artifacts'
  | 'tools'
  | 'rules'
  | 'clock'
  | 'onEvent'
> {
  readonly store: Store;
  /** Called when a summary failed or was blank. A strategy that keeps the messages then has changed nothing. */
  readonly onSummaryFailure?: (failure: SummaryFailure) => unknown;
}

export interface SummaryFailure {
  readonly sessionId: string;
  readonly summarizer: string;
  readonly reason: string;
}

/** Keeps nothing: what only this process had in memory could not be read later. */
const NO_ARTIFACTS: ArtifactStore = {
  put: () => Promise.reject(new Error('no artifacts are kept')),
  metadata: async () => undefined,
  get: async () => undefined,
  bytes: async () => undefined,
  delete: async () => 0,
};

/** What a compaction did. If the trigger did not fire or another writer was faster, nothing is removed. */
export interface SessionCompaction {
  readonly eventsRemoved: number;
  /** What is shown now. */
  readonly compactedEvents: readonly Message[];
  /** What was shown before and is not any more; the store keeps it. */
  readonly archivedEvents: readonly Message[];
  readonly tokensEstimatedSaved: number;
}

/** Compacts stored sessions by a trigger and a strategy, for hosts that hold no thread open. */
export class SessionService {
  readonly #options: Omit<SessionOptions, 'onSummaryFailure'>;
  readonly #onSummaryFailure: SessionOptions['onSummaryFailure'];

  constructor({ onSummaryFailure, ...options }: SessionOptions) {
    this.#onSummaryFailure = onSummaryFailure;
    this.#options = {
      ...options,
      artifacts: options.artifacts ?? NO_ARTIFACTS,
    };
    createBobbin(this.#options);
  }

  /** The trigger first; the strategy and the write only if it fires. A lost race is a silent no-op. */
  async compact(
    sessionId: string,
    trigger: Trigger | ((check: TriggerInput) => boolean),
    strategy: Policy,
  ): Promise<SessionCompaction> {
    const session = await this.#session(sessionId, strategy);
    const before = await session.promptAt(session.version);
    const fires = typeof trigger === 'function' ? when('the given function', trigger) : trigger;
    const { compacted, prompt } = await session.compactIf(fires);
    return compacted ? outcome(before, prompt) : unchanged(messagesOf(prompt));
  }

  /** What is shown of a session: its summary and what follows it. */
  async loadActiveMessages(sessionId: string): Promise<readonly Message[]> {
    const session = await this.#session(sessionId);
    return messagesOf(await session.promptAt(session.version));
  }

  #session(sessionId: string, preset?: Policy): Promise<Session> {
    const { onEvent } = this.#options;
    return createBobbin({
      ...this.#options,
      ...(preset === undefined ? {} : { preset }),
      onEvent: (event) => {
        this.#reportFailure(sessionId, event);
        return onEvent?.(event);
      },
    }).thread(sessionId);
  }

  #reportFailure(sessionId: string, event: CompactionEvent): void {
    if (event.kind !== 'summary-report' || event.report.kind !== 'failed') return;
    const { summarizer, reason } = event.report;
    this.#onSummaryFailure?.({ sessionId, summarizer, reason });
  }
}

function unchanged(compactedEvents: readonly Message[]): SessionCompaction {
  return { eventsRemoved: 0, compactedEvents, archivedEvents: [], tokensEstimatedSaved: 0 };
}

function outcome(before: Prompt, after: Prompt): SessionCompaction {
  const still = new Set(shownIds(after));
  const archivedEvents = before.messages
    .filter(({ source }) => 'id' in source && !still.has(source.id))
    .map(({ message }) => message);
  return {
    eventsRemoved: archivedEvents.length,
    compactedEvents: messagesOf(after),
    archivedEvents,
    tokensEstimatedSaved: before.tokens - after.tokens,
  };
}

function shownIds(prompt: Prompt): readonly MessageId[] {
  return prompt.messages.flatMap(({ source }) => ('id' in source ? [source.id] : []));
}

function messagesOf(prompt: Prompt): readonly Message[] {
  return prompt.messages.map(({ message }) => message);
}
