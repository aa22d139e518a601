import {
  compact,
  compactExpired,
  compactFirstSight,
  compactTrim,
  unseenTokens,
  type Compaction,
  type CompactorConfig,
  type Job,
} from '../compact/compact.ts';
import { withoutSecrets } from '../compact/event-text.ts';
import type { CompactionEvent, EventDetail } from '../events.ts';
import type { Message, MessageId } from '../message/message.ts';
import type { Plan } from '../plan/plan.ts';
import { firedBecause, type Trigger } from '../plan/trigger.ts';
import { withoutReasoningFrom } from '../plan/signed.ts';
import { planFromCompaction } from '../plan/provider-compaction.ts';
import { windowOf } from '../plan/window.ts';
import type { StoredWindow, ThreadKey } from '../ports.ts';
import { indexIn, remindedPrompt } from '../recall/reminded-prompt.ts';
import { unaggressive } from '../recall/reminder.ts';
import type { PromptBuilder } from '../render/builder.ts';
import type { Prompt } from '../render/prompt.ts';
import { finishPrompt, GrowingPrompt, render, startPrompt } from '../render/render.ts';
import type { Node } from '../thread/thread.ts';
import { boundedTo, inWindow, messageLimit } from '../tokens/budget.ts';
import { arrived } from './arrival.ts';
import { commitPlan, commitUncommitted, retryOnConflict, type Commit } from './commit.ts';
import type { Fitted } from './fitted.ts';
import { GrowingTrim } from './state/growing-trim.ts';
import { next, startRequest, triggerInput, withDone, type Shown, type Step } from './state/next.ts';
import { withPathFor, withUnitOf, withWholePath } from './path.ts';
import { pinUnit, unpinUnit, withPins } from './pinning.ts';
import { planAt, undonePlan } from './plan-history.ts';
import { Embedding } from './embedding.ts';
import { inParts } from './in-parts.ts';
import { remind } from './remind.ts';
import { isReminded, messagesIn, remindersIn, withinReserve } from './state/reminding.ts';
import { changedFrom, isInLoop, isSignedFrom } from './state/sent.ts';
import type {
  CompactionHooks,
  CompactOptions,
  Refusal,
  SessionConfig,
} from './config/session-config.ts';
import {
  appended,
  compacted,
  expired,
  learnt,
  overtaken,
  startState,
  uncommitted,
  windowIn,
  withBudget,
  withSentPrompt,
  type SessionState,
} from './state/state.ts';

/** What a step came to. */
interface Outcome {
  readonly events: readonly CompactionEvent[];
  readonly changed?: boolean;
  /** Another writer committed first: its plan is in force. */
  readonly lost?: true;
}

const REMINDERS: ReadonlySet<EventDetail['kind']> = new Set(['rehydrated', 'retrieved']);
const NOTHING_DONE: Outcome = { events: [] };

/** A prompt that is not encoded yet. */
export type FittedPrompt = Omit<Fitted<unknown>, 'messages'>;

/** One of the ways to make a plan. */
type Compactor = (config: CompactorConfig, job: Job) => Promise<Compaction>;

type WorkOptions = CompactOptions & { readonly forced?: boolean };

/** Carries out what a session has to do: every effect of a session happens here. Tasks must not overlap. */
export class SessionWork {
  readonly key: ThreadKey;
  state: SessionState;
  readonly #config: SessionConfig<unknown>;
  readonly #growing = new GrowingPrompt();
  readonly #trim = new GrowingTrim();
  readonly #embedding = new Embedding();
  /** What was assumed because the host did not say it; reported with the first prompt. */
  #assumption: string | undefined;

  constructor(key: ThreadKey, config: SessionConfig<unknown>, stored?: StoredWindow) {
    this.key = key;
    this.#config = config;
    this.#assumption = config.assumption;
    this.state = startState(key, config, stored);
  }

  get prompt(): PromptBuilder {
    const { thread, plan, config } = this.state;
    return this.#growing.of(thread, plan, config);
  }

  #shown(): Shown {
    const { thread, plan, config } = this.state;
    return { prompt: this.prompt, trim: this.#trim.of(thread, plan, config) };
  }

