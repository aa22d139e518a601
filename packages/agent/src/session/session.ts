import { join } from 'node:path';
import type {
  CompactionEvent,
  CompactOptions,
  Counter,
  Fitted,
  Message,
  MessageId,
  Prompt,
  Refusal,
  Store,
  Summarizer,
  Session,
  ThreadId,
} from '@bobbin/core';
import {
  budget,
  contextSize,
  currentSummary,
  messageLimit,
  trustedSummarizer,
  type ContextSize,
  type Node,
  type SummaryReport,
  type ThreadKey,
  jsonText,
} from '@bobbin/core/internal';
import { mannerOf } from '@bobbin/models';
import type { AiSdkMessage } from '@bobbin/codecs/ai-sdk';
import { readInstructions } from '../input/instructions.ts';
import { factorBetween } from '../model/learnt-tokens.ts';
import type { Model } from '../model/models.ts';
import { openThread, type OpenedThread } from './opened-thread.ts';
import { budgetOf, policyOf, reserveOf } from '../compaction/policy.ts';
import { saidParts, type Said } from '../loop/said.ts';
import { projectName } from './session-id.ts';
import type { SessionSetting } from './session-setting.ts';
import { namedFor, sessionSummarizer } from '../compaction/summarizing.ts';
import { systemPrompt } from '../loop/system-prompt.ts';
import { loadedBehind } from '../model/tokenizer.ts';
import { openCalls, resultMessage } from '../loop/tool-run.ts';
import { toolbox, toolSchemas, type Toolbox } from '../tools/toolbox.ts';
import { UNKNOWN_OUTCOME } from '../loop/unknown-outcome.ts';

/** A thread with its store, the model that reads it and the tools that work for it. It holds no compaction logic: the engine does. */
export class AgentSession {
  readonly key: ThreadKey;
  readonly tools: Toolbox;
  #setting: SessionSetting;
  #opened: OpenedThread;
  #system: string;
  /** What was paid for and is not in the ledger yet. */
  readonly #charges: CompactionEvent[] = [];
  /** What summaries cost that may yet lead to a plan: then the engine puts that into the ledger. */
  readonly #reports: SummaryReport[];
  /** Loads the tokenizer of the model; undefined if none is available. */
  #tokenizer: () => Promise<Counter | undefined>;
  /** The window in the engine's tokens: less than the model's if the provider refused what should have fitted. */
  #windowTokens: number;

  private constructor(
    key: ThreadKey,
    tools: Toolbox,
    setting: SessionSetting,
    system: string,
    opened: OpenedThread,
    reports: SummaryReport[],
  ) {
    this.key = key;
    this.tools = tools;
    this.#setting = setting;
    this.#system = system;
    this.#opened = opened;
    this.#reports = reports;
    this.#windowTokens = setting.model.windowTokens;
    this.#tokenizer = loadedBehind(setting.model);
  }

  static async open(id: string, given: SessionSetting): Promise<AgentSession> {
    const { folders } = given;
    const reports: SummaryReport[] = [];
    const onSummaryReport = (report: SummaryReport): void => {
      reports.push(report);
      given.onSummaryReport(report);
    };
    const setting = { ...given, onSummaryReport };
    const key = { tenant: projectName(folders.project), thread: id as ThreadId };
    const tools = toolbox(folders.project);
    const system = systemPrompt(folders.project, readInstructions(folders));
    const opened = await openThread(key, tools, setting, system, setting.model.windowTokens);
    const session = new AgentSession(key, tools, setting, system, opened, reports);
    await session.#settleCalls();
    return session;
  }

