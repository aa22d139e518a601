import { errorText } from '../check/error-text.ts';
import { reversed } from '../check/list.ts';
import type { EventDetail } from '../events.ts';
import { extractSummarizer } from '../extract/extract-summarizer.ts';
import { describeCut, findCut } from '../plan/cut.ts';
import { paysAfter } from '../plan/economics.ts';
import { expired } from '../plan/tool-policy.ts';
import type { Plan } from '../plan/plan.ts';
import type { Clock } from '../ports.ts';
import { NOTHING } from '../render/excerpt.ts';
import { PromptBuilder } from '../render/builder.ts';
import { type Node, spanOf, type Window } from '../thread/thread.ts';
import { messageLimit } from '../tokens/budget.ts';
import { isIrreplaceable, moveToArtifact } from './artifact-record.ts';
import { askSummarizer } from './ask-summarizer.ts';
import { CompactionLog, limitText, shortenedPins } from './compaction-log.ts';
import type { Compaction, CompactorConfig, Job } from './compaction.ts';
import { Draft, type Entry } from './draft.ts';
import { aimOf, type Policy } from './policy.ts';
import { LAST_RESORT, QUIET } from './rungs/last-resort.ts';
import type { Effects, Proposal, Rung, RungContext } from './rungs/rung.ts';
import { shorten } from './rungs/shorten.ts';
import { SHORTENS_PINS } from './rungs/squeeze.ts';

/** As a share of the limit. */
const MOST_HEADROOM = 0.15;

/** Less is not worth the while. */
const LEAST_WIDENED_TOKENS = 100;

/** What the renderer adds may take a second attempt; more are a margin. */
const MOST_TRIES = 8;

/** Hide, ladder, plan, render: the one way from a thread and a plan to the next plan. */
export async function compact(config: CompactorConfig, job: Job): Promise<Compaction> {
  await pauseIfMany(config.clock, job.window.tail.length);
  const run = new Run(config, job);
  return run.compact();
}

/** A compaction of fewer messages takes a moment. */
const MANY_MESSAGES = 2_000;

/** Lets the process do its other work between two steps of a compaction of very many messages. */
async function pauseIfMany(clock: Clock, messages: number): Promise<void> {
  if (messages > MANY_MESSAGES) await clock.pause?.();
}

class Run {
  readonly #config: CompactorConfig;
  readonly #job: Job;
  readonly #draft: Draft;
  readonly #effects: Effects;
  readonly #limit: number;
  readonly #stopsAtTarget: boolean;
  /** The running tool loop is summarised as well: its reasoning would be refused after any change before it. */
  readonly #foldsLoop: boolean;
  readonly #before: number;
  readonly #log: CompactionLog;
  readonly #rungs = new Set<string>();
  /** Something had to be shown differently, at any cost. */
  #mayGrow = false;

  constructor(config: CompactorConfig, job: Job) {
    this.#config = config;
    this.#job = job;
    const { policy, counter, artifacts, summarizer } = config;
    this.#draft = new Draft(
      job.window,
      job.plan,
      config.offersTools?.() === true
        ? { ...policy.style, offersReadArtifact: true }
        : policy.style,
      counter,
      new Set(job.plan.pins),
      config.redact,
    );
    this.#limit = messageLimit(config.budget);
    this.#stopsAtTarget = job.rungs === undefined && policy.stop === 'at-target';
    this.#foldsLoop =
      config.rules.bindsReasoning && job.rungs === undefined && this.#holdsBoundLoop();
    if (this.#foldsLoop) this.#draft.holdNewestResults();
    this.#before = this.#draft.tokens;
    this.#log = new CompactionLog(config, job, this.#draft);
    this.#effects = {
      artifacts,
      warn: (message) => this.#log.warn(message),
      summarizer: {
        id: summarizer.id,
        summarize: (request) => askSummarizer(config, job, request, this.#log),
      },
    };
  }

  /**
   * True if a tool loop is running whose reasoning is bound to what precedes it. Left out of the loop, it makes a
   * provider refuse the loop: so the loop ends, and work goes on from the newest results, shown as a user's text.
   */
  #holdsBoundLoop(): boolean {
    return foldingRungs(this.#config.policy).length > 0 && this.#draft.hasSignedLoop;
  }

