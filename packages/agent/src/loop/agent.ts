import type { MessageId, ThreadId } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import type { AgentOptions } from '../agent-options.ts';
import { Compacting } from '../compaction/compacting.ts';
import type { AgentEvent, EndReason } from '../events.ts';
import { livePrompt } from '../compaction/live-prompt.ts';
import { isLong, type Effect } from './effect.ts';
import { startMachine, transition, type Machine, type MachineEvent } from './machine.ts';
import { withMentions } from '../input/mentions.ts';
import { withServerWindow } from '../model/model-server.ts';
import { switchModel } from '../model/model-switch.ts';
import { chooseModel, type Model } from '../model/models.ts';
import type { Answer } from './permissions.ts';
import { reasonOf } from '../model/provider-error.ts';
import { Questions } from './questions.ts';
import type { Said } from './said.ts';
import { AgentSession } from '../session/session.ts';
import { contextEvent, sessionEvent } from '../session/session-events.ts';
import { restoredModel } from '../session/session-model.ts';
import type { SessionSetting } from '../session/session-setting.ts';
import { lockOf, type SessionLock } from '../session/session-lock.ts';
import { Step } from './step.ts';

/** Carries out what the machine decides: the one place where model, tools, engine and listeners meet. */
export class Agent {
  readonly options: AgentOptions;
  readonly #listeners = new Set<(event: AgentEvent) => void>();
  readonly #questions = new Questions((event) => this.emit(event));
  readonly #compacting = new Compacting(this, () => this.#dispatch({ kind: 'compaction-began' }));
  #machine: Machine;
  #session: AgentSession;
  #step: Step;
  #lock: SessionLock | undefined;
  #effects: Promise<void> = Promise.resolve();
  #controller = new AbortController();
  readonly #resting: ((reason: EndReason) => void)[] = [];
  #lastEnd: EndReason = 'done';
  /** What a person should know of how it started. */
  readonly #notices: string[];

  private constructor(options: AgentOptions, machine: Machine) {
    this.options = options;
    this.#notices = [...(options.notices ?? [])];
    this.#machine = machine;
    // Both are set before the constructor's caller hands the agent out.
    this.#session = undefined as unknown as AgentSession;
    this.#step = undefined as unknown as Step;
  }

