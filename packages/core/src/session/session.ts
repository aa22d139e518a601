import type { ProviderReport } from '../events.ts';
import { isOpaque, type Message, type MessageId } from '../message/message.ts';
import type { Plan } from '../plan/plan.ts';
import type { Trigger } from '../plan/trigger.ts';
import type { StoredWindow, ThreadKey } from '../ports.ts';
import type { Digest } from '../recall/digest.ts';
import { qualityOf, type Quality } from '../recall/quality.ts';
import { GrowingPrompt } from '../render/builder.ts';
import type { Prompt } from '../render/prompt.ts';
import type { Node } from '../thread/thread.ts';
import { messageLimit, type Budget } from '../tokens/budget.ts';
import type { Counter } from '../tokens/counter.ts';
import { inParts, storedNodes } from './arrival.ts';
import { withNewestPlan } from './commit.ts';
import { Embedding, emit, MOST_RACES, warn, type Work } from './work.ts';
import { sendPrompt, withWholeSent, type Fitted } from './fitted.ts';
import { checkCompactOptions, checkRefusal, checkSessionChanges } from './config/options.ts';
import { planWithin, promptAt, summaryDigest } from './plan-history.ts';
import type {
  CompactOptions,
  Refusal,
  SessionChanges,
  SessionConfig,
} from './config/session-config.ts';
import { GrowingTrim } from '../plan/trim-figures.ts';
import { next, withDone, type PromptRequest } from './state/next.ts';
import {
  appended,
  resent,
  sentElsewhere,
  startState,
  withChanges,
  withOptions,
  type SessionState,
} from './state/state.ts';
import {
  compactIf,
  compactNow,
  inherit,
  pin,
  refused,
  takeOver,
  takeStep,
  undo,
  unpin,
} from './steps.ts';

/**
 * An open thread: append messages to it, and ask it for the next prompt. A session carries out its calls one after
 * another, so you need not wait for one call before you make the next.
 *
 * @example
 * const session = await createBobbin().thread('support-42');
 * await session.append(textMessage('user', 'Deploy the service.'));
 * const { messages } = await session.prompt();
 */
