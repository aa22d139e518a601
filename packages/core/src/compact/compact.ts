import { lastOf, reversed } from '../check/list.ts';
import type { Budget } from '../tokens/budget.ts';
import { besideMessages, messageLimit } from '../tokens/budget.ts';
import type { Counter } from '../tokens/counter.ts';
import { withoutSecrets } from './event-text.ts';
import type { CompactionEvent, EventDetail } from '../events.ts';
import { describeCut, findCut } from '../plan/cut.ts';
import { Draft } from './draft.ts';
import type { ToolPolicies } from '../plan/durability.ts';
import { paysAfter, rewritePays } from '../plan/economics.ts';
import { firstSight } from './rungs/first-sight.ts';
import { isIrreplaceable, moveToArtifact } from './artifact-record.ts';
import { NOTHING } from '../render/excerpt.ts';
import { expired } from '../plan/expiry.ts';
import { LAST_RESORT, QUIET } from './rungs/last-resort.ts';
import { startsTurn } from '../message/message.ts';
import { SHORTENS_PINS } from './rungs/squeeze.ts';
import type { Plan, PlanRecord } from '../plan/plan.ts';
import type { Policy } from './policy.ts';
import type { Effects, Proposal, RungContext, Rung } from './rungs/rung.ts';
import {
  firedBecause,
  firesOnFloor,
  mustAct,
  type TriggerInput,
  type PromptSize,
} from '../plan/trigger.ts';
import type { Window } from '../plan/window.ts';
import type { ArtifactStore, Clock, Summarizer, SummaryRequest, ThreadKey } from '../ports.ts';
import type { CacheLimits } from '../render/cache-points.ts';
import { startPrompt } from '../render/render.ts';
import type { ProviderRules } from '../render/rules.ts';
import { extractSummarizer } from '../extract/extract-summarizer.ts';
import type { Redact } from '../summary/redact.ts';
import type { Summary } from '../plan/summary.ts';
import { spanOf } from '../thread/span.ts';
import type { Node } from '../thread/thread.ts';

/** All that a compaction needs in addition to the thread. */
export interface CompactorConfig {
  readonly policy: Policy;
  readonly budget: Budget;
  readonly counter: Counter;
  readonly rules: ProviderRules;
  readonly cacheLimits?: CacheLimits;
  readonly tools: ToolPolicies;
  readonly summarizer: Summarizer;
  /** Used when the summarizer fails: the built-in extract if absent. */
  readonly fallback?: Summarizer;
  /** How long a summarizer may take before the fallback is used. */
  readonly summaryDeadlineMs?: number;
  readonly artifacts: ArtifactStore;
  readonly clock: Clock;
  /** Takes secrets out of what plans say of messages; `redactSecrets` if absent. */
  readonly redact?: Redact;
  /** Asked at each compaction: true if the model was given the tools that read back what was compacted. */
  readonly offersTools?: () => boolean;
}

/** What to compact. */
export interface Job {
  readonly key: ThreadKey;
  /** The newest message of the path. */
  readonly head: Node;
  readonly window: Window;
  readonly plan: Plan;
  readonly task: string | null;
  /** How many messages of the path were sent to a provider before. */
  readonly sent: number;
  readonly reason: string;
  /** Compacts even if the target already holds. */
  readonly forced?: boolean;
  /** What the provider reported beyond what is known of the request. */
  readonly unseenTokens?: number;
  /** Leaves out the last resort: the caller checks the budget again. */
  readonly onlyLadder?: true;
  readonly instructions?: string;
  readonly signal?: AbortSignal;
  /** Hears what happens as it happens. */
  readonly onEvent?: (event: CompactionEvent) => void;
}

export interface Compaction {
  /** The new plan, or the one that was given if nothing changed. */
  readonly plan: Plan;
  readonly changed: boolean;
  /** False only if the pins alone exceed the budget and could not be shortened. */
  readonly fits: boolean;
  readonly events: readonly CompactionEvent[];
}

export type Decision =
  | { readonly kind: 'rest' }
  | { readonly kind: 'postpone'; readonly reason: string }
  | { readonly kind: 'compact'; readonly reason: string };