  static async start(
    options: AgentOptions,
    listener?: (event: AgentEvent) => void,
  ): Promise<Agent> {
    const agent = new Agent(options, startMachine(options.settings.compaction.enabled));
    if (listener !== undefined) agent.#listeners.add(listener);
    const { model, notice } = await withServerWindow(agent.#choose(options.model));
    if (notice !== undefined) agent.#notices.push(notice);
    await agent.#open(options.session, model, agent.#machine);
    return agent;
  }

  on(listener: (event: AgentEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get session(): AgentSession {
    return this.#session;
  }

  get machine(): Machine {
    return this.#machine;
  }

  /** How the last of what was sent ended. */
  get lastEnd(): EndReason {
    return this.#lastEnd;
  }

  get isIdle(): boolean {
    return this.#machine.phase === 'idle';
  }

  /** Sends a message, or queues it while something is under way. */
  say(text: string): void {
    this.#dispatch({ kind: 'submit', text });
  }

  /** Has the last message answered. If every message is answered, nothing is asked for: it would be paid for. */
  goOn(): void {
    if (this.isIdle && !this.#session.isUnanswered)
      return this.emit({ type: 'notice', text: 'Nothing waits for an answer: type a message.' });
    return this.#dispatch({ kind: 'go-on' });
  }

  interrupt(): void {
    this.#dispatch({ kind: 'interrupt' });
  }

  compact(instructions?: string): void {
    this.#dispatch({
      kind: 'want',
      wanted: { kind: 'compact', ...(instructions === undefined ? {} : { instructions }) },
    });
  }

  /** The last compaction was taken back: it says nothing of the next ones. */
  forgetCompaction(): void {
    this.#dispatch({ kind: 'undone' });
    this.tellContext();
  }

  /** Throws if there is no such model. */
  switchModel(model: string): void {
    this.#choose(model);
    this.#dispatch({ kind: 'want', wanted: { kind: 'switch', model } });
  }

  setAutomatic(on: boolean): void {
    this.#dispatch({ kind: 'automatic', on });
    this.tellContext();
  }

  /** Answers a permission that was asked for. False if it was not, or no longer is. */
  answer(id: string, answer: Answer): boolean {
    return this.#questions.answer(id, answer);
  }

  /** No person is left to ask. */
  leaveAlone(): void {
    this.#questions.close();
  }

  /** Resolves when nothing is under way and all that was sent is done, with how the last of it ended. */
  rest(): Promise<EndReason> {
    if (this.isIdle) return this.#effects.then(() => this.#lastEnd);
    return new Promise((resolve) => this.#resting.push(resolve));
  }

  async close(): Promise<void> {
    this.#lock?.release();
    this.#lock = undefined;
    await this.options.vault.store.close();
  }

  /** Changes to an existing session, with the model that it had. */
  async resume(id: string): Promise<void> {
    const key = { ...this.#session.key, thread: id as ThreadId };
    const restored = await restoredModel(this.#session.store, key, (name) => this.#choose(name));
    await this.enter(
      id,
      restored.kind === 'restored' ? await this.#ready(restored.name) : undefined,
    );
    if (restored.kind === 'unavailable') this.emit({ type: 'notice', text: restored.why });
  }

  /**
   * Changes to another session; the one before stays as it is. What was asked for meanwhile comes along. What was paid
   * in other sessions counts here if they are named.
   */
  async enter(
    id: string,
    model: Model = this.#session.model,
    paidIn: readonly ThreadKey[] = [],
  ): Promise<void> {
    const { phase, queue, wanted, automatic } = this.#machine;
    const machine = { ...startMachine(automatic === 'on'), phase, queue, wanted, automatic };
    await this.#open(id, model, machine, paidIn);
  }

  /** Does some work that can be interrupted; what is typed meanwhile waits for it. */
  async hold<T>(work: (signal: AbortSignal) => Promise<T>, goOn: boolean = false): Promise<T> {
    const { isIdle } = this;
    if (isIdle) this.#controller = new AbortController();
    this.#dispatch({ kind: 'hold' });
    const { signal } = this.#controller;
    try {
      const made = await work(signal);
      if (isIdle) this.#dispatch({ kind: 'released', goOn });
      return made;
    } catch (error) {
      if (isIdle)
        this.#dispatch(signal.aborted ? { kind: 'aborted' } : { kind: 'released', goOn: false });
      throw error;
    }
  }

  /** Appends a message without asking for an answer. */
  async note(said: Said): Promise<MessageId> {
    const { typed, attached = [] } = said;
    const id = await this.#session.say(said);
    const text = [typed, ...attached].join('\n\n');
    this.emit({ type: 'user', id, text, ...(attached.length === 0 ? {} : { typed }) });
    this.tellContext();
    return id;
  }

  readonly emit: (event: AgentEvent) => void = (event) => {
    for (const listener of this.#listeners) listener(event);
  };

  /** Reports how it started: the session, and what a person should know of it. */
  tellStart(): void {
    this.tellSession();
    for (const text of this.#notices) this.emit({ type: 'notice', text });
  }

  tellSession(): void {
    this.emit(sessionEvent(this.#session, this.options.folders.project));
    this.tellContext();
  }

  tellContext(): void {
    this.emit(contextEvent(this.#session, this.#machine.automatic === 'on'));
  }

  async #open(
    id: string,
    model: Model,
    machine: Machine,
    paidIn: readonly ThreadKey[] = [],
  ): Promise<void> {
    const { folders, interactive } = this.options;
    const lock = lockOf(folders, id, this.#lock);
    try {
      const setting = await this.#settingFor(model, machine);
      this.#session = await AgentSession.open(id, { ...setting, paidIn });
    } catch (error) {
      if (lock !== this.#lock) lock?.release();
      throw error;
    }
    if (lock !== this.#lock) this.#lock?.release();
    this.#lock = lock;
    this.#machine = machine;
    const questions = this.#questions;
    const ask = interactive ? questions.ask.bind(questions) : undefined;
    this.#step = new Step(this, this.#compacting, ask);
    this.tellSession();
  }

  async #settingFor(
    model: Model,
    { automatic, summaries }: Machine,
  ): Promise<Omit<SessionSetting, 'paidIn'>> {
    const { folders, settings, vault, clock } = this.options;
    const { compaction } = settings;
    const summaryModel =
      compaction.model === undefined
        ? undefined
        : (await withServerWindow(this.#choose(compaction.model))).model;
    return {
      folders,
      vault,
      settings,
      model,
      ...(summaryModel === undefined ? {} : { summaryModel }),
      clock,
      automatic: automatic === 'on',
      summaries,
      live: async () => {
        const { sent } = this.#step;
        return sent === undefined ? undefined : livePrompt(sent, this.#session);
      },
      onSummaryWanted: () => this.#compacting.want(),
      onSummaryStart: () => this.#compacting.begin(),
      onSummaryReport: (report) => this.#compacting.pay(report),
      onSummaryFailure: () => this.#compacting.failSummary(),
    };
  }

  /** Throws if there is no such model. */
  #choose(name: string): Model {
    const { settings, env, folders } = this.options;
    return chooseModel(name, settings, env, folders.project);
  }

  /** The model with its window as its server reports it. @throws as `#choose`. */
  async #ready(name: string): Promise<Model> {
    const { model, notice } = await withServerWindow(this.#choose(name));
    if (notice !== undefined) this.emit({ type: 'notice', text: notice });
    return model;
  }

  #dispatch(event: MachineEvent): void {
    const before = this.#machine.phase;
    const [machine, effects] = transition(this.#machine, event);
    this.#machine = machine;
    if (machine.phase !== before) this.emit({ type: 'phase', phase: machine.phase });
    // Made before anything runs: what is interrupted at once is interrupted too.
    if (effects.some(isLong)) this.#controller = new AbortController();
    if (effects.some(({ kind }) => kind === 'abort')) this.#controller.abort();
    this.#effects = this.#effects.then(() => this.#carryOutAll(effects));
  }

  /**
   * If one fails, those after it would rely on something that did not happen: what was typed comes back, and the turn
   * is over.
   */
  async #carryOutAll(effects: readonly Effect[]): Promise<void> {
    for (const [i, effect] of effects.entries()) {
      try {
        await this.#carryOut(effect);
      } catch (error) {
        const texts = effects
          .slice(i)
          .flatMap((each) => (each.kind === 'append' ? [each.text] : []));
        if (texts.length > 0) this.emit({ type: 'returned', texts });
        return this.#dispatch({ kind: 'failed', reason: reasonOf(error) });
      }
    }
  }

  /** Does at once what is quick, and starts what is not: its end comes back as an event. */
  async #carryOut(effect: Effect): Promise<void> {
    switch (effect.kind) {
      case 'append':
        return this.#append(effect.text);
      case 'prepare':
        return this.#under((signal) => this.#step.prepare(effect.compaction, signal));
      case 'ask':
        return this.#under((signal) => this.#step.ask(signal));
      case 'act':
        return this.#under((signal) => this.#step.act(signal));
      case 'compact':
        return this.#under((signal) => this.#compacting.asked(effect.instructions, signal));
      case 'compact-for-provider':
        return this.#under((signal) => this.#compacting.forProvider(effect.refusal, signal));
      case 'switch':
        return this.#under(async (signal) => {
          const model = await this.#ready(effect.model);
          return switchModel(this, this.#compacting, model, signal);
        });
      case 'abort':
        return;
      case 'use-extract':
        return this.#session.change({ summaries: 'extract' });
      case 'show-queue':
        return this.emit({ type: 'queued', texts: effect.texts });
      case 'return':
        return this.emit({ type: 'returned', texts: effect.texts });
      case 'notice':
        return this.emit({ type: 'notice', text: effect.text });
      case 'error':
        return this.emit({ type: 'error', error: effect.text });
      case 'end':
        return this.#end(effect.reason);
    }
  }

  #end(reason: EndReason): void {
    this.#lastEnd = reason;
    this.tellContext();
    this.emit({ type: 'end', reason });
    if (!this.isIdle) return;
    for (const resolve of this.#resting.splice(0)) resolve(reason);
  }

  /** What an interruption keeps from being sent goes back to the place where it was typed. */
  async #append(typed: string): Promise<void> {
    const { signal } = this.#controller;
    try {
      const said = await withMentions(this, typed, signal);
      signal.throwIfAborted();
      await this.note(said);
    } catch (error) {
      if (!signal.aborted) throw error;
      this.emit({ type: 'returned', texts: [typed] });
    }
  }

  /** Runs one long task; its result, or its failure, is the machine's next event. */
  #under(work: (signal: AbortSignal) => Promise<MachineEvent>): void {
    const { signal } = this.#controller;
    this.#compacting.reset();
    const working = signal.aborted ? Promise.resolve(ABORTED) : work(signal);
    working
      .catch((error: unknown): MachineEvent => {
        this.#compacting.stop(signal.aborted ? 'interrupted' : reasonOf(error));
        return signal.aborted ? ABORTED : { kind: 'failed', reason: reasonOf(error) };
      })
      // A prompt that was already made is not sent.
      .then((event) =>
        this.#dispatch(signal.aborted && event.kind === 'prepared' ? ABORTED : event),
      )
      .catch((error: unknown) => this.emit({ type: 'error', error: reasonOf(error) }));
  }
}

const ABORTED: MachineEvent = { kind: 'aborted' };