  async compact(): Promise<Compaction> {
    const { head, rungs } = this.#job;
    const { policy } = this.#config;
    this.#log.emit({ kind: 'check-started', reason: this.#job.reason });
    this.#hideExpired();
    const ladder = this.#foldsLoop ? foldingRungs(policy) : policy.ladder;
    await this.#climb(rungs ?? ladder, this.#target(), this.#stopsAtTarget);
    const most = rungs === undefined ? MOST_TRIES : 0;
    const isPressed = this.#before > this.#limit && this.#draft.tokens <= this.#limit;
    if (isPressed && most > 0) await this.#climb(QUIET, this.#quietTokens(), true);
    if (this.#job.instructions !== undefined && most > 0) this.#warnOfInstructions();
    await this.#pause();
    await this.#giveBack(head);
    await this.#pause();
    let plan = this.#finish(head);
    await this.#pause();
    let over = this.#tokensOverLimit(plan);
    for (let tries = 0; over > 0 && tries < most; tries++) {
      const before = this.#draft.tokens;
      // The renderer adds what exceeds the draft: the draft must leave space for it.
      await this.#climb(LAST_RESORT, Math.max(0, before - over - this.#headroom()), true);
      plan = this.#finish(head);
      over = this.#tokensOverLimit(plan);
      if (this.#draft.tokens >= before) break;
    }
    if (this.#rungs.has(SHORTENS_PINS))
      plan = this.#warned(
        plan,
        `${shortenedPins(this.#draft, this.#job.plan.pins)} had to be shortened: what is never compacted exceeds the budget`,
      );
    if (over > 0 && most > 0)
      this.#log.warn(
        `what is never compacted exceeds the budget by ${over} tokens: ${limitText(this.#config.budget)}`,
      );
    if (!this.#gained(plan)) return this.#unchanged();
    this.#log.emit({
      kind: 'completed',
      freed: this.#before - plan.tokensAfter,
      rungs: [...this.#rungs],
      ...this.#bill(this.#before - plan.tokensAfter),
    });
    return { plan, changed: this.#draft.changed, fits: over <= 0, events: this.#log.events };
  }

  #pause(): Promise<void> {
    return pauseIfMany(this.#config.clock, this.#draft.entries.length);
  }

  /** Instructions are for a summary that a model writes: their author gets a warning if no model wrote one. */
  #warnOfInstructions(): void {
    // If a model failed, a warning has said so.
    const isByModel =
      this.#rungs.has('summarize') && this.#config.summarizer.id !== extractSummarizer.id;
    if (isByModel) return;
    const why = this.#rungs.has('summarize')
      ? 'the built-in extract wrote the summary, and it takes none'
      : `nothing was summarised under the policy ${this.#config.policy.name}`;
    this.#log.warn(`the instructions were not followed: ${why}`);
  }

  /** What the change costs, and when it has paid. */
  #bill(
    freed: number,
  ): Pick<Extract<EventDetail, { kind: 'completed' }>, 'rewrittenTokens' | 'paysAfterRequests'> {
    const { rewrittenTokens } = this.#draft;
    const prices = this.#config.policy.economics?.prices;
    if (prices === undefined || freed <= 0) return { rewrittenTokens };
    return { rewrittenTokens, paysAfterRequests: paysAfter(prices, rewrittenTokens, freed) };
  }

