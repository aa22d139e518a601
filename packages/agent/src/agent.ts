import {
  callsOf,
  resultsOf,
  textMessage,
  textOf,
  type CallPart,
  type Clock,
  type Fitted,
  type Json,
  type Message,
  type MessageId,
  type Refusal,
  type SummaryReport,
  type Usage,
  parseJson,
} from '@bobbin/core';
import { aiSdk, type AiSdkMessage } from '@bobbin/codecs';
import { compactionEnd, isCompaction, verdictOf } from './compaction-report.ts';
import type { AgentEvent, EndReason } from './events.ts';
import { PROTOCOL_VERSION } from './events.ts';
import type { Folders } from './folders.ts';
import { livePrompt, sentFor, type Sent } from './live-prompt.ts';
import { askModel, type Request } from './loop.ts';
import {
  startMachine,
  transition,
  type Effect,
  type Machine,
  type MachineEvent,
  type Readiness,
  type Result,
} from './machine.ts';
import { withMentions } from './mentions.ts';
import { chooseModel, type Model } from './models.ts';
import { reasonOf } from './provider-error.ts';
import type { Answer, Permissions } from './permissions.ts';
import type { Said } from './said.ts';
import { Session, type SessionSetting, type Vault } from './session.ts';
import type { Settings } from './settings.ts';
import { openCalls, resultMessage, ToolRunner, type Question } from './tool-run.ts';
import { addUsage, NO_USAGE } from './usage.ts';

export interface AgentOptions {
  readonly folders: Folders;
  readonly settings: Settings;
  readonly env: NodeJS.ProcessEnv;
  readonly vault: Vault;
  readonly model: string;
  readonly session: string;
  readonly permissions: Permissions;
  /** Whether somebody answers when a permission is asked for. */
  readonly interactive: boolean;
  readonly clock: Clock;
}

/** Carries out what the machine decides: the one place where model, tools, engine and listeners meet. */
export class Agent {
  readonly options: AgentOptions;
  readonly #listeners = new Set<(event: AgentEvent) => void>();
  #machine: Machine;
  #session: Session;
  #runner: ToolRunner;
  #effects: Promise<void> = Promise.resolve();
  #controller = new AbortController();
  #fitted: Fitted<AiSdkMessage> | undefined;
  #sent: Sent | undefined;
  #calls: readonly CallPart[] = [];
  readonly #asked = new Map<string, (answer: Answer) => void>();
  readonly #resting: ((reason: EndReason) => void)[] = [];
  #permissionCount = 0;
  /** What summarizing cost in the compaction that is under way. */
  #compactionUsage: Usage = NO_USAGE;
  #compactionStarted = false;
  #summaryFailed = false;

  private constructor(options: AgentOptions, machine: Machine) {
    this.options = options;
    this.#machine = machine;
    // Both are set before the constructor's caller hands the agent out.
    this.#session = undefined as unknown as Session;
    this.#runner = undefined as unknown as ToolRunner;
  }

  static async start(
    options: AgentOptions,
    listener?: (event: AgentEvent) => void,
  ): Promise<Agent> {
    const { folders, settings, env } = options;
    const agent = new Agent(options, startMachine(settings.compaction.enabled));
    if (listener !== undefined) agent.#listeners.add(listener);
    const model = chooseModel(options.model, settings, env, folders.project);
    await agent.#open(options.session, model);
    return agent;
  }

