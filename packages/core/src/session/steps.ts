import { errorText } from '../check/error-text.ts';
import { compact } from '../compact/compact.ts';
import type { Compaction, Compactor, Job } from '../compact/compaction.ts';
import {
  compactExpired,
  compactFirstSight,
  compactMedia,
  compactTrim,
} from '../compact/partial-compaction.ts';
import type { CompactionEvent, EventDetail } from '../events.ts';
import type { MessageId } from '../message/message.ts';
import { withoutReasoningFrom, windowOf, type Plan } from '../plan/plan.ts';
import { firedBecause, unseenTokens, type Trigger } from '../plan/trigger.ts';
import type { StoredWindow, ThreadKey } from '../ports.ts';
import { unaggressive } from '../recall/reminder.ts';
import { GrowingPrompt, type PromptBuilder } from '../render/builder.ts';
import type { Node } from '../thread/thread.ts';
import { boundedTo, messageLimit } from '../tokens/budget.ts';
import { commitPlan, commitUncommitted, type Commit } from './commit.ts';
import { fittedPrompt, withSent, type Fitted } from './fitted.ts';
import { NOTHING_DONE, type Outcome } from './outcome.ts';
import { startAtCompaction } from './provider-start.ts';
import { callHook, sessionEvent } from './session-events.ts';
import { GrowingTrim } from './state/growing-trim.ts';
import {
  isBound,
  next,
  triggerInput,
  withDone,
  type PromptRequest,
  type Step,
} from './state/next.ts';
import { withUnitOf, withWholePath } from './path.ts';
import { pinUnit, unpinUnit } from './pinning.ts';
import { restoredPlan } from './plan-history.ts';
import { releasedFrom, sentEarlier } from './released-reasoning.ts';
import { Embedding } from './embedding.ts';
import { remind } from './remind.ts';
import { isReminded, withinReserve } from './state/reminding.ts';
import { isInLoop } from './state/sent.ts';
import type { CompactOptions, Refusal, SessionConfig } from './config/session-config.ts';
import {
  compacted,
  expired,
  type SessionState,
  startState,
  tried,
  uncommitted,
  withRefusal,
} from './state/state.ts';

type WorkOptions = CompactOptions & { readonly forced?: boolean };

/** Carries out the steps of a session: it compacts, commits, reminds and emits events. Tasks must not overlap. */
export class SessionWork<Wire> {
  readonly key: ThreadKey;
  state: SessionState;
  readonly #config: SessionConfig<Wire>;
  readonly #prompt = new GrowingPrompt();
  readonly #trim = new GrowingTrim();
  readonly #embedding = new Embedding();
  /** Warnings that the next prompt reports. */
  readonly pending: string[];

  constructor(key: ThreadKey, config: SessionConfig<Wire>, stored?: StoredWindow) {
    this.key = key;
    this.#config = config;
    this.pending = config.assumption === undefined ? [] : [config.assumption];
    this.state = startState(key, config, stored);
  }

  get prompt(): PromptBuilder {
    return this.#prompt.of(this.state);
  }

  /** Prepares the prompt of a state that is not complete yet: to render very many messages at once takes long. */
  prepare(state: SessionState): void {
    this.#prompt.of(state);
    this.#trim.of(state);
  }

