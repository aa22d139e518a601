import { encodedBy, type Fitted } from './fitted.ts';
import { Figures } from './figures.ts';
import type {
  CompactionHooks,
  CompactOptions,
  SessionConfig,
  Refusal,
  SessionChanges,
} from './session-config.ts';
import { besideMessages, LearntCounter } from './learnt-counter.ts';
import { checkCompactOptions, checkRefusal, checkSessionChanges } from './options.ts';
import { PathKeeper } from './path-keeper.ts';
import { withoutUnit, withPins, withUnit } from './pinning.ts';
import { PlanKeeper } from './plan-keeper.ts';
import { Recollection } from './recollection.ts';
import { retryOnConflict, type Attempt } from './race.ts';
import { policyOf } from './config.ts';
import {
  compact,
  compactExpired,
  compactFirstSight,
  compactTrim,
  decide,
  firstSightTokens,
  type Compaction,
  type Decision,
  type Job,
  type CompactorConfig,
} from '../compact/compact.ts';
import type { CompactionEvent, EventDetail } from '../events.ts';
import { captureSources } from '../plan/durability.ts';
import { nextExpiry } from '../plan/expiry.ts';
import { currentSummary, type Plan } from '../plan/plan.ts';
import { limitsWithin, TrimFigures, trimPays } from '../plan/trim-figures.ts';
import { mustAct, type TriggerInput } from '../plan/trigger.ts';
import { windowOf, type Window } from '../plan/window.ts';
import type { StoredWindow, ThreadKey } from '../ports.ts';
import type { PromptBuilder } from '../render/builder.ts';
import { remindedPrompt, type Insertion } from '../recall/reminded-prompt.ts';
import type { Prompt } from '../render/prompt.ts';
import { finishPrompt, render, startPrompt } from '../render/render.ts';
import {
  isSigned,
  resultsOf,
  type CallPart,
  type Message,
  type MessageId,
} from '../message/message.ts';
import type { Node } from '../thread/thread.ts';
import { boundedTo, budget, messageLimit } from '../tokens/budget.ts';
import type { Counter } from '../tokens/counter.ts';

/** What was done towards a prompt. */
interface Step extends Attempt {
  readonly events: readonly CompactionEvent[];
  readonly changed?: boolean;
}

const NOTHING_DONE: Step = { events: [] };

/** A way to make a plan. */
type Way = (setting: CompactorConfig, job: Job) => Promise<Compaction>;

type Committed = Compaction & Step;

/**
 * A thread that a host talks on: append what was said, ask for the prompt. Calls are carried out one after another, so
 * a host need not wait between them.
 */
export class Session<Wire = Message> {
  readonly key: ThreadKey;
  readonly #host: SessionConfig<Wire>;
  #setting: CompactorConfig;
  readonly #learnt: LearntCounter;
  readonly #path: PathKeeper;
  readonly #plans: PlanKeeper;
  #builder: PromptBuilder;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #figures = new Figures();
  readonly #recollection: Recollection;
  #trim: TrimFigures | undefined;
  #newest: ReadonlyMap<MessageId, Message> = new Map();
  #assumption: string | undefined;

  constructor(key: ThreadKey, host: SessionConfig<Wire>, stored?: StoredWindow) {
    this.key = key;
    this.#host = host;
    this.#assumption = host.assumption;
    this.#learnt = new LearntCounter(host.counter, host.calibration);
    this.#setting = { ...host, counter: this.#learnt.counter };
    this.#path = new PathKeeper(host.store, key, stored);
    this.#recollection = new Recollection(key, host);
    this.#plans = new PlanKeeper(host.store, key, host.policy.style, stored);
    this.#recollection.takeOver(this.plan);
    this.#figures.task = currentSummary(this.plan)?.summary.task ?? null;
    this.#builder = this.#rebuild();
    this.#takeUp(this.#path.thread.path());
    for (const { message } of this.#window().carried) this.#figures.expect(message, host.tools);
  }

  get plan(): Plan {
    return this.#plans.plan;
  }

  /** The version of the plan in force: `promptAt(version)` renders the present prompt without compacting. */
  get version(): number {
    return this.#plans.version;
  }

  /** The counter in force: what was learnt from reported usage is part of it. */
  get counter(): Counter {
    return this.#setting.counter;
  }

  get length(): number {
    return this.#path.thread.length;
  }

  get head(): MessageId | undefined {
    return this.#path.thread.head?.id;
  }

  /** The messages of the path that are held in memory. */
  get messages(): readonly Message[] {
    return this.#path.thread.messages;
  }

  /** The message at an index of the path, where it is held in memory. */
  at(index: number): Node | undefined {
    return this.#path.thread.at(index);
  }

  /** What the prompt's messages cost as a share of what they may cost. */
  get pressure(): number {
    return this.#builder.tokens / messageLimit(this.#setting.budget);
  }

  /** Appends messages in the host's format behind the head and returns their ids. What is said again is there again. */
  append(...wire: readonly Wire[]): Promise<readonly MessageId[]> {
    return this.#exclusively(() =>
      this.#append(this.#host.codec.decode(wire, this.#path.thread.messages)),
    );
  }