  /** Appends messages; nothing is appended if the store fails. */
  async append(messages: readonly Message[]): Promise<readonly MessageId[]> {
    const { config, thread } = this.state;
    const isPlain = messages.every(({ meta }) => meta?.ttlMs === undefined);
    const hasPolicies = Object.keys(config.tools).length > 0;
    const noted = isPlain && !hasPolicies ? messages : await arrived(messages, thread, config);
    const nodes: Node[] = [];
    await inParts(noted, config.clock, (part) => {
      for (const node of thread.nodesFor(part, nodes.at(-1))) nodes.push(node);
    });
    await this.#store(nodes);
    let state = this.state;
    await inParts(nodes, config.clock, (part) => (state = appended(state, part)));
    this.state = state;
    return nodes.map(({ id }) => id);
  }

  async #store(nodes: readonly Node[]): Promise<void> {
    const { store, singleWriter } = this.#config;
    const expectedHead = this.state.thread.head?.id ?? null;
    const appending = await store.append(this.key, nodes, singleWriter ? { expectedHead } : {});
    if (appending.kind === 'conflict')
      throw new Error(
        `thread ${this.key.thread}: another writer has appended ${appending.head ?? 'nothing'}; open the thread again, then append`,
      );
  }

  /** Adopts the newest plan of the path if another writer has committed one. */
  async catchUp(): Promise<void> {
    const { store } = this.#config;
    if ((await store.plan(this.key, this.state.latest + 1)) === undefined) return;
    const { version, thread } = this.state;
    const newer = overtaken(this.state, await store.window(this.key, thread.head?.id));
    this.state = await withPathFor(store, newer, newer.plan);
    if (newer.version === version) return;
    // What the other process sent is not known here.
    this.state = { ...compacted(this.state), sent: { kind: 'resumed' } };
  }

  /** Takes one step after another until the prompt is ready. If another writer was faster, all are taken again. */
  async fit(options: CompactOptions): Promise<FittedPrompt> {
    options.signal?.throwIfAborted();
    const events = this.#assumption === undefined ? [] : [this.#reportAssumption(this.#assumption)];
    let changed = false;
    await retryOnConflict(async () => {
      let request = startRequest(this.state, this.state.config.clock.now());
      for (;;) {
        const step = next(this.state, this.#shown(), request);
        if (step.kind === 'ready') return NOTHING_DONE;
        const outcome = await this.#take(step, options);
        events.push(...outcome.events);
        changed ||= outcome.changed === true;
        if (outcome.lost === true) return outcome;
        request = withDone(request, step);
      }
    });
    return this.#send(this.#fitted(events, changed));
  }

  /** Compacts at any pressure. */
  async compactNow(options: CompactOptions): Promise<FittedPrompt> {
    const limit = messageLimit(this.state.config.budget);
    const { events, changed } = await this.#compactTo(limit, compact, 'asked for', options);
    // A person who asks for a compaction says what comes next.
    const { continueWith: _, ...fitted } = this.#fitted(events, changed === true);
    return fitted;
  }

  /** Compacts once if a trigger fires. If another writer was faster, its plan is in force. */
  async compactIf(trigger: Trigger, options: CompactOptions): Promise<FittedPrompt> {
    const reason = firedBecause(trigger, triggerInput(this.state, this.prompt));
    if (reason === undefined) return this.#fitted([], false);
    const { events, changed } = await this.#compact(compact, reason, options);
    return this.#fitted(events, changed === true);
  }

  /** Learns from a provider's refusal, and makes a prompt of at most half the size. */
  async refused(refusal: Refusal, options: CompactOptions): Promise<FittedPrompt> {
    const { requestTokens, limitTokens } = refusal;
    const refused = this.#emit({ kind: 'refused', ...refusal });
    const state = learnt(this.state, requestTokens);
    const { budget } = state.config;
    const windowTokens = Math.min(budget.windowTokens, limitTokens ?? Number.POSITIVE_INFINITY);
    this.state = withBudget(state, inWindow(budget, windowTokens));
    const half = Math.floor(this.prompt.tokens / 2);
    const compactor: Compactor = (config, job) =>
      compact({ ...config, budget: boundedTo(config.budget, half) }, job);
    const reason = 'the provider refused the prompt';
    const { events, changed } = await this.#compactTo(half, compactor, reason, options);
    return this.#send(this.#fitted([refused, ...events], changed === true));
  }

  /** Undoes the last compaction; false if there is none. */
  async undo(): Promise<boolean> {
    const { store } = this.#config;
    this.#settle(await commitUncommitted(store, this.state));
    const undone = await undonePlan(store, this.state);
    if (undone === undefined) return false;
    const [before, undid] = undone;
    const loaded = await withPathFor(store, this.state, before);
    const [pinned, plan] = await withPins(store, loaded, before, this.state.plan.pins);
    this.state = pinned;
    const { length } = this.state.thread;
    this.state = { ...this.state, reminding: { ...this.state.reminding, placed: [] } };
    const isAdopted = await this.#adopt({ ...withoutReasoningFrom(plan, 0, length), undid });
    // What was reported was about the prompt that is undone.
    this.state = compacted(this.state);
    return isAdopted;
  }

  async pin(id: MessageId): Promise<void> {
    if (this.state.plan.pins.includes(id)) return;
    const { store } = this.#config;
    const [state, unit] = await withUnitOf(store, this.state, id);
    this.state = state;
    await this.#adoptSurely(`pin ${id}`, async () => {
      const [loaded, plan] = await pinUnit(store, this.state, unit);
      this.state = loaded;
      return plan;
    });
  }

  async unpin(id: MessageId): Promise<void> {
    const [state, unit] = await withUnitOf(this.#config.store, this.state, id);
    this.state = state;
    if (!state.plan.pins.includes(id)) return;
    await this.#adoptSurely(`unpin ${id}`, async () => unpinUnit(this.state, unit));
  }

  /** Starts with the plan of a thread that shares its first messages. */
  async takeOver(plan: Plan): Promise<boolean> {
    if (plan.records.length > 0) this.state = { ...this.state, sent: { kind: 'elsewhere' } };
    const { lost } = await this.#enforce({ ...plan, thread: this.key.thread }, []);
    return lost !== true;
  }

  /** The prompt as a version of the plan shows it. */
  async promptAt(version: number, length: number | undefined): Promise<Prompt> {
    const { store } = this.#config;
    const plan = await planAt(store, this.state, version);
    const isPast = version > 0 && version !== this.state.version;
    const until = length ?? (isPast ? plan.threadVersion : this.state.thread.length);
    const { thread } = await withPathFor(store, this.state, plan, until);
    return render(windowOf(thread, plan, until), plan, this.state.config);
  }

  #take(step: Exclude<Step, { kind: 'ready' }>, options: CompactOptions): Promise<Outcome> {
    switch (step.kind) {
      case 'start-at-compaction':
        return this.#startAtCompaction(step.index);
      case 'expire':
        return this.#compact(compactExpired, 'time to live is over', options);
      case 'shorten-unread':
        return this.#compact(compactFirstSight, 'a large new result', options);
      case 'restore-pins':
        return this.#compact(compactExpired, 'pins fit whole again', options);
      case 'trim':
        return this.#compact(compactTrim, 'trimming pays', options);
      case 'compact':
        return this.#compact(compact, step.reason, options);
      case 'postpone':
        return Promise.resolve({
          events: [this.#emit({ kind: 'postponed', reason: step.reason })],
        });
      case 'remind':
        return this.#remind();
      case 'release-reasoning':
        return this.#releaseReasoning(options);
    }
  }

  /** The provider drops what precedes its compaction: the plan does too, and what was pinned there is reported. */
  async #startAtCompaction(index: number): Promise<Outcome> {
    const { store } = this.#config;
    this.state = await withWholePath(store, this.state);
    const { thread, plan, config } = this.state;
    const { head } = thread;
    if (head === undefined) return NOTHING_DONE;
    const tokensBefore = this.prompt.tokens;
    const made = planFromCompaction(
      plan,
      thread.path(0).slice(0, index + 1),
      config.rules.readBeforeCompaction ?? ['system'],
      config.clock.now(),
    );
    const { undid: _, ...fresh } = made;
    const sized = { ...fresh, head: head.id, threadVersion: thread.length, tokensBefore };
    const { tokens } = startPrompt(windowOf(thread, sized), sized, config);
    const unread = plan.pins.length - made.pins.length;
    const event = this.#emit({
      kind: 'provider-compacted',
      messages: index,
      freed: tokensBefore - tokens,
    });
    const message = `the provider compacted the conversation: ${unread} pinned messages before its compaction are no longer read; say them again`;
    const events = unread === 0 ? [event] : [event, this.#emit({ kind: 'warning', message })];
    const enforced = await this.#enforce({ ...sized, tokensAfter: tokens }, events);
    if (enforced.lost === true) return { events, lost: true };
    this.state = compacted(this.state);
    return { events: [...events, ...enforced.events], changed: true };
  }

  #reportAssumption(message: string): CompactionEvent {
    this.#assumption = undefined;
    return this.#emit({ kind: 'warning', message });
  }

  /** Brings back what the present turn asks for, and records that in the store. */
  async #remind(): Promise<Outcome> {
    const [state, details] = await remind(this.#config, this.state, this.prompt);
    this.state = state;
    const events = details.map((detail) => this.#emit(detail));
    if (events.length === 0) return NOTHING_DONE;
    return this.#config.store.record(this.key, events).then(
      () => ({ events }),
      (error: unknown) => ({
        events: [...events, this.#emit({ kind: 'warning', message: String(error) })],
      }),
    );
  }

  /**
   * Leaves out reasoning that was signed after another prompt than the present one: a provider would refuse it. A
   * running loop would be refused without its reasoning, so it is summarised first.
   */
  async #releaseReasoning(options: CompactOptions): Promise<Outcome> {
    const from = await this.#releasedFrom();
    if (from === undefined) return NOTHING_DONE;
    const folded = isInLoop(this.state)
      ? await this.#compact(compact, 'the prompt of a running loop has changed', {
          ...options,
          forced: true,
        })
      : NOTHING_DONE;
    if (folded.lost === true) return folded;
    const rest = await this.#releasedFrom();
    if (rest === undefined) return folded;
    const { plan, thread } = this.state;
    const enforced = await this.#enforce(withoutReasoningFrom(plan, rest, thread.length), []);
    return { ...folded, ...enforced, events: [...folded.events, ...enforced.events] };
  }

  /** The index from which reasoning no longer holds although the plan shows it; undefined if there is none. */
  async #releasedFrom(): Promise<number | undefined> {
    if (this.state.sent.kind === 'resumed') this.state = await this.#resumed();
    const { state } = this;
    const from = changedFrom(state, remindersIn(state), messagesIn(state, this.prompt));
    return from !== undefined && isSignedFrom(state, from) ? from : undefined;
  }

  /** What an earlier process sent had no reminders if it recorded none. */
  async #resumed(): Promise<SessionState> {
    const events = await this.#config.store.events(this.key).catch(() => undefined);
    const wasReminded = events?.some(({ event }) => REMINDERS.has(event.kind)) ?? true;
    return { ...this.state, sent: { kind: wasReminded ? 'elsewhere' : 'nothing' } };
  }

  /** Compacts at any pressure, and again if another writer was faster with a plan that leaves too much. */
  #compactTo(
    mostTokens: number,
    compactor: Compactor,
    reason: string,
    options: CompactOptions,
  ): Promise<Outcome> {
    const { reminding, config } = this.state;
    this.state = { ...this.state, reminding: withinReserve(reminding, config) };
    return retryOnConflict<Outcome>(async () => {
      const { lost, ...made } = await this.#compact(compactor, reason, {
        ...options,
        forced: true,
      });
      if (lost === true && this.prompt.tokens > mostTokens) return { ...made, lost };
      if (!this.state.config.rules.bindsReasoning) return made;
      const released = await this.#releaseReasoning(options);
      return { ...made, ...released, events: [...made.events, ...released.events] };
    });
  }

  async #compact(compactor: Compactor, reason: string, options: WorkOptions): Promise<Outcome> {
    const { config, thread } = this.state;
    const beforeTokens = this.prompt.tokens;
    if (thread.head === undefined) return NOTHING_DONE;
    this.#callHook((hooks) => hooks.onBeforeCompaction?.({ beforeTokens }));
    const isCalm = options.forced !== true && isReminded(this.state);
    const used = isCalm ? { ...config, policy: unaggressive(config.policy) } : config;
    const made = await compactor(used, this.#job(thread.head, reason, options));
    const outcome = made.changed ? await this.#putInForce(made) : { events: made.events };
    if (made.changed) this.state = compacted(this.state);
    if (outcome.lost !== true) this.state = expired(this.state, config.clock.now());
    const afterTokens = this.prompt.tokens;
    const compactedTokens = beforeTokens - afterTokens;
    this.#callHook((hooks) =>
      hooks.onAfterCompaction?.({ beforeTokens, afterTokens, compactedTokens }),
    );
    return outcome;
  }

  #job(head: Node, reason: string, options: WorkOptions): Job {
    const { task, sentMessages } = this.state.figures;
    return {
      key: this.key,
      head,
      window: windowIn(this.state),
      plan: this.state.plan,
      task,
      sent: sentMessages,
      reason,
      unseenTokens: unseenTokens(triggerInput(this.state, this.prompt)),
      onEvent: (event) => this.#callHook((hooks) => hooks.onEvent?.(event)),
      ...options,
    };
  }

  async #putInForce({ plan, events }: Compaction): Promise<Outcome> {
    const { undid: _, ...made } = plan;
    const enforced = await this.#enforce(made, events);
    if (enforced.lost === true) return { events, lost: true };
    this.#embedding.start(this.#config, this.key, (why) =>
      this.#emit({ kind: 'warning', message: `recall goes by words alone: ${why}` }),
    );
    return { events: [...events, ...enforced.events], changed: true };
  }

  /** Puts a plan in force. A store that fails costs the record of it, never the prompt. */
  async #enforce(plan: Plan, events: readonly CompactionEvent[]): Promise<Outcome> {
    const commit = await commitPlan(this.#config.store, this.state, plan, events);
    if (commit.kind !== 'failed')
      return this.#settle(commit) ? NOTHING_DONE : { events: [], lost: true };
    this.state = uncommitted(commit.state, { plan, events });
    const why = commit.error instanceof Error ? commit.error.message : String(commit.error);
    const message = `the plan could not be committed and holds in this process alone: ${why}`;
    return { events: [this.#emit({ kind: 'warning', message })] };
  }

  /** Commits a plan. If another writer was faster, its plan is in force instead. */
  async #adopt(plan: Plan): Promise<boolean> {
    return this.#settle(await commitPlan(this.#config.store, this.state, plan, []));
  }

  /** Continues with the state that a commit has left; false if another writer was faster. */
  #settle(commit: Commit): boolean {
    this.state = commit.state;
    if (commit.kind === 'failed') throw commit.error;
    return commit.kind === 'committed';
  }

  /** Commits a plan that is made again from the winner's if a race is lost. */
  async #adoptSurely(what: string, make: () => Promise<Plan>): Promise<void> {
    const { lost } = await retryOnConflict<Outcome>(async () =>
      (await this.#adopt(await make())) ? NOTHING_DONE : { events: [], lost: true },
    );
    if (lost === true)
      throw new Error(`thread ${this.key.thread} has other writers all the time: ${what} again`);
  }

  /** The prompt in the forms that the host sent last. */
  #inNewestForms(prompt: Prompt): Prompt {
    const { resent } = this.state;
    const messages = prompt.messages.map((shown) => {
      const message = shown.source.kind === 'kept' ? resent.get(shown.source.id) : undefined;
      return message === undefined ? shown : { ...shown, message };
    });
    return { ...prompt, messages };
  }

  #fitted(events: readonly CompactionEvent[], isCompacted: boolean): FittedPrompt {
    const { config, plan, version, thread } = this.state;
    const { rules, counter } = config;
    const prompt = finishPrompt(this.prompt, config);
    const shown = this.state.resent.size === 0 ? prompt : this.#inNewestForms(prompt);
    const limitTokens = messageLimit(config.budget);
    const { continueWith } = config.policy;
    return {
      prompt: remindedPrompt(shown, remindersIn(this.state), indexIn(thread, plan), rules, counter),
      plan,
      version,
      compacted: isCompacted,
      fits: this.prompt.tokens <= limitTokens,
      limitTokens,
      events,
      ...(isCompacted && continueWith !== undefined ? { continueWith } : {}),
    };
  }

  #send(fitted: FittedPrompt): FittedPrompt {
    const { state } = this;
    const messages = messagesIn(state, this.prompt);
    const { length } = messages;
    const reminders = remindersIn(state);
    const sent = { kind: 'prompt', plan: state.plan, reminders, messages, length } as const;
    this.state = withSentPrompt(state, sent, fitted.prompt.tokens, state.config.clock.now());
    return fitted;
  }

  #emit(detail: EventDetail): CompactionEvent {
    const { tokens } = this.prompt;
    const { clock, budget, redact } = this.state.config;
    const event = {
      thread: this.key.thread,
      time: clock.now(),
      tokensBefore: tokens,
      tokensAfter: tokens,
      limitTokens: messageLimit(budget),
      ...withoutSecrets(detail, redact),
    };
    this.#callHook((hooks) => hooks.onEvent?.(event));
    return event;
  }

  /** Calls a hook of the host. A hook that fails does not stop the session. */
  #callHook(call: (hooks: CompactionHooks) => unknown): void {
    try {
      Promise.resolve(call(this.#config.hooks)).catch(() => undefined);
    } catch {
      // A hook that fails has failed for its host only.
    }
  }
}