  /** Takes one step after another until the prompt is ready. If another writer was faster, all are taken again. */
  async fit(options: CompactOptions = {}): Promise<Fitted<Wire>> {
    options.signal?.throwIfAborted();
    const events = this.pending.splice(0).map((message) => this.#warn(message));
    let changed = false;
    let request: PromptRequest | undefined;
    for (let races = 0; races < MOST_RACES;) {
      request ??= { now: this.state.config.clock.now(), start: this.state, done: new Set() };
      const step = next(this.state, this.prompt, () => this.#trim.of(this.state), request);
      if (step.kind === 'ready') break;
      const { events: more, changed: isChanged, lost } = await this.#take(step, options);
      events.push(...more);
      changed ||= isChanged === true;
      request = lost === true ? undefined : withDone(request, step);
      if (lost === true) races++;
    }
    return this.#send({ events, changed });
  }

  /** Compacts at any pressure. */
  async compactNow(options: CompactOptions = {}): Promise<Fitted<Wire>> {
    const limit = messageLimit(this.state.config.budget);
    const outcome = await this.#compactTo(limit, compact, 'asked for', options);
    // A person who asks for a compaction says what comes next.
    return this.#fitted(outcome);
  }

  /** Compacts once if a trigger fires. If another writer was faster, its plan is in force. */
  async compactIf(trigger: Trigger, options: CompactOptions): Promise<Fitted<Wire>> {
    const reason = firedBecause(trigger, triggerInput(this.state, this.prompt));
    if (reason === undefined) return this.#fitted(NOTHING_DONE);
    const outcome = await this.#compact(compact, reason, options);
    return this.#fitted(outcome, this.state.config.policy.continueWith);
  }

  /** Learns from a provider's refusal, and makes a prompt of at most half the size. */
  async refused(refusal: Refusal, options: CompactOptions): Promise<Fitted<Wire>> {
    const refused = this.emit({ kind: 'refused', ...refusal });
    this.state = withRefusal(this.state, refusal);
    const half = Math.floor(this.prompt.tokens / 2);
    const compactor: Compactor = (config, job) =>
      compact({ ...config, budget: boundedTo(config.budget, half) }, job);
    const why = 'the provider refused the prompt';
    const { events, changed = false } = await this.#compactTo(half, compactor, why, options);
    return this.#send({ events: [refused, ...events], changed });
  }

  /** Undoes the last compaction; false if there is none. */
  async undo(): Promise<boolean> {
    const { store } = this.#config;
    this.#settle(await commitUncommitted(store, this.state));
    const restored = await restoredPlan(store, this.state);
    if (restored === undefined) return false;
    const [state, plan] = restored;
    this.state = state;
    const isCommitted = this.#settle(await commitPlan(store, this.state, plan, []));
    // What was reported was about the prompt that is undone.
    this.state = compacted(this.state);
    return isCommitted;
  }

  async pin(id: MessageId): Promise<void> {
    if (this.state.plan.pins.includes(id)) return;
    const { store } = this.#config;
    const [state, unit] = await withUnitOf(store, this.state, id);
    this.state = state;
    await this.#commitSurely(`pin ${id}`, async () => {
      const [loaded, plan] = await pinUnit(store, this.state, unit);
      this.state = loaded;
      return plan;
    });
  }

  async unpin(id: MessageId): Promise<void> {
    const [state, unit] = await withUnitOf(this.#config.store, this.state, id);
    this.state = state;
    if (!state.plan.pins.includes(id)) return;
    await this.#commitSurely(`unpin ${id}`, async () => unpinUnit(this.state, unit));
  }

  /** Starts with the plan of a thread that shares its first messages. */
  async takeOver(plan: Plan): Promise<boolean> {
    if (plan.records.length > 0) this.state = { ...this.state, sent: { kind: 'elsewhere' } };
    const { lost } = await this.#enforce({ ...plan, thread: this.key.thread }, []);
    return lost !== true;
  }

  async #take(step: Exclude<Step, { kind: 'ready' }>, options: CompactOptions): Promise<Outcome> {
    switch (step.kind) {
      case 'start-at-compaction':
        return this.#startAtCompaction(step.index);
      case 'expire':
        return this.#compact(compactExpired, 'time to live is over', options);
      case 'externalize-media':
        return this.#externalizeMedia(options);
      case 'shorten-unread':
        return this.#compact(compactFirstSight, 'a large new result', options);
      case 'restore-pins':
        return this.#compact(compactExpired, 'pins fit whole again', options);
      case 'trim':
        return this.#compact(compactTrim, step.reason, options);
      case 'compact':
        return this.#compact(compact, step.reason, options);
      case 'postpone':
        return { events: [this.emit({ kind: 'postponed', reason: step.reason })] };
      case 'remind':
        return this.#remind();
      case 'release-reasoning':
        return this.#releaseReasoning(options);
    }
  }