/** What is known of the prompt in addition to its figures. */
export interface Since {
  /** The provider's cache has expired. */
  readonly cold: boolean;
  /** Nothing was said since the plan was made. */
  readonly settled: boolean;
  /** What the last compaction left, or what no compaction may touch if that is more. */
  readonly floor: PromptSize;
}

/**
 * Whether to compact now: the trigger decides, hysteresis and economics may postpone, and what no longer fits must be
 * compacted. If no message came since the plan was made, the trigger has already been answered.
 */
export function decide(
  setting: CompactorConfig,
  check: TriggerInput,
  plan: Plan,
  { cold, settled, floor }: Since,
): Decision {
  if (mustAct(check))
    return {
      kind: 'compact',
      reason: `${check.tokens} tokens > limit ${messageLimit(check.budget)}`,
    };
  const { trigger, economics, targetShare, stop } = setting.policy;
  const reason = firedBecause(trigger, check);
  if (reason === undefined || settled || plan.undid !== undefined) return { kind: 'rest' };
  const target = Math.floor(messageLimit(check.budget) * targetShare);
  if (stop === 'at-target' && check.tokens <= target - unseenTokens(check)) return { kind: 'rest' };
  if (firesOnFloor(trigger, check, floor))
    return { kind: 'postpone', reason: `${reason}, but hardly any of it can be freed` };
  if (economics === undefined) return { kind: 'compact', reason };
  const pays = rewritePays({
    prices: economics.prices,
    tokensBehind: check.tokens,
    tokensFreed: check.tokens - Math.max(target, floor.tokens),
    requestsToCome: economics.requestsToCome,
    cold,
  });
  return pays
    ? { kind: 'compact', reason }
    : { kind: 'postpone', reason: `${reason}, but a rewrite does not pay yet` };
}

/** What the provider counted beyond all that is known of the request: a target that ignores it frees nothing. */
export function unseenTokens({ tokens, contextTokens, budget }: TriggerInput): number {
  return Math.max(0, contextTokens - tokens - besideMessages(budget));
}

const SUMMARY_DEADLINE_MS = 180_000;

/** As a share of the limit. */
const MOST_HEADROOM = 0.15;

/** What the renderer adds may take a second attempt; more are a margin. */
const MOST_TRIES = 8;

/** Hide, ladder, plan, render: the one way from a thread and a plan to the next plan. */
export async function compact(setting: CompactorConfig, job: Job): Promise<Compaction> {
  const run = new Run(setting, job);
  return run.compact();
}

class Run {
  readonly #setting: CompactorConfig;
  readonly #job: Job;
  readonly #draft: Draft;
  readonly #effects: Effects;
  readonly #limit: number;
  /** The running tool loop is summarised as well: its reasoning would be refused after any change before it. */
  readonly #foldsLoop: boolean;
  readonly #before: number;
  readonly #events: CompactionEvent[] = [];
  readonly #rungs = new Set<string>();
  /** Who wrote the last summary: not the summarizer if the fallback was used. */
  #writer = '';
  /** Something had to be shown differently, at any cost. */
  #mayGrow = false;

  constructor(setting: CompactorConfig, job: Job) {
    this.#setting = setting;
    this.#job = job;
    const { policy, counter, artifacts, summarizer } = setting;
    this.#draft = new Draft(
      job.window,
      job.plan,
      setting.offersTools?.() === true
        ? { ...policy.style, offersReadArtifact: true }
        : policy.style,
      counter,
      new Set(job.plan.pins),
      setting.redact,
    );
    this.#limit = messageLimit(setting.budget);
    this.#foldsLoop = job.onlyLadder !== true && this.#holdsBoundLoop();
    if (this.#foldsLoop) this.#draft.holdNewestResults();
    this.#before = this.#draft.tokens;
    this.#effects = {
      artifacts,
      warn: (message) => this.#emitEvent({ kind: 'warning', message }),
      summarizer: { id: summarizer.id, summarize: (request) => this.#summarize(request) },
    };
  }