  /** Calls that were under way when a process died get a result that says so. */
  async #settleCalls(): Promise<void> {
    const { messages } = this.handle;
    const round = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant'));
    if (round.some(({ role }) => role === 'user')) return;
    const now = this.#setting.clock.now();
    const results = openCalls(round).map((call) =>
      resultMessage(call, { text: UNKNOWN_OUTCOME, outcome: 'partial' }, now, now),
    );
    if (results.length > 0) await this.append(...results);
  }

  /** True if the newest message waits for an answer; an interrupted answer does not count as one. */
  get isUnanswered(): boolean {
    const last = this.handle.messages.at(-1);
    if (last?.role !== 'assistant') return last !== undefined;
    return (last.meta?.status ?? 'complete') !== 'complete';
  }

  get id(): string {
    return this.key.thread;
  }

  get file(): string {
    return join(this.#setting.vault.folder, this.key.tenant, `${this.id}.jsonl`);
  }

  get model(): Model {
    return this.#setting.model;
  }

  get setting(): SessionSetting {
    return this.#setting;
  }

  get system(): string {
    return this.#system;
  }

  get windowTokens(): number {
    return this.#windowTokens;
  }

  get handle(): Session<AiSdkMessage> {
    return this.#opened.handle;
  }

  get store(): Store {
    return this.#setting.vault.store;
  }

  get systemTokens(): number {
    return this.#opened.systemTokens;
  }

  get toolTokens(): number {
    return this.#opened.toolTokens;
  }

  /**
   * What the window holds, the one figure for footer, commands and events: as the provider reported it last with the
   * rest estimated, or all of it estimated if nothing was reported for the plan in force.
   */
  get contextTokens(): number {
    const { tokens, reportedTokens } = this.#reported();
    const share = this.#share;
    if (reportedTokens === 0) return Math.round(this.#estimatedTokens * share);
    return Math.round(reportedTokens + (tokens - reportedTokens) * share);
  }

  /** Reports for the prompts of another plan say nothing: of one that was replaced, or of one that was undone. */
  #reported(): ContextSize {
    const { handle } = this.#opened;
    const { plan, length, messages } = handle;
    const since = plan.undid === undefined ? plan.threadVersion : plan.signedFrom;
    return contextSize(
      messages.slice(Math.max(0, since - (length - messages.length))),
      handle.counter,
    );
  }

  get #estimatedTokens(): number {
    const { handle, limitTokens, systemTokens, toolTokens } = this.#opened;
    return handle.pressure * limitTokens + systemTokens + toolTokens;
  }

  /** What the provider reports for one of the engine's tokens, which are on the safe side. */
  get #share(): number {
    return this.#setting.vault.learnt.of(this.model.name, this.#opened.base)?.share ?? 1;
  }

  /** Learns from an answer's usage, also the size of the request without its messages, and keeps it. */
  async #learn(): Promise<void> {
    const { handle, base, systemTokens } = this.#opened;
    const { reportedTokens, tokens } = this.#reported();
    if (reportedTokens === 0 || tokens !== reportedTokens) return;
    if (handle.counter.text(this.#system) !== systemTokens)
      await this.#reconfigure(this.#system, this.#setting.automatic);
    const factor = factorBetween(handle.counter, base);
    const share = reportedTokens / this.#estimatedTokens;
    this.#setting.vault.learnt.keep(this.model.name, base, { factor, share });
  }

  async say(said: Said): Promise<MessageId> {
    const time = this.#setting.clock.now();
    const parts = saidParts(said);
    const [id] = await this.handle.appendDecoded([{ role: 'user', parts, meta: { time } }]);
    await this.keepCharges();
    return id as MessageId;
  }

  async append(...messages: readonly Message[]): Promise<readonly MessageId[]> {
    const ids = await this.handle.appendDecoded(messages);
    await this.#learn();
    return ids;
  }

  /** The prompt for the next request, compacted first if the policy says so. Instructions are read again from disk. */
  async prompt(compaction: boolean, signal: AbortSignal): Promise<Fitted<AiSdkMessage>> {
    await this.#countExactly();
    const { folders, automatic } = this.#setting;
    const system = systemPrompt(folders.project, readInstructions(folders));
    if (system !== this.#system || automatic !== compaction)
      await this.#reconfigure(system, compaction);
    return this.#booked(this.handle.prompt({ signal }));
  }

  /**
   * Compacts now. A short conversation keeps less than the settings say, or there would be nothing to compact.
   * Instructions are for a summary, so that there is one even if moving results out would be enough.
   */
  async compact(options: CompactOptions): Promise<Fitted<AiSdkMessage>> {
    await this.#countExactly();
    const { handle, limitTokens } = this.#opened;
    const { settings, automatic } = this.#setting;
    const quarter = Math.floor((handle.pressure * limitTokens) / 4);
    const keepRecentTokens = Math.min(settings.compaction.keepRecentTokens, Math.max(1, quarter));
    const policy = policyOf({ ...settings.compaction, keepRecentTokens }, this.#windowTokens, true);
    const stop = options.instructions === undefined ? policy.stop : 'at-end';
    await handle.reconfigure({ policy: { ...policy, stop } });
    try {
      return await this.#booked(handle.compact(options));
    } finally {
      await handle.reconfigure({
        policy: policyOf(settings.compaction, this.#windowTokens, automatic),
      });
    }
  }

  /**
   * What was paid for a summary that no plan holds is in the ledger too: it came to nothing, or another writer was faster.
   * A store that fails costs that record until the next one, never the prompt.
   */
  async #booked(fitting: Promise<Fitted<AiSdkMessage>>): Promise<Fitted<AiSdkMessage>> {
    try {
      return await fitting;
    } finally {
      await this.#book().catch(() => undefined);
    }
  }

  async #book(): Promise<void> {
    if (this.#reports.length === 0) return;
    const stored = await this.store.events(this.key);
    const held = new Set(
      stored.flatMap(({ event }) =>
        event.kind === 'summary-report' ? [jsonText(event.report)] : [],
      ),
    );
    for (const report of this.#reports.splice(0))
      if (!held.has(jsonText(report))) this.charge(report);
    await this.keepCharges();
  }

  /** A session opens with the estimator; before anything is decided by its counts, the tokenizer takes over. */
  async #countExactly(): Promise<void> {
    if (this.#opened.exact !== undefined) return;
    const exact = await this.#tokenizer();
    if (exact === undefined) return;
    const { key, tools } = this;
    const windowTokens = this.#windowTokens;
    this.#opened = await openThread(key, tools, this.#setting, this.#system, windowTokens, exact);
  }

  async #reconfigure(system: string, automatic: boolean): Promise<void> {
    const { handle } = this.#opened;
    const { compaction } = this.#setting.settings;
    const systemTokens = handle.counter.text(system);
    const toolTokens = handle.counter.tools(toolSchemas(this.tools));
    const whole = budget({ ...budgetOf(compaction, this.#windowTokens), systemTokens, toolTokens });
    await handle.reconfigure({
      budget: whole,
      policy: policyOf(compaction, this.#windowTokens, automatic),
    });
    this.#setting = { ...this.#setting, automatic };
    this.#system = system;
    this.#opened = {
      ...this.#opened,
      systemTokens,
      toolTokens,
      limitTokens: messageLimit(whole),
    };
  }

  /** True if the prompt does not fit as it is. */
  get isFull(): boolean {
    return this.handle.pressure > 1;
  }

  /** Goes on with another model, policy or summarizer; the thread and its plan stay. */
  async change(change: Partial<SessionSetting>, system: string = this.#system): Promise<void> {
    const setting = { ...this.#setting, ...change };
    const isOther = setting.model !== this.#setting.model;
    const exact = isOther ? undefined : this.#opened.exact;
    const windowTokens =
      change.model === undefined ? this.#windowTokens : change.model.windowTokens;
    this.#opened = await openThread(this.key, this.tools, setting, system, windowTokens, exact);
    if (isOther) this.#tokenizer = loadedBehind(setting.model);
    this.#setting = setting;
    this.#system = system;
    this.#windowTokens = windowTokens;
  }

  /** Writes a summary for something other than a compaction (handover, mentions), with the same checks. */
  summarizer(): Summarizer {
    const { model, settings, summaries, summaryModel = model } = this.#setting;
    const { compaction } = settings;
    const own = sessionSummarizer({
      ...(summaries === 'extract' ? {} : { model: summaryModel }),
      manner: mannerOf('pi'),
      maxOutputTokens: Math.floor(reserveOf(compaction, this.#windowTokens) * 0.8),
    });
    return trustedSummarizer(own);
  }

  /** Two sentences about the session by a model, if the policy has them written. */
  async about(signal: AbortSignal): Promise<string | undefined> {
    const { model, settings, summaries, summaryModel = model } = this.#setting;
    const { name } = policyOf(settings.compaction, this.#windowTokens, true);
    const summary = currentSummary(this.handle.plan)?.summary;
    if (summary === undefined || summaries === 'extract' || mannerOf(name).display === 'none')
      return undefined;
    const { displaySummary } = await import('@bobbin/models');
    const report = (reported: SummaryReport): void =>
      this.#setting.onSummaryReport(namedFor(summaryModel, reported));
    try {
      return await displaySummary(summary, await summaryModel.load(), { signal, report });
    } finally {
      await this.#book();
    }
  }

  /** Notes what was paid for a summary outside the engine: for a hand-over, a mention, a list. */
  charge(report: SummaryReport): void {
    const tokens = { tokensBefore: 0, tokensAfter: 0, limitTokens: this.#opened.limitTokens };
    const time = this.#setting.clock.now();
    const { thread } = this.key;
    this.#charges.push({ kind: 'summary-report', report, thread, time, ...tokens });
  }

  /** Puts the charges into the ledger; for a session that does not exist yet, after its first message. */
  async keepCharges(): Promise<void> {
    if (this.handle.length === 0 || this.#charges.length === 0) return;
    const charges = [...this.#charges];
    await this.store.record(this.key, charges);
    this.#charges.splice(0, charges.length);
  }

  /** The provider refused the prompt: a smaller one to retry with. The window that it reported holds from now on. */
  async refused(refusal: Refusal, signal: AbortSignal): Promise<Fitted<AiSdkMessage>> {
    this.#windowTokens = Math.min(this.#windowTokens, refusal.limitTokens ?? this.#windowTokens);
    await this.#reconfigure(this.#system, this.#setting.automatic);
    return this.#booked(this.handle.refused(refusal, { signal }));
  }

  /** The present prompt, as it is: nothing is compacted for it. */
  present(): Promise<Prompt> {
    return this.handle.promptAt(this.handle.version);
  }

  async path(): Promise<readonly Node[]> {
    const { head } = this.handle;
    return head === undefined ? [] : this.store.path(this.key, head);
  }

  async turns(): Promise<readonly Node[]> {
    const { head } = this.handle;
    return head === undefined ? [] : this.store.turns(this.key, head);
  }

  /** Moves the head back to an earlier message: what came after it stays in the file, on a separate fork. */
  async moveHead(node: Node): Promise<void> {
    await this.store.append(this.key, [node]);
    await this.change({});
  }
}