  /** Appends messages that are decoded already. */
  appendDecoded(messages: readonly Message[]): Promise<readonly MessageId[]> {
    return this.#exclusively(() => this.#append(messages));
  }

  /** Newer wire forms of messages that are there already: a host may move its cache markers with each request. */
  refresh(messages: readonly Message[], ids: readonly MessageId[]): void {
    this.#newest = new Map(messages.map((message, i) => [ids[i] as MessageId, message]));
  }

  /** The prompt for the next request: lawful and within the budget, compacted first where it has to be. */
  prompt(options: CompactOptions = {}): Promise<Fitted<Wire>> {
    return this.#exclusively(() => {
      checkCompactOptions(options);
      return this.#fit(options);
    });
  }

  /** Compacts now, whatever the pressure; `instructions` steer the summary. */
  compact(options: CompactOptions = {}): Promise<Fitted<Wire>> {
    return this.#exclusively(async () => {
      checkCompactOptions(options);
      this.#rebudget(options.budget);
      const most = messageLimit(this.#setting.budget);
      const compaction = await this.#compactTo(most, compact, 'asked for', options);
      return this.#fitted(compaction.events, compaction.changed);
    });
  }

  /** Goes on with another budget or policy: the model was switched, the instructions changed. */
  reconfigure(tuning: SessionChanges): Promise<void> {
    return this.#exclusively(async () => {
      checkSessionChanges(tuning);
      const { policy = this.#setting.policy, budget: changed } = tuning;
      this.#setting = { ...this.#setting, policy: policyOf(policy, 'policy') };
      this.#rebudget(changed);
    });
  }

  #rebudget(changed: CompactOptions['budget']): void {
    if (changed === undefined) return;
    this.#setting = {
      ...this.#setting,
      budget: budget({ ...this.#setting.budget, ...changed }),
    };
  }

  /**
   * The provider refused the last prompt as too long (E3): what it said of the sizes is learnt, and a prompt of at most
   * half the size comes back to retry with.
   */
  refused(refusal: Refusal = {}, options: CompactOptions = {}): Promise<Fitted<Wire>> {
    return this.#exclusively(async () => {
      checkRefusal(refusal);
      checkCompactOptions(options);
      this.#rebudget(options.budget);
      const { requestTokens, limitTokens } = refusal;
      const refused = this.#emitEvent({ kind: 'refused', ...refusal });
      this.#learn(requestTokens);
      const windowTokens = Math.min(
        this.#setting.budget.windowTokens,
        limitTokens ?? Number.POSITIVE_INFINITY,
      );
      this.#setting = { ...this.#setting, budget: { ...this.#setting.budget, windowTokens } };
      const most = Math.floor(this.#builder.tokens / 2);
      const half: Way = (setting, job) =>
        compact({ ...setting, budget: boundedTo(setting.budget, most) }, job);
      const reason = 'the provider refused the prompt';
      const compaction = await this.#compactTo(most, half, reason, options);
      return this.#sending(this.#fitted([refused, ...compaction.events], compaction.changed));
    });
  }

  /** Takes the last compaction back; pins stay. False where there is none. The next waits until the prompt no longer fits. */
  undo(): Promise<boolean> {
    return this.#exclusively(async () => {
      if (!(await this.#plans.settle(this.head))) await this.#takeOver();
      const undone = await this.#plans.undone((plan) => this.#path.holds(plan));
      if (undone === undefined) return false;
      const [before, undid] = undone;
      await this.#path.load(before);
      const plan = await withPins(before, this.plan.pins, this.#path);
      return this.#adopt({ ...plan, signedFrom: this.length, undid }, []);
    });
  }

  /** Keeps a message whole from now on, with the calls or results that belong to it; one that was compacted comes back. */
  pin(id: MessageId): Promise<void> {
    return this.#exclusively(async () => {
      if (this.plan.pins.includes(id)) return;
      const unit = await this.#path.unitOf(id);
      await this.#adoptSurely(() => withUnit(this.plan, unit, this.#path), `pin ${id}`);
    });
  }

  /** Undoes `pin`: the message stays as it is until the next compaction, which may touch it again. */
  unpin(id: MessageId): Promise<void> {
    return this.#exclusively(async () => {
      const unit = await this.#path.unitOf(id);
      if (!this.plan.pins.includes(id)) return;
      await this.#adoptSurely(() => withoutUnit(this.plan, unit), `unpin ${id}`);
    });
  }

  /** The plan in force when the thread had so many messages. */
  planWithin(length: number): Promise<Plan> {
    return this.#plans.within(length);
  }

  /** Starts with the plan of a thread that shares its first messages, if the plan was made for no more than those. */
  takeOver(plan: Plan, sharedMessages: number): Promise<boolean> {
    return this.#exclusively(async () => {
      if (plan.threadVersion > sharedMessages || this.version > 0) return false;
      this.#recollection.takeOver(plan);
      const { lost } = await this.#enforce({ ...plan, thread: this.key.thread }, []);
      return lost !== true;
    });
  }

  /**
   * The thread as an earlier version of the plan shows it, with the path as long as it was when that was made, or as long
   * as it is said to have been. What was recalled for a turn is in no thread. Version 0 is the thread without any plan.
   */
  promptAt(version: number, length?: number): Promise<Prompt> {
    return this.#exclusively(async () => {
      const plan = await this.#plans.at(version);
      await this.#path.load(plan);
      const isPast = version > 0 && version !== this.version;
      const until = length ?? (isPast ? plan.threadVersion : undefined);
      return render(windowOf(this.#path.thread, plan, until), plan, this.#setting);
    });
  }

  /** Adopts a plan that is made anew from the winner's where a race is lost. */
  async #adoptSurely(make: () => Plan | Promise<Plan>, what: string): Promise<void> {
    const { lost } = await retryOnConflict<Attempt>(async () =>
      (await this.#adopt(await make(), [])) ? {} : { lost: true },
    );
    if (lost === undefined) return;
    throw new Error(
      `thread ${this.key.thread} is written to by others all the time: ${what} again`,
    );
  }

  async #append(messages: readonly Message[]): Promise<readonly MessageId[]> {
    const nodes = await this.#path.append(messages);
    for (const node of nodes) {
      this.#builder.push(node);
      this.#trim?.push(node.message, this.#setting.counter.message(node.message));
      const results = resultsOf(node.message);
      const callOf = (callId: string): CallPart | undefined => this.#path.callOf(node, callId);
      if (results.length > 0) await captureSources(results, callOf, this.#setting.tools);
    }
    for (const node of nodes) this.#learn(this.#note(node));
    return nodes.map(({ id }) => id);
  }

  /** Notes what others have said, and learns from the last answer to a prompt of the plan in force (B4). */
  #takeUp(nodes: readonly Node[]): void {
    let answered: [Node, number] | undefined;
    for (const node of nodes) {
      const reported = this.#note(node);
      if (reported !== undefined) answered = [node, reported];
    }
    if (answered === undefined || this.plan.undid !== undefined) return;
    const [{ index }, reported] = answered;
    const sent = windowOf(this.#path.thread, this.plan, index);
    this.#figures.sentTokens = startPrompt(sent, this.plan, this.#setting).tokens;
    this.#learn(reported);
  }

  #note(node: Node): number | undefined {
    const { counter, tools } = this.#setting;
    return this.#figures.note(node, counter.message(node.message), tools, this.plan.threadVersion);
  }

  #learn(reportedTokens: number | undefined): void {
    const { sentTokens } = this.#figures;
    if (sentTokens === undefined || reportedTokens === undefined) return;
    this.#figures.sentTokens = undefined;
    const before = this.#setting.counter;
    this.#setting = this.#learnt.learn(this.#setting, sentTokens, reportedTokens);
    if (this.#setting.counter !== before) this.#builder = this.#rebuild();
  }

  async #fit(options: CompactOptions): Promise<Fitted<Wire>> {
    options.signal?.throwIfAborted();
    this.#rebudget(options.budget);
    const events: CompactionEvent[] = [...this.#admitAssumption()];
    let compacted = false;
    await retryOnConflict(async () => {
      for await (const step of this.#steps(options)) {
        events.push(...step.events);
        compacted ||= step.changed === true;
        if (step.lost === true) return step;
      }
      return NOTHING_DONE;
    });
    if (this.#setting.rules.bindsReasoning) this.#recollection.send(this.#insertion());
    return this.#sending(this.#fitted(events, compacted));
  }

  /**
   * What happens before a prompt goes out. Where another writer was faster with one of the steps, its plan is in force,
   * which may be for a shorter path: all of them are taken again.
   */
  async *#steps(options: CompactOptions): AsyncGenerator<Step> {
    const now = this.#setting.clock.now();
    const settled = this.version > 0 && this.plan.threadVersion === this.length;
    if (now > this.#figures.nextExpiry)
      yield this.#compact(compactExpired, 'time to live is over', options);
    const isLargeUnread = this.#figures.largestUnsentTokens > firstSightTokens(this.#setting);
    if (isLargeUnread && mustAct(this.#check()))
      yield this.#compact(compactFirstSight, 'a large new result', options);
    const { cutPinTokens = 0 } = this.plan;
    const isRoomy =
      this.#builder.tokens + cutPinTokens <= messageLimit(this.#setting.budget) * 0.85;
    if (cutPinTokens > 0 && isRoomy)
      yield this.#compact(compactExpired, 'pins fit whole again', options);
    if (this.#trimPays(now)) yield this.#compact(compactTrim, 'trimming pays', options);
    const since = { cold: this.#isCold(now), settled, floor: this.#builder.floor };
    const check = this.#check();
    const waits = this.#isBound() && !mustAct(check);
    const decision: Decision = waits
      ? { kind: 'rest' }
      : decide(this.#setting, check, this.plan, since);
    if (decision.kind === 'postpone')
      yield { events: [this.#emitEvent({ kind: 'postponed', reason: decision.reason })] };
    if (decision.kind === 'compact') yield this.#compact(compact, decision.reason, options);
    yield { events: await this.#remind() };
    if (this.#setting.rules.bindsReasoning) yield this.#releaseBoundReasoning();
  }

  /** Tells once what was taken for granted. */
  #admitAssumption(): readonly CompactionEvent[] {
    const message = this.#assumption;
    this.#assumption = undefined;
    return message === undefined ? [] : [this.#emitEvent({ kind: 'warning', message })];
  }

  /** Brings back what the present turn asks for, and lets the store keep that it did. */
  async #remind(): Promise<readonly CompactionEvent[]> {
    const window = (): Window => this.#window();
    const details = await this.#recollection.remind(this.plan, window, this.#setting);
    const events = details.map((detail) => this.#emitEvent(detail));
    if (events.length === 0) return events;
    return this.#host.store.record(this.key, events).then(
      () => events,
      (error: unknown) => [...events, this.#emitEvent({ kind: 'warning', message: String(error) })],
    );
  }

  /**
   * Reasoning that was signed behind other reminders than the present ones would be refused: it is left out from now on.
   * What was shown before this process took the thread up is not known, so there all of it is.
   */
  async #releaseBoundReasoning(): Promise<Step> {
    const { signedFrom } = this.plan;
    const isBound = ({ index, message }: Node): boolean => index >= signedFrom && isSigned(message);
    if (!this.#recollection.differs(this.#insertion())) return NOTHING_DONE;
    if (!this.#path.thread.path(signedFrom).some(isBound)) return NOTHING_DONE;
    return this.#enforce({ ...this.plan, signedFrom: this.length }, []);
  }

  get #turn(): number {
    return this.#path.thread.head?.turn ?? 0;
  }

  #insertion(): Insertion {
    return this.#recollection.insertion(this.#builder.messages, this.#setting, this.#turn);
  }

  /** Notes that a prompt goes out. */
  #sending(fitted: Fitted<Wire>): Fitted<Wire> {
    this.#figures.markSent(this.#path.thread.length);
    this.#figures.sentAt = this.#setting.clock.now();
    this.#figures.sentTokens = fitted.prompt.tokens;
    return fitted;
  }

  #check(): TriggerInput {
    const { extent } = this.#builder;
    return {
      ...extent,
      contextTokens: this.#figures.reportedTokens ?? extent.tokens + besideMessages(this.#setting),
      budget: this.#setting.budget,
    };
  }

  /** The running turn holds reasoning that would be refused behind a changed beginning. */
  #isBound(): boolean {
    return this.#setting.rules.bindsReasoning && this.#figures.signedInTurn;
  }

  #trimPays(now: number): boolean {
    const { economics } = this.#setting.policy;
    if (this.#trim === undefined || economics === undefined) return false;
    if (this.plan.undid !== undefined || this.#isBound()) return false;
    return trimPays(this.#trim, economics.prices, this.#isCold(now) ? 'cold' : 'warm');
  }

  #isCold(now: number): boolean {
    const ttlMs = this.#setting.policy.economics?.prices.ttlMs ?? 0;
    const { sentAt } = this.#figures;
    return sentAt === undefined || now - sentAt > ttlMs;
  }

  /**
   * Compacts whatever the pressure, and again where another writer was faster with a plan that leaves too much. What comes
   * of it may be sent: reasoning that was signed behind something else is left out.
   */
  #compactTo(
    mostTokens: number,
    way: Way,
    reason: string,
    options: CompactOptions,
  ): Promise<Committed> {
    return retryOnConflict(async () => {
      const { lost, ...made } = await this.#compact(way, reason, { ...options, forced: true });
      if (lost === true && this.#builder.tokens > mostTokens) return { ...made, lost };
      const released = this.#setting.rules.bindsReasoning
        ? await this.#releaseBoundReasoning()
        : NOTHING_DONE;
      return { ...made, ...released, events: [...made.events, ...released.events] };
    });
  }

  async #compact(
    way: Way,
    reason: string,
    options: CompactOptions & { readonly forced?: boolean },
  ): Promise<Committed> {
    const { head } = this.#path.thread;
    const beforeTokens = this.#builder.tokens;
    if (head === undefined) return { plan: this.plan, changed: false, fits: true, events: [] };
    this.#hear((hooks) => hooks.onBeforeCompaction?.({ beforeTokens }));
    const { task, sent } = this.#figures;
    const job = {
      key: this.key,
      head,
      window: this.#window(),
      plan: this.plan,
      task,
      sent,
      reason,
      onEvent: (event: CompactionEvent) => this.#hear((hooks) => hooks.onEvent?.(event)),
      ...options,
    };
    const made = await way(
      options.forced === true ? this.#setting : this.#recollection.calm(this.#setting, this.#turn),
      job,
    );
    const compaction: Committed = made.changed ? await this.#putInForce(made) : made;
    if (made.changed) this.#figures.forgetReported();
    const { tools, clock } = this.#setting;
    const { carried, tail } = this.#window();
    if (compaction.lost !== true)
      this.#figures.nextExpiry = nextExpiry([...carried, ...tail], tools, clock.now());
    const afterTokens = this.#builder.tokens;
    const compactedTokens = beforeTokens - afterTokens;
    this.#hear((hooks) =>
      hooks.onAfterCompaction?.({ beforeTokens, afterTokens, compactedTokens }),
    );
    return compaction;
  }

  async #putInForce(compaction: Compaction): Promise<Committed> {
    const { undid: _, ...plan } = compaction.plan;
    const { lost, events } = await this.#enforce(plan, compaction.events);
    if (lost === true) return { ...compaction, changed: false, lost };
    this.#recollection.embed((why) =>
      this.#emitEvent({ kind: 'warning', message: `recall goes by words alone: ${why}` }),
    );
    return { ...compaction, events: [...compaction.events, ...events] };
  }

  /** Puts a plan in force, also where the store fails; what there is to tell of that comes back. */
  async #enforce(plan: Plan, told: readonly CompactionEvent[]): Promise<Step> {
    const enforced = await this.#plans.enforce(plan, told, this.head);
    if (enforced.kind === 'lost') {
      await this.#takeOver();
      return { events: [], lost: true };
    }
    this.#builder = this.#rebuild();
    if (enforced.kind === 'committed') return NOTHING_DONE;
    const message = `the plan could not be committed and holds in this process alone: ${enforced.why}`;
    return { events: [this.#emitEvent({ kind: 'warning', message })] };
  }

  /** Lets the host hear something. What it does with that is its own affair: its errors do not stop the thread. */
  #hear(tell: (hooks: CompactionHooks) => unknown): void {
    try {
      Promise.resolve(tell(this.#host.hooks)).catch(() => undefined);
    } catch {
      // A hook that fails has failed for its host only.
    }
  }

  /** Commits a plan. Where another writer was faster, its plan is taken over instead. */
  async #adopt(plan: Plan, events: readonly CompactionEvent[]): Promise<boolean> {
    const won = await this.#plans.commit(plan, events, this.head);
    if (won) this.#builder = this.#rebuild();
    else await this.#takeOver();
    return won;
  }

  /** Goes on with another writer's plan: it may show messages that are not in memory, and none of what was sent here. */
  async #takeOver(): Promise<void> {
    await this.#path.load(this.plan);
    this.#recollection.forget();
    this.#builder = this.#rebuild();
  }

  #window(): Window {
    return windowOf(this.#path.thread, this.plan);
  }

  #rebuild(): PromptBuilder {
    const window = this.#window();
    this.#trim = this.#untrimmed(window);
    return startPrompt(window, this.plan, this.#setting);
  }

  /** What came after the last batch of trimming. */
  #untrimmed({ tail }: Window): TrimFigures | undefined {
    const { policy, counter, budget: bounds } = this.#setting;
    const limits = policy.ladder.find(({ trims }) => trims !== undefined)?.trims;
    if (limits === undefined) return undefined;
    const figures = new TrimFigures(limitsWithin(limits, messageLimit(bounds)));
    const from = this.plan.trimmedTo ?? 0;
    for (const { message, index } of tail)
      if (index >= from) figures.push(message, counter.message(message));
    return figures;
  }

  #asSentNow(prompt: Prompt): Prompt {
    if (this.#newest.size === 0) return prompt;
    const messages = prompt.messages.map((shown) => {
      const now = shown.source.kind === 'kept' ? this.#newest.get(shown.source.id) : undefined;
      return now === undefined ? shown : { ...shown, message: now };
    });
    return { ...prompt, messages };
  }

  #fitted(events: readonly CompactionEvent[], compacted: boolean): Fitted<Wire> {
    const shown = this.#asSentNow(finishPrompt(this.#builder, this.#setting));
    const prompt = remindedPrompt(shown, this.#insertion(), this.#setting.counter);
    const { continueWith } = this.#setting.policy;
    return encodedBy(this.#host.codec, {
      prompt,
      plan: this.plan,
      version: this.version,
      compacted,
      fits: this.#builder.tokens <= messageLimit(this.#setting.budget),
      limitTokens: messageLimit(this.#setting.budget),
      events,
      ...(compacted && continueWith !== undefined ? { continueWith } : {}),
    });
  }

  #emitEvent(detail: EventDetail): CompactionEvent {
    const tokens = this.#builder.tokens;
    const limitTokens = messageLimit(this.#setting.budget);
    const event = {
      thread: this.key.thread,
      time: this.#setting.clock.now(),
      tokensBefore: tokens,
      tokensAfter: tokens,
      limitTokens,
      ...detail,
    };
    this.#hear((hooks) => hooks.onEvent?.(event));
    return event;
  }

  #exclusively<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(task);
    this.#queue = run.catch(() => undefined);
    return run;
  }
}