  /**
   * True if a tool loop is running whose reasoning is bound to what precedes it. Left out of the loop, it makes a
   * provider refuse the loop: so the loop ends, and work goes on from the newest results, shown as a user's text.
   */
  #holdsBoundLoop(): boolean {
    const { rules, policy } = this.#setting;
    if (!rules.bindsReasoning || foldingRungs(policy).length === 0) return false;
    return this.#draft.hasSignedLoop;
  }

  async compact(): Promise<Compaction> {
    const { head } = this.#job;
    this.#emitEvent({ kind: 'check-started', reason: this.#job.reason });
    this.#hideExpired();
    await this.#climb(
      this.#foldsLoop ? foldingRungs(this.#setting.policy) : this.#setting.policy.ladder,
      this.#target(),
      this.#setting.policy.stop === 'at-target',
    );
    const most = this.#job.onlyLadder === true ? 0 : MOST_TRIES;
    const isPressed = this.#before > this.#limit && this.#draft.tokens <= this.#limit;
    if (isPressed && most > 0) await this.#climb(QUIET, this.#quietTokens(), true);
    this.#warnOfInstructions();
    this.#giveBack();
    this.#restorePins();
    let plan = this.#finish(head);
    let over = this.#overshoot(plan);
    for (let tries = 0; over > 0 && tries < most; tries++) {
      const before = this.#draft.tokens;
      // The renderer adds what exceeds the draft: the draft must leave space for it.
      await this.#climb(LAST_RESORT, Math.max(0, before - over - this.#headroom()), true);
      plan = this.#finish(head);
      over = this.#overshoot(plan);
      if (this.#draft.tokens >= before) break;
    }
    if (this.#rungs.has(SHORTENS_PINS))
      plan = this.#warned(
        plan,
        `${this.#shortenedPins()} had to be shortened: what is never compacted exceeds the budget`,
      );
    if (over > 0 && most > 0)
      this.#emitEvent({
        kind: 'warning',
        message: `what is never compacted exceeds the budget by ${over} tokens: ${limitOf(this.#setting.budget)}`,
      });
    if (!this.#gained(plan)) return this.#unchanged();
    this.#emitEvent({
      kind: 'completed',
      freed: this.#before - plan.tokensAfter,
      rungs: [...this.#rungs],
      ...this.#bill(this.#before - plan.tokensAfter),
    });
    return { plan, changed: this.#draft.changed, fits: over <= 0, events: this.#events };
  }

  /** Instructions are for a summary that a model writes: their author gets a warning if no model wrote one. */
  #warnOfInstructions(): void {
    if (this.#job.instructions === undefined || this.#job.onlyLadder === true) return;
    // If a model failed, a warning has said so.
    const isWritten =
      this.#rungs.has('summarize') && this.#setting.summarizer.id !== extractSummarizer.id;
    if (isWritten) return;
    const why = this.#rungs.has('summarize')
      ? 'the built-in extract wrote the summary, and it takes none'
      : `nothing was summarised under the policy ${this.#setting.policy.name}`;
    this.#emitEvent({ kind: 'warning', message: `the instructions were not followed: ${why}` });
  }

  /** What the change costs, and when it has paid. */
  #bill(
    freed: number,
  ): Pick<Extract<EventDetail, { kind: 'completed' }>, 'rewrittenTokens' | 'paysAfterRequests'> {
    const { rewrittenTokens } = this.#draft;
    const prices = this.#setting.policy.economics?.prices;
    if (prices === undefined || freed <= 0) return { rewrittenTokens };
    return { rewrittenTokens, paysAfterRequests: paysAfter(prices, rewrittenTokens, freed) };
  }

  /** A prompt that fitted must not become longer: a summary of something short would only grow. */
  #gained({ tokensAfter }: Plan): boolean {
    if (this.#before > this.#limit || this.#mayGrow || tokensAfter < this.#before) return true;
    const { window, plan } = this.#job;
    return startPrompt(window, plan, this.#setting).tokens > this.#limit;
  }

  #unchanged(): Compaction {
    if (this.#draft.changed)
      this.#emitEvent({
        kind: 'warning',
        message: 'nothing was gained: the prompt stays as it is',
      });
    this.#emitEvent({ kind: 'completed', freed: 0, rungs: [], rewrittenTokens: 0 });
    return { plan: this.#job.plan, changed: false, fits: true, events: this.#events };
  }

  /** Which parts that are never compacted were shortened, in words for a person. */
  #shortenedPins(): string {
    const { entries } = this.#draft;
    const { pins } = this.#job.plan;
    const newest = lastOf(entries, ({ message }) => startsTurn(message));
    const shortened = entries.filter(
      (entry) => entry.pinned && this.#draft.action(entry) !== undefined,
    );
    const names = shortened.map(({ message, unit, pending }) => {
      if (message.role === 'system') return 'system messages';
      if (unit === newest?.unit) return 'the newest user message';
      if (pending) return 'calls that wait for results';
      // What belongs to a pinned message stays with it.
      const isPinned = entries.some(
        ({ node, unit: of }) =>
          of === unit && (pins.includes(node.id) || node.message.meta?.pinned === true),
      );
      return isPinned ? 'pinned messages' : 'messages that could not be read';
    });
    return [...new Set(names)].join(' and ');
  }

  #warned(plan: Plan, message: string): Plan {
    this.#emitEvent({ kind: 'warning', message });
    return { ...plan, warnings: [...plan.warnings, message] };
  }

  /** What the ladder aims at. A compaction by hand halves what is there, even if it is small. */
  #target(): number {
    const { unseenTokens: unseen = 0 } = this.#job;
    const share = Math.floor(this.#limit * this.#setting.policy.targetShare);
    const target = Math.max(0, share - unseen);
    return this.#job.forced === true
      ? Math.min(target, Math.floor(this.#draft.tokens / 2))
      : target;
  }

  /** Results were cut before the length of the summary was known: the newest get back the space that is left. */
  #giveBack(): void {
    const target = this.#setting.policy.stop === 'at-target' ? this.#target() : 0;
    for (const entry of reversed(this.#draft.entries)) {
      const tokens = this.#draft.cutBy(entry);
      const span = tokens > 0 && !entry.pinned ? spanOf([entry.node]) : undefined;
      if (span === undefined || this.#draft.tokens + tokens > target) continue;
      this.#draft.restore(entry);
      this.#emitEvent({ kind: 'restored', span, tokens });
    }
  }

  /** Pins that had to be cut are shown whole again if that fits, with some headroom. */
  #restorePins(): void {
    const most = this.#limit - this.#headroom();
    for (const entry of this.#draft.entries) {
      const tokens = this.#draft.cutFromPin(entry);
      const span = tokens > 0 ? spanOf([entry.node]) : undefined;
      if (span === undefined || this.#draft.tokens + tokens > most) continue;
      this.#draft.restore(entry);
      this.#mayGrow = true;
      this.#emitEvent({ kind: 'restored', span, tokens });
    }
  }

  /** Under hard pressure a cut that just fits would be made again with the next messages: half the space stays free. */
  #quietTokens(): number {
    const pins = this.#draft.entries.filter(({ pinned }) => pinned);
    const pinTokens = pins.reduce((sum, entry) => sum + this.#draft.cost(entry), 0);
    return this.#limit - Math.min(this.#headroom(), Math.max(0, this.#limit - pinTokens) / 2);
  }

  /** What the last resort frees beyond the limit, so that the next message does not need it again. */
  #headroom(): number {
    const share = 1 - this.#setting.policy.targetShare;
    return Math.floor(this.#limit * Math.max(0, Math.min(MOST_HEADROOM, share)));
  }

  #hideExpired(): void {
    const { tail, carried } = this.#job.window;
    const before = this.#draft.tokens;
    const hides = expired([...carried, ...tail], this.#setting.tools, this.#setting.clock.now());
    this.#draft.hide(hides);
    this.#mayGrow = this.#draft.changed;
    const freed = before - this.#draft.tokens;
    if (freed !== 0) this.#emitEvent({ kind: 'hidden', messages: hides.length, freed });
  }

  async #climb(
    ladder: readonly Rung[],
    targetTokens: number,
    stopAtTarget: boolean,
  ): Promise<void> {
    for (const strategy of ladder) {
      const goal = strategy.aim === 'limit' ? Math.max(targetTokens, this.#limit) : targetTokens;
      const isAsked = strategy.name === 'summarize' && this.#job.instructions !== undefined;
      const done = (): boolean => stopAtTarget && !isAsked && this.#draft.tokens <= goal;
      if (done()) continue;
      const context = this.#context(goal);
      for (const proposal of strategy.propose(context)) {
        if (done() && strategy.wholeBatch !== true) break;
        this.#job.signal?.throwIfAborted();
        await this.#carryOut(strategy, proposal, context);
      }
    }
  }

  #context(targetTokens: number): RungContext {
    const { policy, tools, counter, clock } = this.#setting;
    const { key, task, instructions, signal } = this.#job;
    const limits = { targetTokens, limitTokens: this.#limit };
    const items = this.#draft.entries.map((entry) => ({
      message: entry.message,
      startsUnit: entry.startsUnit,
      tokens: this.#draft.cost(entry),
      wholeTokens: entry.tokens,
    }));
    return {
      key,
      draft: this.#draft,
      cut: this.#foldsLoop ? describeCut(items, items.length) : findCut(policy.cut, items, limits),
      ...limits,
      tools,
      counter,
      task,
      now: clock.now(),
      sent: this.#job.sent,
      ...(instructions === undefined ? {} : { instructions }),
      ...(signal === undefined ? {} : { signal }),
    };
  }

  async #carryOut(strategy: Rung, proposal: Proposal, context: RungContext): Promise<void> {
    const { span, reason, tokensFreed } = proposal;
    this.#emitEvent({
      kind: 'proposal-generated',
      strategy: strategy.name,
      span,
      freed: tokensFreed,
      reason,
    });
    const before = this.#draft.tokens;
    await this.#keepIrreplaceable(strategy, proposal, context);
    const record = await strategy
      .execute(proposal, context, this.#effects)
      .catch((error: unknown) => {
        this.#job.signal?.throwIfAborted();
        this.#emitEvent({
          kind: 'warning',
          message: `${strategy.name} failed: ${messageOf(error)}`,
        });
        return undefined;
      });
    if (record === undefined) return;
    this.#draft.add(record);
    this.#rungs.add(strategy.name);
    this.#emitRecord(strategy.name, record, before - this.#draft.tokens);
  }

  /** What cannot be fetched again goes to an artifact before a summary or nothing replaces it. */
  async #keepIrreplaceable(rung: Rung, { span }: Proposal, context: RungContext): Promise<void> {
    if (rung.replacesMessages !== true) return;
    for (const id of span.ids) {
      const entry = this.#draft.entry(id);
      if (entry === undefined || !(await isIrreplaceable(entry, context))) continue;
      const own = spanOf([entry.node]);
      const action = this.#draft.action(entry);
      const isStored = action?.kind === 'externalize' && action.trimmed !== true;
      if (own === undefined || isStored) continue;
      const proposal = {
        strategy: rung.name,
        span: own,
        tokensFreed: 0,
        reason: 'cannot be asked again',
      };
      const record = await moveToArtifact(proposal, context, this.#effects, NOTHING);
      if (record !== undefined) this.#draft.add(record);
    }
  }

  /** Asks the host's summarizer. If it fails, the fallback answers, unless the policy prefers to keep everything. */
  async #summarize(asked: SummaryRequest): Promise<Summary> {
    const request = { ...asked, thread: this.#job.key };
    const { summarizer, policy, fallback = extractSummarizer } = this.#setting;
    this.#writer = summarizer.id;
    const report: SummaryRequest['report'] = (event) =>
      this.#emitEvent({ kind: 'summary-report', report: event });
    try {
      return await this.#inTime((signal) => summarizer.summarize({ ...request, report, signal }));
    } catch (error) {
      this.#job.signal?.throwIfAborted();
      const reason = messageOf(error);
      report({ kind: 'failed', summarizer: summarizer.id, reason });
      const failure = `${summarizer.id}: ${reason}`;
      if (policy.onSummaryFailure === 'keep') throw new Error(failure, { cause: error });
      this.#emitEvent({ kind: 'warning', message: `${failure}; the extract is used instead` });
      this.#writer = fallback.id;
      return fallback.summarize(request);
    }
  }

  /** A summarizer that never answers counts as failed. */
  async #inTime(ask: (signal: AbortSignal) => Promise<Summary>): Promise<Summary> {
    const { clock, summaryDeadlineMs = SUMMARY_DEADLINE_MS } = this.#setting;
    const { signal: cancelled } = this.#job;
    const deadline = clock.deadline?.(summaryDeadlineMs);
    const signals = [cancelled, deadline?.signal].filter((each) => each !== undefined);
    const signal = AbortSignal.any(signals);
    let stop: (() => void) | undefined;
    const late = new Promise<never>((_, reject) => {
      stop = () =>
        reject(cancelled?.aborted === true ? signal.reason : new Error('no answer in time'));
      signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([ask(signal), late]);
    } finally {
      if (stop !== undefined) signal.removeEventListener('abort', stop);
      deadline?.clear();
    }
  }

  #finish(head: Node): Plan {
    const { policy, clock } = this.#setting;
    const made = {
      head,
      now: clock.now(),
      policy: policy.name,
      tokensBefore: this.#before,
      sent: this.#job.sent,
    };
    const plan = this.#draft.finish(made);
    return this.#job.onlyLadder === true ? plan : { ...plan, climbedAt: plan.threadVersion };
  }

  /** By how much the rendered prompt exceeds the limit: what the renderer adds is counted here. */
  #overshoot(plan: Plan): number {
    return startPrompt(this.#plannedWindow(plan), plan, this.#setting).tokens - this.#limit;
  }

  #plannedWindow(plan: Plan): Window {
    const nodes = this.#draft.entries.map(({ node }) => node);
    const carried = new Set(plan.carried.map(({ id }) => id));
    return {
      carried: nodes.filter(({ id }) => carried.has(id)),
      tail: nodes.filter(({ index }) => index >= plan.start),
    };
  }

  #emitRecord(strategy: string, record: PlanRecord, freed: number): void {
    const { span } = record;
    switch (record.kind) {
      case 'externalize':
        return this.#emitEvent({ kind: 'externalized', strategy, span, freed });
      case 'clear':
        return this.#emitEvent({ kind: 'cleared', strategy, span, freed });
      case 'drop':
        return this.#emitEvent({ kind: 'dropped', strategy, span, freed });
      case 'summarize':
        return this.#emitEvent({
          kind: 'summarized',
          strategy,
          span,
          freed,
          round: record.summary.round,
          summarizer: this.#writer,
          summaryContent: record.text,
        });
    }
  }

  #emitEvent(detail: EventDetail): void {
    const event: CompactionEvent = {
      thread: this.#job.key.thread,
      time: this.#setting.clock.now(),
      tokensBefore: this.#before,
      tokensAfter: this.#draft.tokens,
      limitTokens: this.#limit,
      ...withoutSecrets(detail, this.#setting.redact),
    };
    this.#events.push(event);
    this.#job.onEvent?.(event);
  }
}

