import {
  textOf,
  when,
  type ArtifactStore,
  type BobbinOptions,
  type Message,
  type MessageId,
  type Plan,
  type Policy,
  type Prompt,
  type Store,
  type Trigger,
} from '@bobbin/core';
import {
  compact,
  currentSummary,
  emptyPlan,
  finishPrompt,
  firedBecause,
  keyNamed,
  memorySummaryCache,
  scaled,
  sessionConfig,
  startPrompt,
  startsTurn,
  type TriggerInput,
  type Node,
  type CompactorConfig,
  type StoredWindow,
  type ThreadKey,
} from '@bobbin/core/internal';

/** What a door takes, as far as it concerns sessions that are compacted where they are stored. */
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
> {
  readonly store: Store;
}

/** Keeps nothing: what this process alone had in its memory, nobody could read later. */
const NO_ARTIFACTS: ArtifactStore = {
  put: () => Promise.reject(new Error('no artifacts are kept')),
  metadata: async () => undefined,
  get: async () => undefined,
  bytes: async () => undefined,
  delete: async () => 0,
};

/** What a compaction did. Where the trigger did not fire or another writer was faster, nothing is removed. */
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
  readonly #store: Store;
  readonly #tenant: string;
  readonly #options: SessionOptions;
  readonly #setting: CompactorConfig;

  constructor(options: SessionOptions) {
    this.#store = options.store;
    this.#tenant = options.tenant ?? 'default';
    this.#options = {
      ...options,
      artifacts: options.artifacts ?? NO_ARTIFACTS,
      summaryCache: options.summaryCache ?? memorySummaryCache(),
    };
    this.#setting = this.#settingFor(undefined);
  }

  /** The trigger first; the strategy and the write only if it fires. A lost race is a silent no-op. */
  async compact(
    sessionId: string,
    trigger: Trigger | ((check: TriggerInput) => boolean),
    strategy: Policy,
  ): Promise<SessionCompaction> {
    const setting = this.#settingFor(strategy);
    const key = this.#key(sessionId);
    const window = await this.#store.window(key);
    if (window === undefined) return unchanged([]);
    const plan = window.current?.plan ?? emptyPlan(key.thread, strategy.style);
    const before = this.#render(window, plan);
    const fires = typeof trigger === 'function' ? when('the given function', trigger) : trigger;
    const reason = firedBecause(fires, before.check);
    if (reason === undefined) return unchanged(messagesOf(before.prompt));
    const compaction = await compact(
      { ...setting, policy: { ...setting.policy, trigger: fires } },
      { ...(await this.#origin(key, window, plan)), key, window, plan, reason },
    );
    const won =
      compaction.changed &&
      (await this.#store.commit(key, compaction.plan, window.version, compaction.events));
    if (!won) return unchanged(messagesOf(before.prompt));
    const after = this.#render(window, compaction.plan);
    return outcome(window, before.prompt, after.prompt);
  }

  /** What is shown of a session: its summary and what stands behind it. */
  async loadActiveMessages(sessionId: string): Promise<readonly Message[]> {
    const key = this.#key(sessionId);
    const window = await this.#store.window(key);
    if (window === undefined) return [];
    const plan = window.current?.plan ?? emptyPlan(key.thread);
    return messagesOf(this.#render(window, plan).prompt);
  }

  /** As a door's; nothing is learnt of usage here, so the counter is scaled by what is known of the model. */
  #settingFor(preset: Policy | undefined): CompactorConfig {
    const setting = sessionConfig({
      ...this.#options,
      ...(preset === undefined ? {} : { preset }),
    });
    return { ...setting, counter: scaled(setting.counter, setting.calibration) };
  }

  #key(sessionId: string): ThreadKey {
    return keyNamed(this.#tenant, sessionId);
  }

  #render(window: StoredWindow, plan: Plan): { prompt: Prompt; check: TriggerInput } {
    const kept = new Set(plan.carried.map(({ id }) => id));
    const nodes = [...window.carried, ...window.tail];
    const carried = nodes.filter(({ id }) => kept.has(id));
    const tail = nodes.filter(({ index }) => index >= plan.start);
    const builder = startPrompt({ carried, tail }, plan, this.#setting);
    const prompt = finishPrompt(builder, this.#setting);
    const { tokens } = prompt;
    const turns = builder.landmarks.turns.length;
    const messages = prompt.messages.length;
    return {
      prompt,
      check: { tokens, contextTokens: tokens, messages, turns, budget: this.#setting.budget },
    };
  }

  /** The head, which may stand behind the plan, and the first user message, which may stand before it. */
  async #origin(
    key: ThreadKey,
    window: StoredWindow,
    plan: Plan,
  ): Promise<{ head: Node; sent: number; task: string | null }> {
    const path = window.tail.length > 0 ? window.tail : await this.#behind(key, plan);
    const head = path.at(-1) as Node;
    const first =
      path[0]?.index === 0
        ? path.find(({ message }) => startsTurn(message))
        : (await this.#store.turns(key, head.id))[0];
    const said = first === undefined ? null : textOf(first.message);
    return { head, sent: head.index + 1, task: currentSummary(plan)?.summary.task ?? said };
  }

  /** The end of the path, where the plan shows none of it in its seat. */
  async #behind(key: ThreadKey, plan: Plan): Promise<readonly Node[]> {
    const [head] = await this.#store.heads(key);
    return this.#store.path(key, head as MessageId, plan.start - 1);
  }
}

function unchanged(compactedEvents: readonly Message[]): SessionCompaction {
  return { eventsRemoved: 0, compactedEvents, archivedEvents: [], tokensEstimatedSaved: 0 };
}

function outcome(window: StoredWindow, before: Prompt, after: Prompt): SessionCompaction {
  const shown = shownIds(before);
  const still = shownIds(after);
  const archivedEvents = [...window.carried, ...window.tail]
    .filter(({ id }) => shown.has(id) && !still.has(id))
    .map(({ message }) => message);
  return {
    eventsRemoved: archivedEvents.length,
    compactedEvents: messagesOf(after),
    archivedEvents,
    tokensEstimatedSaved: before.tokens - after.tokens,
  };
}

function shownIds(prompt: Prompt): ReadonlySet<MessageId> {
  const ids = prompt.messages.flatMap(({ source }) =>
    source.kind === 'kept' || source.kind === 'changed' ? [source.id] : [],
  );
  return new Set(ids);
}

function messagesOf(prompt: Prompt): readonly Message[] {
  return prompt.messages.map(({ message }) => message);
}