  on(listener: (event: AgentEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get session(): Session {
    return this.#session;
  }

  get machine(): Machine {
    return this.#machine;
  }

  get isIdle(): boolean {
    return this.#machine.phase === 'idle';
  }

  /** Sends a message, or queues it while something is under way. */
  say(text: string): void {
    this.#dispatch({ kind: 'submit', text });
  }

  goOn(): void {
    this.#dispatch({ kind: 'go-on' });
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

  /** Throws where there is no such model. */
  switchModel(model: string): void {
    this.#choose(model);
    this.#dispatch({ kind: 'want', wanted: { kind: 'switch', model } });
  }

  setAutomatic(on: boolean): void {
    this.#dispatch({ kind: 'automatic', on });
    this.tellContext();
  }

  /** Answers a permission that was asked for. False where it was not, or no longer is. */
  answer(id: string, answer: Answer): boolean {
    const resolve = this.#asked.get(id);
    this.#asked.delete(id);
    resolve?.(answer);
    return resolve !== undefined;
  }

  /** Resolves when nothing is under way and all that was sent is done. */
  rest(): Promise<EndReason> {
    if (this.isIdle) return this.#effects.then(() => 'done');
    return new Promise((resolve) => this.#resting.push(resolve));
  }

  /** Goes over to another session; the one before stays as it is. */
  async enter(id: string, model: Model = this.#session.model): Promise<void> {
    const { phase, queue, automatic } = this.#machine;
    this.#machine = { ...startMachine(automatic === 'on'), phase, queue, automatic };
    await this.#open(id, model);
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
  async note(said: Said, pinned: boolean = false): Promise<MessageId> {
    const { typed, attached = [] } = said;
    const id = await this.#session.say(said, pinned);
    const text = [typed, ...attached].join('\n\n');
    this.emit({ type: 'user', id, text, ...(attached.length === 0 ? {} : { typed }) });
    this.tellContext();
    return id;
  }

  emit(event: AgentEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  tellSession(): void {
    const { id, file, model, windowTokens, handle } = this.#session;
    this.emit({
      type: 'session',
      version: PROTOCOL_VERSION,
      session: id,
      project: this.options.folders.project,
      model: model.name,
      windowTokens,
      messages: handle.length,
      file,
    });
    this.tellContext();
  }

  tellContext(): void {
    const { contextTokens, windowTokens, handle } = this.#session;
    const last = handle.messages.findLast(
      ({ role, meta }) => role === 'assistant' && meta?.usage !== undefined,
    );
    this.emit({
      type: 'context',
      tokens: contextTokens,
      windowTokens,
      automatic: this.#machine.automatic === 'on',
      usage: last?.meta?.usage ?? NO_USAGE,
    });
  }

  async #open(id: string, model: Model): Promise<void> {
    const { folders, settings, vault, clock, permissions, interactive, env } = this.options;
    const { compaction } = settings;
    const summaryModel =
      compaction.model === undefined
        ? undefined
        : chooseModel(compaction.model, settings, env, folders.project);
    const setting: SessionSetting = {
      folders,
      vault,
      settings,
      model,
      ...(summaryModel === undefined ? {} : { summaryModel }),
      clock,
      automatic: this.#machine.automatic === 'on',
      summaries: this.#machine.summaries,
      live: async () =>
        this.#sent === undefined ? undefined : livePrompt(this.#sent, this.#session),
      onSummaryStart: () => this.#compactionBegan(),
      onSummaryReport: (report) => this.#paid(report),
      onSummaryFailure: () => {
        this.#summaryFailed = true;
      },
    };
    this.#session = await Session.open(id, setting);
    const ask = interactive ? this.#askPermission.bind(this) : undefined;
    this.#runner = new ToolRunner(this.#session.tools, permissions, ask);
    this.tellSession();
  }

  #choose(name: string): Model {
    const { settings, env, folders } = this.options;
    return chooseModel(name, settings, env, folders.project);
  }

  #dispatch(event: MachineEvent): void {
    const before = this.#machine.phase;
    const [machine, effects] = transition(this.#machine, event);
    this.#machine = machine;
    if (machine.phase !== before) this.emit({ type: 'phase', phase: machine.phase });
    // Made before anything runs: what is interrupted at once is interrupted too.
    if (effects.some(({ kind }) => LONG.has(kind))) this.#controller = new AbortController();
    for (const effect of effects) {
      if (effect.kind === 'abort') this.#controller.abort();
      else this.#effects = this.#effects.then(() => this.#carryOut(effect));
    }
  }

  /** Does at once what is quick, and starts what is not: its end comes back as an event. */
  async #carryOut(effect: Effect): Promise<void> {
    switch (effect.kind) {
      case 'append':
        return this.#append(effect.text);
      case 'prepare':
        return this.#under(() => this.#prepare(effect.compaction));
      case 'ask':
        return this.#under(() => this.#ask());
      case 'act':
        return this.#under(() => this.#act());
      case 'compact':
        return this.#under(() => this.#compact(effect.instructions));
      case 'compact-for-provider':
        return this.#under(() => this.#compactForProvider(effect.refusal));
      case 'switch':
        return this.#under(() => this.#switch(effect.model));
      case 'abort':
        return;
      case 'use-extract':
        return this.#session.change({ summaries: 'extract' });
      case 'tell-queue':
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
    this.tellContext();
    this.emit({ type: 'end', reason });
    if (!this.isIdle) return;
    for (const resolve of this.#resting.splice(0)) resolve(reason);
  }

  /** What an interruption keeps from being sent goes back to where it was typed. */
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

  /** Runs one long thing; what it returns, or how it failed, is the machine's next event. */
  #under(work: () => Promise<MachineEvent>): void {
    const { signal } = this.#controller;
    this.#compactionUsage = NO_USAGE;
    this.#compactionStarted = false;
    this.#summaryFailed = false;
    const working = signal.aborted ? Promise.resolve(ABORTED) : work();
    working
      .catch((error: unknown): MachineEvent => {
        if (this.#compactionStarted)
          this.emit({
            type: 'compaction-stopped',
            reason: signal.aborted ? 'interrupted' : reasonOf(error),
          });
        return signal.aborted ? ABORTED : { kind: 'failed', reason: reasonOf(error) };
      })
      // A prompt that was ready all the same is not sent.
      .then((event) =>
        this.#dispatch(signal.aborted && event.kind === 'prepared' ? ABORTED : event),
      )
      .catch((error: unknown) => this.emit({ type: 'error', error: reasonOf(error) }));
  }

  async #prepare(compaction: Readiness): Promise<MachineEvent> {
    const { signal } = this.#controller;
    if (compaction === 'never' && this.#session.isFull)
      return { kind: 'prepared', result: 'none', fits: true, full: true };
    const fitted = await this.#session.prompt(compaction === 'early', signal);
    this.#fitted = fitted;
    return { kind: 'prepared', result: await this.#told(fitted), fits: fitted.fits, full: false };
  }

  async #ask(): Promise<MachineEvent> {
    const { signal } = this.#controller;
    const fitted = this.#fitted;
    if (fitted === undefined) throw new Error('nothing was prepared');
    const { system, tools, model } = this.#session;
    const request: Request = {
      model: await model.load(),
      system,
      ...wireOf(fitted, model.provider === 'anthropic'),
      tools,
      signal,
      onText: (type, text) => this.emit({ type, text }),
    };
    this.#sent = sentFor(this.#session, request);
    const answer = await askModel(request);
    switch (answer.kind) {
      case 'answer':
        return this.#answered(answer.messages, answer.usage, answer.cutOff);
      case 'aborted':
        if (answer.text !== '') await this.#keepAborted(answer.text);
        return { kind: 'aborted' };
      case 'overflow':
        return { kind: 'overflowed', reason: answer.reason, refusal: answer.refusal };
      case 'failure':
        return { kind: 'failed', reason: answer.reason };
    }
  }

  async #answered(
    wire: readonly AiSdkMessage[],
    usage: Usage,
    cutOff: boolean,
  ): Promise<MachineEvent> {
    const time = this.options.clock.now();
    const meta = { time, usage, model: this.#session.model.name, status: 'complete' } as const;
    const messages = aiSdk
      .decode(wire)
      .map((message): Message =>
        message.role === 'assistant' ? { ...message, meta } : { ...message, meta: { time } },
      );
    const ids = await this.#session.append(...messages);
    this.#calls = openCalls(messages);
    for (const [i, message] of messages.entries())
      if (message.role === 'assistant') this.#tellAssistant(ids[i] as MessageId, message, usage);
    if (cutOff) this.emit({ type: 'notice', text: 'The answer was cut off at its output limit.' });
    this.tellContext();
    return { kind: 'answered', calls: this.#calls.length + messages.flatMap(resultsOf).length };
  }

  #tellAssistant(
    id: MessageId,
    message: Message,
    usage: Usage,
    status: 'complete' | 'aborted' = 'complete',
  ): void {
    const calls = callsOf(message).map(({ callId, tool }) => ({ callId, tool }));
    this.emit({ type: 'assistant', id, text: textOf(message), calls, usage, status });
  }

  async #keepAborted(text: string): Promise<void> {
    const message = textMessage('assistant', text, {
      time: this.options.clock.now(),
      status: 'aborted',
    });
    const [id] = await this.#session.append(message);
    this.#tellAssistant(id as MessageId, message, NO_USAGE, 'aborted');
  }

  /** Runs the calls one after another; each result is kept as soon as it is there. */
  async #act(): Promise<MachineEvent> {
    const { signal } = this.#controller;
    const { clock, folders, vault } = this.options;
    for (const call of this.#calls) {
      const { callId, tool } = call;
      const startedAt = clock.now();
      this.emit({
        type: 'tool-start',
        callId,
        tool,
        args: (parseJson(call.args) ?? call.args) as Json,
      });
      const output = await this.#runner.run(call, {
        root: folders.project,
        key: this.#session.key,
        store: vault.store,
        artifacts: vault.artifacts,
        signal,
        progress: (text) => this.emit({ type: 'tool-output', callId, text }),
      });
      await this.#session.append(resultMessage(call, output, startedAt, clock.now()));
      const { outcome, text, diff } = output;
      this.emit({
        type: 'tool-end',
        callId,
        tool,
        outcome,
        text,
        ...(diff === undefined ? {} : { diff }),
      });
    }
    this.#calls = [];
    return { kind: signal.aborted ? 'aborted' : 'acted' };
  }

  async #compact(instructions?: string): Promise<MachineEvent> {
    const { signal } = this.#controller;
    this.#compactionBegan();
    const wish = instructions === undefined ? {} : { instructions };
    return this.#compacted(await this.#session.compact({ signal, ...wish }));
  }