/** Shortens results that no provider has seen yet: what was sent before stays as it was. */
export function compactFirstSight(setting: CompactorConfig, job: Job): Promise<Compaction> {
  const overTokens = firstSightTokens(setting);
  const policy: Policy = {
    ...setting.policy,
    ladder: [firstSight(job.sent, overTokens)],
    stop: 'at-end',
  };
  return compact({ ...setting, policy }, { ...job, onlyLadder: true });
}

/** Trims one batch, and does nothing else. */
export function compactTrim(setting: CompactorConfig, job: Job): Promise<Compaction> {
  const { policy } = setting;
  const ladder = policy.ladder.filter(({ trims }) => trims !== undefined);
  return compact(
    { ...setting, policy: { ...policy, ladder, stop: 'at-end' } },
    { ...job, onlyLadder: true },
  );
}

/** Hides what has expired and shows pins whole that fit again, and does nothing else. */
export function compactExpired(setting: CompactorConfig, job: Job): Promise<Compaction> {
  return compact(
    { ...setting, policy: { ...setting.policy, ladder: [] } },
    { ...job, onlyLadder: true },
  );
}

/** The size above which a new tool result is shortened at once. */
export function firstSightTokens({ policy, budget }: CompactorConfig): number {
  return Math.floor(messageLimit(budget) * (policy.firstSightShare ?? Number.POSITIVE_INFINITY));
}

/** The rungs that can end a running tool loop. */
function foldingRungs({ ladder }: Policy): readonly Rung[] {
  return ladder.filter(({ name }) => name === 'summarize');
}

/** What leaves the messages so little space, by the names of the budget's parts. */
function limitOf(budget: Budget): string {
  const { windowTokens, softShare: _, ...reserves } = budget;
  const taken = Object.entries(reserves).flatMap(([name, tokens]) =>
    tokens > 0 ? [`${name} ${tokens}`] : [],
  );
  const less = taken.length === 0 ? '' : ` less ${taken.join(', ')}`;
  return `a window of ${windowTokens}${less} leaves ${messageLimit(budget)} for messages`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