  /** Leaves pictures and files out. A running loop would be refused after that, so it is summarised instead. */
  #externalizeMedia(options: CompactOptions): Promise<Outcome> {
    const reason = 'pictures and files have more bytes than a request may';
    return isBound(this.state)
      ? this.#compact(compact, reason, { ...options, forced: true })
      : this.#compact(compactMedia, reason, options);
  }

  /** Begins at the provider's own compaction; pins that it no longer reads are reported. */
  async #startAtCompaction(index: number): Promise<Outcome> {
    this.state = await withWholePath(this.#config.store, this.state);
    const tokensBefore = this.prompt.tokens;
    const start = startAtCompaction(this.state, index, tokensBefore);
    if (start === undefined) return NOTHING_DONE;
    const { plan, unreadPins } = start;
    const freed = tokensBefore - plan.tokensAfter;
    const events = [this.emit({ kind: 'provider-compacted', messages: index, freed })];
    const message = `the provider compacted the conversation: ${unreadPins} pinned messages before its compaction are no longer read; say them again`;
    if (unreadPins > 0) events.push(this.#warn(message));
    const enforced = await this.#enforce(plan, events);
    if (enforced.lost === true) return { events, lost: true };
    // The provider answered from its compaction on: what was sent before binds nothing that comes after it.
    this.state = { ...compacted(this.state), sent: { kind: 'nothing' } };
    return { events: [...events, ...enforced.events], changed: true };
  }

  /** Brings back what the present turn asks for, and records that in the store. */
  async #remind(): Promise<Outcome> {
    const [state, details] = await remind(this.#config, this.state, this.prompt);
    this.state = state;
    const events = details.map((detail) => this.emit(detail));
    if (events.length > 0)
      await this.#config.store.record(this.key, [...events]).catch((error: unknown) => {
        events.push(this.#warn(errorText(error)));
      });
    return { events };
  }

  /**
   * Leaves out reasoning that was signed after another prompt than the present one: a provider would refuse it. A
   * running loop would be refused without its reasoning, so it is summarised first.
   */
  async #releaseReasoning(options: CompactOptions): Promise<Outcome> {
    const from = await this.#releasedFrom();
    if (from === undefined) return NOTHING_DONE;
    const reason = 'the prompt of a running loop has changed';
    const folded = isInLoop(this.state)
      ? await this.#compact(compact, reason, { ...options, forced: true })
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
    if (this.state.sent.kind === 'resumed')
      this.state = { ...this.state, sent: await sentEarlier(this.#config.store, this.key) };
    return releasedFrom(this.state, this.prompt);
  }

  /** Compacts at any pressure, and again if another writer was faster with a plan that leaves too much. */
  #compactTo(
    mostTokens: number,
    compactor: Compactor,
    reason: string,
    options: CompactOptions,
  ): Promise<Outcome> {
    const forced = { ...options, forced: true };
    const { reminding, config } = this.state;
    this.state = { ...this.state, reminding: withinReserve(reminding, config) };
    return retryOnConflict(async () => {
      const { lost, ...made } = await this.#compact(compactor, reason, forced);
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
    callHook(this.#config.hooks, (hooks) => hooks.onBeforeCompaction?.({ beforeTokens }));
    const isCalm = options.forced !== true && isReminded(this.state);
    const used = isCalm ? { ...config, policy: unaggressive(config.policy) } : config;
    const made = await compactor(used, this.#job(thread.head, reason, options));
    const outcome = made.changed ? await this.#putInForce(made) : { events: made.events };
    if (made.changed) this.state = compacted(this.state);
    else if (compactor === compact) this.state = tried(this.state);
    if (outcome.lost !== true) this.state = expired(this.state, config.clock.now());
    const afterTokens = this.prompt.tokens;
    const figures = { beforeTokens, afterTokens, compactedTokens: beforeTokens - afterTokens };
    callHook(this.#config.hooks, (hooks) => hooks.onAfterCompaction?.(figures));
    return outcome;
  }

  #job(head: Node, reason: string, options: WorkOptions): Job {
    const { thread, plan, figures } = this.state;
    const { task, sentMessages } = figures;
    return {
      key: this.key,
      head,
      window: windowOf(thread, plan),
      plan,
      task,
      sent: sentMessages,
      reason,
      unseenTokens: unseenTokens(triggerInput(this.state, this.prompt)),
      onEvent: (event) => callHook(this.#config.hooks, (hooks) => hooks.onEvent?.(event)),
      ...options,
    };
  }

  async #putInForce({ plan, events }: Compaction): Promise<Outcome> {
    const { undid: _, ...made } = plan;
    const enforced = await this.#enforce(made, events);
    if (enforced.lost === true) return { events, lost: true };
    const { embedder, store } = this.#config;
    if (embedder !== undefined)
      this.#embedding.start(embedder, store, this.key, (why) =>
        this.#warn(`recall goes by words alone: ${why}`),
      );
    return { events: [...events, ...enforced.events], changed: true };
  }

  /** Puts a plan in force. A store that fails costs the record of it, never the prompt. */
  async #enforce(plan: Plan, events: readonly CompactionEvent[]): Promise<Outcome> {
    const commit = await commitPlan(this.#config.store, this.state, plan, events);
    if (commit.kind !== 'failed')
      return this.#settle(commit) ? NOTHING_DONE : { events: [], lost: true };
    this.state = uncommitted(commit.state, { plan, events });
    const message = `the plan could not be committed and holds in this process alone: ${errorText(commit.error)}`;
    return { events: [this.#warn(message)] };
  }

  /** Continues with the state that a commit has left; false if another writer was faster. */
  #settle(commit: Commit): boolean {
    this.state = commit.state;
    if (commit.kind === 'failed') throw commit.error;
    return commit.kind === 'committed';
  }

  /** Commits a plan that is made again from the winner's if a race is lost. */
  async #commitSurely(what: string, make: () => Promise<Plan>): Promise<void> {
    const { lost } = await retryOnConflict(async () => {
      const plan = await make();
      const commit = await commitPlan(this.#config.store, this.state, plan, []);
      return this.#settle(commit) ? NOTHING_DONE : { events: [], lost: true };
    });
    if (lost === true)
      throw new Error(`thread ${this.key.thread} has other writers all the time: ${what} again`);
  }

  #fitted(outcome: Outcome, continueWith?: string): Fitted<Wire> {
    const shown = this.prompt.finish(this.state.config);
    return fittedPrompt(this.state, shown, this.#config.codec, { ...outcome, continueWith });
  }

  /** The prompt as it goes out. */
  #send(outcome: Outcome): Fitted<Wire> {
    const fitted = this.#fitted(outcome, this.state.config.policy.continueWith);
    this.state = withSent(this.state, fitted.prompt);
    return fitted;
  }

  #warn(message: string): CompactionEvent {
    return this.emit({ kind: 'warning', message });
  }

  /** Emits what happened as an event. */
  emit(detail: EventDetail): CompactionEvent {
    const event = sessionEvent(this.state, this.prompt.tokens, detail);
    callHook(this.#config.hooks, (hooks) => hooks.onEvent?.(event));
    return event;
  }
}

/** How often a lost race is run again before it is left to the winners. */
const MOST_RACES = 8;

/** Runs something again while another writer is faster, from the state that the winner has left. */
async function retryOnConflict(run: () => Promise<Outcome>): Promise<Outcome> {
  let done = await run();
  for (let tries = 1; tries < MOST_RACES && done.lost === true; tries++) done = await run();
  return done;
}