export class Session<Wire = Message> {
  readonly key: ThreadKey;
  readonly #work: Work<Wire>;
  /** Why the codec is probably the wrong one, as far as it was reported. */
  readonly #mismatches = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(key: ThreadKey, config: SessionConfig<Wire>, stored?: StoredWindow) {
    this.key = key;
    this.#work = {
      state: startState(key, config, stored),
      config,
      prompt: new GrowingPrompt(),
      trim: new GrowingTrim(),
      embedding: new Embedding(),
      pending: config.assumption === undefined ? [] : [config.assumption],
    };
  }

  /** The current plan. */
  get plan(): Plan {
    return this.#work.state.plan;
  }

  /** The version of the current plan. `promptAt(version)` renders the current prompt without compacting. */
  get version(): number {
    return this.#work.state.version;
  }

  /** The current token counter, corrected by the usage that the provider reported. */
  get counter(): Counter {
    return this.#work.state.config.counter;
  }

  /** How many messages the conversation has, up to the newest message. */
  get length(): number {
    return this.#work.state.thread.length;
  }

  /** The id of the newest message. */
  get head(): MessageId | undefined {
    return this.#work.state.thread.head?.id;
  }

  /** The messages of the conversation that are in memory. The store has the others. */
  get messages(): readonly Message[] {
    return this.#work.state.thread.messages;
  }

  /** The messages that a codec needs to decode new ones: the call of a new result may be among them. */
  get earlier(): readonly Message[] {
    const { messages, unanswered } = this.#work.state.thread;
    return unanswered.length === 0 ? messages : [...unanswered, ...messages];
  }

  /** The message at an index of the conversation, if it is in memory. */
  at(index: number): Node | undefined {
    return this.#work.state.thread.at(index);
  }

  /** The id of the message at an index; undefined if the message is before the loaded part of a reopened thread. */
  idAt(index: number): MessageId | undefined {
    return this.#work.state.thread.idAt(index);
  }

  /** The budget of the last prompt. */
  get budget(): Budget {
    return this.#work.state.config.budget;
  }

  /** The tokens of the prompt's messages, divided by the tokens that they may have. */
  get pressure(): number {
    const { state, prompt } = this.#work;
    return prompt.of(state).tokens / messageLimit(state.config.budget);
  }

  /** Appends messages in the host's format after the newest message, and returns their ids. */
  append(...wire: readonly Wire[]): Promise<readonly MessageId[]> {
    return this.#exclusively(() =>
      this.#append(this.#work.config.codec.decode(wire, this.earlier), wire),
    );
  }

  /** Notes whether new messages are probably of another format; the next prompt reports it, once for each reason. */
  #checkFormat(wire: readonly Wire[]): void {
    const mismatch = this.#work.config.codec.mismatch?.(wire);
    if (mismatch === undefined || this.#mismatches.has(mismatch)) return;
    this.#mismatches.add(mismatch);
    this.#work.pending.push(mismatch);
  }

  /** Emits what a provider reported about a request, as events. */
  report(...reports: readonly ProviderReport[]): void {
    for (const report of reports) emit(this.#work, report);
  }

  /** Appends messages that are decoded already. `wire` are the same messages in the host's format. */
  appendDecoded(
    messages: readonly Message[],
    wire: readonly Wire[] = [],
  ): Promise<readonly MessageId[]> {
    return this.#exclusively(() => this.#append(messages, wire));
  }

  /** Nothing is appended if the store fails. */
  async #append(
    messages: readonly Message[],
    wire: readonly Wire[],
  ): Promise<readonly MessageId[]> {
    // A message that the codec has understood is of its format. Not every format has system messages.
    if (messages.some((m) => m.role === 'system' || m.extra !== undefined || isOpaque(m)))
      this.#checkFormat(wire);
    const nodes = await storedNodes(messages, this.#work.config, this.#work.state);
    let { state } = this.#work;
    await inParts(nodes, state.config.clock, (part) => {
      state = appended(state, part);
      // To render very many messages at once takes long.
      if (part.length < nodes.length) this.#renderSoFar(state);
    });
    // Forms that the host sent meanwhile stay.
    this.#work.state = { ...state, resent: this.#work.state.resent };
    return nodes.map(({ id }) => id);
  }

  /** Renders what has arrived so far. */
  #renderSoFar(state: SessionState): void {
    this.#work.prompt.of(state);
    this.#work.trim.of(state);
  }

  /** Loads the newest plan, if another writer has committed one. */
  catchUp(): Promise<void> {
    return this.#exclusively(async () => {
      const newer = await withNewestPlan(this.#work.config.store, this.#work.state);
      // Forms that the host sent meanwhile stay.
      this.#work.state = { ...newer, resent: this.#work.state.resent };
    });
  }

  /** Notes when another process sent the last prompt of this thread; the provider's cache may still have it. */
  sentElsewhere(at: number): void {
    this.#work.state = sentElsewhere(this.#work.state, at);
  }

  /** Notes that a provider's cache may have what another session sent: nearly all of it is on this path too. */
  sharesCacheWith(other: Session<Wire>): void {
    const { sentAt } = other.#work.state.figures;
    if (sentAt !== undefined) this.sentElsewhere(sentAt);
  }

  /** Notes the forms in which the host sends known messages now, from an index of the path on. */
  refresh(messages: readonly Message[], index: number): void {
    this.#work.state = resent(this.#work.state, messages, index);
  }

  /** Takes over the forms in which the host of another session sent messages last; equal messages have equal ids. */
  takeForms(other: Session<Wire>): void {
    const { resent: forms } = other.#work.state;
    this.#work.state = { ...this.#work.state, resent: forms };
  }

  /**
   * Makes the prompt for the next request. It is valid and within the budget; the session compacts first if necessary.
   */
  prompt(options?: CompactOptions): Promise<Fitted<Wire>> {
    return this.#exclusively(async () => {
      if (options !== undefined) this.#take(options);
      return this.#fit(options);
    });
  }

  /** Takes one step after another until the prompt is ready. If another writer was faster, all are taken again. */
  async #fit(options: CompactOptions = {}): Promise<Fitted<Wire>> {
    const work = this.#work;
    options.signal?.throwIfAborted();
    const events = work.pending.splice(0).map((message) => warn(work, message));
    let changed = false;
    let request: PromptRequest | undefined;
    for (let races = 0; races < MOST_RACES;) {
      const { state } = work;
      request ??= {
        now: state.config.clock.now(),
        start: state,
        limitTokens: messageLimit(state.config.budget),
        done: new Set(),
      };
      const step = next(state, work.prompt.of(state), () => work.trim.of(state), request);
      if (step.kind === 'ready') break;
      const { events: more, changed: isChanged, lost } = await takeStep(work, step, options);
      events.push(...more);
      changed ||= isChanged === true;
      request = lost === true ? undefined : withDone(request, step);
      if (lost === true) races++;
    }
    const shown = work.prompt.of(work.state).finish(work.state.config);
    return sendPrompt(work, shown, { events, changed });
  }

  /**
   * Notes that the host sends all messages as they are, and returns what they cost. Only for a thread in which nothing
   * was compacted, and which is so small that nothing would be: a host that knows this need not wait for a prompt.
   */
  sendWhole(): number {
    const [state, tokens] = withWholeSent(this.#work.state);
    this.#work.state = state;
    return tokens;
  }

  /** Compacts now, even if the prompt fits. `instructions` tell the summarizing model what the summary should keep. */
  compact(options?: CompactOptions): Promise<Fitted<Wire>> {
    return this.#exclusively(async () => {
      if (options !== undefined) this.#take(options);
      return compactNow(this.#work, options);
    });
  }

  /**
   * Compacts once if the given trigger fires. The trigger of the policy does not matter. If another writer commits a
   * plan first, nothing changes.
   */
  compactIf(trigger: Trigger, options: CompactOptions = {}): Promise<Fitted<Wire>> {
    return this.#exclusively(async () => {
      checkCompactOptions(options);
      return compactIf(this.#work, trigger, options);
    });
  }

  /** Changes the budget or the policy, for example because the host has switched to another model. */
  reconfigure(changes: SessionChanges): Promise<void> {
    return this.#exclusively(async () => {
      checkSessionChanges(changes);
      this.#work.state = withChanges(this.#work.state, changes);
    });
  }

  /**
   * Call it when the provider refused the last prompt as too long. The session uses the sizes that the provider named,
   * and returns a prompt of at most half the size, which you can send instead.
   */
  refused(refusal: Refusal = {}, options: CompactOptions = {}): Promise<Fitted<Wire>> {
    return this.#exclusively(async () => {
      checkRefusal(refusal);
      this.#take(options);
      return refused(this.#work, refusal, options);
    });
  }

  /**
   * Undoes the last compaction. Pins stay. Returns false if there is nothing to undo. The next compaction waits until
   * the prompt no longer fits.
   */
  undo(): Promise<boolean> {
    return this.#exclusively(() => undo(this.#work));
  }

  /**
   * Protects a message, with its calls or results, from compaction. If it was compacted already, prompts show it whole
   * again.
   */
  pin(id: MessageId): Promise<void> {
    return this.#exclusively(() => pin(this.#work, id));
  }

  /** Ends the protection of a message. It stays as it is until the next compaction, which may change it. */
  unpin(id: MessageId): Promise<void> {
    return this.#exclusively(() => unpin(this.#work, id));
  }

  /** The plan that applied when the thread had this many messages. */
  planWithin(length: number): Promise<Plan> {
    return planWithin(this.#work.config.store, this.#work.state, length);
  }

  /**
   * Starts with the plan of another thread with the same first messages, if the plan was made when that thread had no
   * more than the shared messages.
   */
  takeOver(plan: Plan, sharedMessages: number): Promise<boolean> {
    return this.#exclusively(async () => {
      if (plan.threadVersion > sharedMessages || this.version > 0) return false;
      return takeOver(this.#work, plan);
    });
  }

  /**
   * Continues from the messages that this session shares with another session, with the other session's plan and
   * corrected counter.
   */
  inherit(other: Session<Wire>, answersLast: boolean): Promise<boolean> {
    return this.#exclusively(() => inherit(this.#work, other.#work.state, answersLast));
  }

  /** Copies the messages of another session up to one of them, with the plan that applied there. */
  async copyFrom(other: Session<Wire>, head: MessageId): Promise<void> {
    const shared = await other.#work.config.store.path(other.key, head);
    await this.appendDecoded(shared.map(({ message }) => message));
    // Reasoning that both share was signed after what the plan of that time showed.
    if (!(await this.inherit(other, false)))
      await this.takeOver(await other.planWithin(shared.length), shared.length);
  }

  /**
   * Renders a past prompt: the thread as an earlier version of the plan shows it, with the messages up to the time of
   * that plan, or with the first `length` messages. Reminders are not in it. Version 0 shows the thread without any
   * compaction.
   */
  promptAt(version: number, length?: number): Promise<Prompt> {
    return this.#exclusively(() =>
      promptAt(this.#work.config.store, this.#work.state, version, length),
    );
  }

  /**
   * Lists the messages and artifacts that the current summary replaces. Each entry has a path by which it can be read.
   * Undefined if there is no summary.
   */
  digest(): Promise<Digest | undefined> {
    return this.#exclusively(() => summaryDigest(this.#work.config.store, this.#work.state));
  }

  /** Reports how the session went since the last compaction. Undefined if there was none. */
  quality(): Promise<Quality | undefined> {
    return this.#exclusively(() => qualityOf(this.#work.config.store, this.key));
  }

  /** Takes over what a request says of the host. */
  #take(options: CompactOptions): void {
    checkCompactOptions(options);
    this.#work.state = withOptions(this.#work.state, options);
  }

  #exclusively<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(task);
    // Only the end of a task is kept, not its result: that may be large.
    this.#queue = run.then(
      () => undefined,
      () => undefined,
    );
    return run;
  }
}