  /** The provider counted more than the engine (E3), which learns from it. */
  async #compactForProvider(refusal: Refusal): Promise<MachineEvent> {
    this.#compactionBegan();
    return this.#compacted(await this.#session.refused(refusal, this.#controller.signal));
  }

  async #compacted(fitted: Fitted<AiSdkMessage>): Promise<MachineEvent> {
    const result = await this.#told(fitted);
    if (result === 'done' || result === 'by-extract') return { kind: 'compacted', result };
    this.emit({ type: 'compaction-stopped', reason: 'there is nothing to compact' });
    return { kind: 'compacted', result: 'none' };
  }

  async #switch(name: string): Promise<MachineEvent> {
    const { signal } = this.#controller;
    const { setting, windowTokens } = this.#session;
    const model = this.#choose(name);
    // A model that cannot be loaded is not switched to.
    await model.load();
    let result: Result = 'none';
    if (model.windowTokens < windowTokens) {
      try {
        // For the new window, but by the old model: the new one could not read it all.
        await this.#session.change({ model, summaryModel: setting.summaryModel ?? setting.model });
        result = await this.#told(await this.#session.prompt(true, signal));
      } catch (error) {
        await this.#session.change(setting);
        throw error;
      }
    }
    const { summaryModel: _, ...rest } = this.#session.setting;
    const own = setting.summaryModel;
    await this.#session.change({
      ...rest,
      model,
      summaries: 'model',
      ...(own === undefined ? {} : { summaryModel: own }),
    });
    this.tellSession();
    return { kind: 'switched', result };
  }

  #compactionBegan(): void {
    if (this.#compactionStarted) return;
    this.#compactionStarted = true;
    this.emit({
      type: 'compaction-start',
      reason: this.#machine.phase,
      tokensBefore: this.#session.contextTokens,
    });
    this.#dispatch({ kind: 'compaction-began' });
  }

  #paid(report: SummaryReport): void {
    if (report.kind !== 'called') return;
    this.#compactionUsage = addUsage(this.#compactionUsage, report.usage);
  }

  /** Tells what the engine did for a prompt, and says how it came out. */
  async #told(fitted: Fitted<AiSdkMessage>): Promise<Result> {
    const { result, shortened } = verdictOf(fitted, this.#compactionStarted, this.#summaryFailed);
    if (shortened > 0)
      this.emit({
        type: 'notice',
        text: `${shortened === 1 ? 'A long result was' : `${shortened} long results were`} shortened; read_artifact gives the whole of it.`,
      });
    if (result !== 'done' && result !== 'by-extract') return result;
    this.#compactionBegan();
    const about =
      result === 'done' ? await this.#session.about(this.#controller.signal) : undefined;
    // A plan that could not be kept holds in this process; the store that failed need not answer either.
    const events = await this.#session.store.events(this.#session.key).catch(() => []);
    const count = Math.max(1, events.filter(({ event }) => isCompaction(event)).length);
    const { systemTokens, toolTokens } = this.#session;
    this.emit(compactionEnd(fitted, systemTokens + toolTokens, count, this.#compactionUsage));
    if (about !== undefined) this.emit({ type: 'notice', text: about });
    this.tellContext();
    return result;
  }

  #askPermission(question: Question, signal: AbortSignal): Promise<Answer> {
    const id = `permission-${++this.#permissionCount}`;
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      signal.addEventListener('abort', () => this.answer(id, 'no'), { once: true });
      this.emit({ type: 'permission', id, ...question });
    });
  }
}

const ABORTED: MachineEvent = { kind: 'aborted' };

/** What takes its time and can be interrupted. */
const LONG: ReadonlySet<Effect['kind']> = new Set([
  'prepare',
  'ask',
  'act',
  'compact',
  'compact-for-provider',
  'switch',
]);

/** The messages to send, with the positions of cache markers among them for a provider that wants any. */
function wireOf(
  fitted: Fitted<AiSdkMessage>,
  marked: boolean,
): { messages: readonly AiSdkMessage[]; cachePoints: readonly number[] } {
  if (!marked) return { messages: fitted.messages, cachePoints: [] };
  const points = new Set(fitted.prompt.cachePoints);
  const messages: AiSdkMessage[] = [];
  const cachePoints: number[] = [];
  for (const [i, { message }] of fitted.prompt.messages.entries()) {
    messages.push(...aiSdk.encode([message]));
    if (points.has(i) && messages.length > 0) cachePoints.push(messages.length - 1);
  }
  return { messages, cachePoints };
}