  /** A prompt that fitted must not become longer: a summary of something short would only grow. */
  #gained({ tokensAfter }: Plan): boolean {
    if (this.#before > this.#limit || this.#mayGrow || tokensAfter < this.#before) return true;
    const { window, plan } = this.#job;
    return new PromptBuilder(window, plan, this.#config).tokens > this.#limit;
  }

  #unchanged(): Compaction {
    if (this.#draft.changed) this.#log.warn('nothing was gained: the prompt stays as it is');
    this.#log.emit({ kind: 'completed', freed: 0, rungs: [], rewrittenTokens: 0 });
    return { plan: this.#job.plan, changed: false, fits: true, events: this.#log.events };
  }

  #warned(plan: Plan, message: string): Plan {
    this.#log.warn(message);
    return { ...plan, warnings: [...plan.warnings, message] };
  }

  /** What the ladder aims at. A compaction by hand halves what is there, even if it is small. */
  #target(): number {
    const { unseenTokens: unseen = 0 } = this.#job;
    const { policy, budget } = this.#config;
    const target = Math.max(0, aimOf(policy, budget) - unseen);
    return this.#job.forced === true
      ? Math.min(target, Math.floor(this.#draft.tokens / 2))
      : target;
  }

  /**
   * Results were cut before the length of the summary was known: the newest get back the space that is left. Pins that
   * had to be cut are shown whole again if the rendered prompt has space for that, with some headroom.
   */
  async #giveBack(head: Node): Promise<void> {
    const { entries } = this.#draft;
    const loose = reversed(entries.filter(({ pinned }) => !pinned));
    const pins = entries.filter(({ pinned }) => pinned);
    const most = this.#stopsAtTarget ? this.#target() : 0;
    this.#restore(loose, most);
    await this.#widen(loose, most);
    if (pins.every((entry) => this.#draft.cutTokens(entry) <= 0)) return;
    const added = this.#limit + this.#tokensOverLimit(this.#finish(head)) - this.#draft.tokens;
    if (this.#restore(pins, this.#limit - this.#headroom() - added) > 0) this.#mayGrow = true;
  }

  /** Shows more of the first entry that is cut: what is left would not hold all of it. */
  async #widen(entries: readonly Entry[], mostTokens: number): Promise<void> {
    const free = mostTokens - this.#draft.tokens;
    const entry = entries.find((one) => this.#draft.cutTokens(one) > 0);
    if (entry === undefined || free < LEAST_WIDENED_TOKENS) return;
    const span = spanOf([entry.node]);
    const proposal = { strategy: 'restore', span, tokensFreed: -free, reason: 'space is left' };
    const context = this.#context(mostTokens);
    const record = await shorten(proposal, context, this.#effects);
    if (record === undefined) return;
    const before = this.#draft.tokens;
    this.#draft.add(record);
    this.#log.emit({ kind: 'restored', span, tokens: this.#draft.tokens - before });
  }

  /** Shows entries whole that were cut, as far as the prompt stays within some tokens; returns how many. */
  #restore(entries: readonly Entry[], mostTokens: number): number {
    let restored = 0;
    for (const entry of entries) {
      const tokens = this.#draft.cutTokens(entry);
      if (tokens <= 0 || this.#draft.tokens + tokens > mostTokens) continue;
      this.#draft.restore(entry);
      this.#log.emit({ kind: 'restored', span: spanOf([entry.node]), tokens });
      restored++;
    }
    return restored;
  }

  /** Under hard pressure a cut that just fits would be made again with the next messages: half the space stays free. */
  #quietTokens(): number {
    const pins = this.#draft.entries.filter(({ pinned }) => pinned);
    const pinTokens = pins.reduce((sum, entry) => sum + this.#draft.cost(entry), 0);
    return this.#limit - Math.min(this.#headroom(), Math.max(0, this.#limit - pinTokens) / 2);
  }

  /** What the last resort frees beyond the limit, so that the next message does not need it again. */
  #headroom(): number {
    const share = 1 - this.#config.policy.targetShare;
    return Math.floor(this.#limit * Math.max(0, Math.min(MOST_HEADROOM, share)));
  }

  #hideExpired(): void {
    const { tail, carried } = this.#job.window;
    const before = this.#draft.tokens;
    const hides = expired([...carried, ...tail], this.#config.tools, this.#config.clock.now());
    this.#draft.hide(hides);
    this.#mayGrow = this.#draft.changed;
    const freed = before - this.#draft.tokens;
    if (freed !== 0) this.#log.emit({ kind: 'hidden', messages: hides.length, freed });
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
      await this.#pause();
      const context = this.#context(goal);
      await this.#pause();
      for (const proposal of strategy.propose(context)) {
        if (done() && strategy.wholeBatch !== true) break;
        this.#job.signal?.throwIfAborted();
        await this.#carryOut(strategy, proposal, context);
      }
    }
  }

  #context(targetTokens: number): RungContext {
    const { policy, tools, counter, clock } = this.#config;
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
    this.#log.emit({
      kind: 'proposal-generated',
      strategy: strategy.name,
      span,
      freed: tokensFreed,
      reason,
    });
    const before = this.#draft.tokens;
    await this.#keepIrreplaceable(strategy, proposal, context);
    await this.#pause();
    const record = await strategy
      .execute(proposal, context, this.#effects)
      .catch((error: unknown) => {
        this.#job.signal?.throwIfAborted();
        this.#log.warn(`${strategy.name} failed: ${errorText(error)}`);
        return undefined;
      });
    if (record === undefined) return;
    await this.#pause();
    this.#draft.add(record);
    this.#rungs.add(strategy.name);
    this.#log.emitRecord(strategy.name, record, before - this.#draft.tokens);
  }

  /** What cannot be fetched again goes to an artifact before a summary or nothing replaces it. */
  async #keepIrreplaceable(rung: Rung, { span }: Proposal, context: RungContext): Promise<void> {
    if (rung.replacesMessages !== true) return;
    for (const id of span.ids) {
      const entry = this.#draft.entry(id);
      if (entry === undefined || !(await isIrreplaceable(entry, context))) continue;
      const action = this.#draft.action(entry);
      const isStored = action?.kind === 'externalize' && action.trimmed !== true;
      if (isStored) continue;
      const own = spanOf([entry.node]);
      const reason = 'cannot be asked again';
      const proposal = { strategy: rung.name, span: own, tokensFreed: 0, reason };
      const record = await moveToArtifact(proposal, context, this.#effects, NOTHING);
      if (record !== undefined) this.#draft.add(record);
    }
  }

  #finish(head: Node): Plan {
    const { policy, clock } = this.#config;
    const made = {
      head,
      now: clock.now(),
      policy: policy.name,
      tokensBefore: this.#before,
      sent: this.#job.sent,
    };
    const plan = this.#draft.finish(made);
    return this.#job.rungs === undefined ? { ...plan, climbedAt: plan.threadVersion } : plan;
  }

  /** By how much the rendered prompt exceeds the limit: what the renderer adds is counted here. */
  #tokensOverLimit(plan: Plan): number {
    return new PromptBuilder(this.#windowOf(plan), plan, this.#config).tokens - this.#limit;
  }

  #windowOf(plan: Plan): Window {
    const nodes = this.#draft.entries.map(({ node }) => node);
    const carried = new Set(plan.carried.map(({ id }) => id));
    return {
      carried: nodes.filter(({ id }) => carried.has(id)),
      tail: nodes.filter(({ index }) => index >= plan.start),
    };
  }
}

/** The rungs that can end a running tool loop. */
function foldingRungs({ ladder }: Policy): readonly Rung[] {
  return ladder.filter(({ name }) => name === 'summarize');
}
