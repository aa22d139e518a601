import { lastOf } from '../check/list.ts';
import {
  hasResults,
  isSigned,
  startsTurn,
  type Message,
  type MessageId,
} from '../message/message.ts';
import type { Node, Window } from '../thread/thread.ts';
import { runningLoop, unitStarts, waitingFrom } from '../thread/units.ts';
import type { Counter } from '../tokens/counter.ts';
import { redactSecrets, type Redact } from '../summary/redact.ts';
import type { CutItem } from '../plan/cut.ts';
import {
  holdsReasoning,
  withoutReasoningFrom,
  type Carried,
  type Hide,
  type Plan,
  type PlanRecord,
  type RenderStyle,
  type SummarizeRecord,
} from '../plan/plan.ts';
import { type Action, actions, isPinned, normalize, withoutRecords } from '../plan/actions.ts';
import { inPlace, isInPlace, standIns } from '../render/record.ts';
import { canonicalJson } from '../message/json.ts';

/** A message of the window with what is known of it while a plan is made. */
export interface Entry extends CutItem {
  readonly node: Node;
  /** What it costs as it came in. */
  readonly tokens: number;
  /** The position in `Draft.entries` at which its unit starts. */
  readonly unit: number;
  /** Never compacted: a pin, the newest user message, something that a codec could not read, or a waiting round. */
  readonly pinned: boolean;
  /** Part of a round that still waits for results: not in the prompt yet. */
  readonly pending: boolean;
}

/**
 * A plan in the making: the window, the records so far, and what the prompt would cost. The cost follows every record
 * at the price of the messages that it names; what the renderer adds to keep roles in order is not part of it.
 */
export class Draft {
  readonly entries: readonly Entry[];
  readonly counter: Counter;
  readonly style: RenderStyle;
  /** Takes secrets out of what the plan says of messages. */
  readonly redact: Redact;
  readonly #base: Plan;
  readonly #byId: ReadonlyMap<MessageId, Entry>;
  readonly #actions: Map<MessageId, Action>;
  /** The index of the newest user message. */
  readonly #turnStart: number | undefined;
  readonly #earlier: ReadonlySet<PlanRecord>;
  readonly #costs = new Map<MessageId, number>();
  readonly #held = new Set<MessageId>();
  /** Where the last batch of trimming ended. */
  trimmedTo: number;
  #records: readonly PlanRecord[];
  #hides: readonly Hide[];
  #tokens = 0;
  #firstChange = Number.POSITIVE_INFINITY;

  constructor(
    window: Window,
    base: Plan,
    style: RenderStyle,
    counter: Counter,
    pins: ReadonlySet<MessageId>,
    redact: Redact = redactSecrets,
  ) {
    this.redact = redact;
    this.counter = counter;
    this.style = style;
    this.#base = base;
    this.#records = base.records;
    this.trimmedTo = base.trimmedTo ?? 0;
    this.#earlier = new Set(base.records);
    this.#hides = base.hides;
    this.#actions = new Map(actions(base));
    this.entries = toEntries(window, counter, pins, (node) => this.isGone({ node }));
    this.#turnStart = lastOf(this.entries, ({ message }) => startsTurn(message))?.node.index;
    this.#byId = new Map(this.entries.map((entry) => [entry.node.id, entry]));
    for (const entry of this.entries) this.#price(entry);
    for (const record of this.#records) this.#tokens += this.#syntheticCost(record);
  }

  /** What the prompt's messages would cost. */
  get tokens(): number {
    return this.#tokens;
  }

  get records(): readonly PlanRecord[] {
    return this.#records;
  }

  /** The summary at the beginning so far. */
  get summary(): SummarizeRecord | undefined {
    return lastOf(this.#records, (record) => record.kind === 'summarize');
  }

  /** What the provider writes to its cache again: all that is shown from the first change on. */
  get rewrittenTokens(): number {
    let tokens = 0;
    for (const entry of this.entries)
      if (entry.node.index >= this.#firstChange) tokens += this.cost(entry);
    const { summary } = this;
    return (
      tokens +
      (summary !== undefined && summary.at >= this.#firstChange ? summary.summaryTokens : 0)
    );
  }

  get changed(): boolean {
    return this.#firstChange < Number.POSITIVE_INFINITY;
  }

  /** The entry of a message of the window. */
  entry(id: MessageId): Entry | undefined {
    return this.#byId.get(id);
  }

  action({ node }: Pick<Entry, 'node'>): Action | undefined {
    return this.#actions.get(node.id);
  }

  /** The unit that an agent works on: the newest one that is in the prompt. */
  get newestUnit(): number | undefined {
    return lastOf(this.entries, (entry) => !entry.pending)?.unit;
  }

  /** What an entry costs as the draft shows it: nothing if a summary, a pointer or a drop replaces it. */
  cost(entry: Entry): number {
    return this.#costs.get(entry.node.id) ?? 0;
  }

  /** True for the running turn: with thinking, a provider refuses a tool loop whose reasoning is gone. */
  keepsReasoning({ message, node }: Entry): boolean {
    if (!message.parts.some(({ kind }) => kind === 'reasoning')) return false;
    return node.index > (this.#turnStart ?? Number.POSITIVE_INFINITY);
  }

  /** A message as the draft shows it in place. */
  shown(entry: Entry): Message {
    const action = this.action(entry);
    return action !== undefined && isInPlace(action)
      ? inPlace(entry.message, action, this.style)
      : entry.message;
  }

  /** True if the draft no longer shows an entry in its own place. */
  isGone(entry: Pick<Entry, 'node'>): boolean {
    const action = this.action(entry);
    return action !== undefined && !isInPlace(action);
  }

  /** True if a tool loop is running whose signed reasoning still holds. */
  get hasSignedLoop(): boolean {
    const loop = runningLoop(this.entries.flatMap(({ node, pending }) => (pending ? [] : [node])));
    return loop.some(
      ({ index, message }) => isSigned(message) && holdsReasoning(this.#base, index),
    );
  }

  /** Keeps the results of the newest round, which a model has yet to read. */
  holdNewestResults(): void {
    const newest = lastOf(this.entries, ({ pending, message }) => !pending && hasResults(message));
    for (const entry of this.entries)
      if (entry.unit === newest?.unit && hasResults(entry.message)) this.hold(entry);
  }

  /** Keeps an entry before a cut although it is not pinned. */
  hold(entry: Entry): void {
    this.#held.add(entry.node.id);
  }

  stays(entry: Entry): boolean {
    return entry.pinned || this.#held.has(entry.node.id);
  }

  /** Adds a record. It replaces the records that it covers, and a summary replaces the one it contains. */
  add(record: PlanRecord): void {
    this.#absorb(record);
    this.#records = [...this.#records, record];
    this.#tokens += this.#syntheticCost(record);
    this.#act(record.span.ids, record);
    if (record.kind === 'summarize') this.#firstChange = Math.min(this.#firstChange, record.at);
  }

  /** What an entry would cost more if it were shown as it came in. Only pins get back what another plan has cut. */
  cutTokens(entry: Entry): number {
    const action = this.action(entry);
    if (action?.kind !== 'externalize' || !isInPlace(action)) return 0;
    const mayReturn = entry.pinned || (action.trimmed !== true && !this.#earlier.has(action));
    return mayReturn ? entry.tokens - this.cost(entry) : 0;
  }

  /** Shows an entry that was cut as it came in. */
  restore(entry: Entry): void {
    const action = this.action(entry);
    this.#records = this.#records.filter((record) => record !== action);
    this.#actions.delete(entry.node.id);
    this.#price(entry);
    if (action?.kind === 'externalize' && this.#earlier.has(action))
      this.#firstChange = Math.min(this.#firstChange, entry.node.index);
  }

  /**
   * Hides messages, except pins: a pin outlives its time to live. The excerpt of a shortened message is hidden as well.
   */
  hide(hides: readonly Hide[]): void {
    const fresh = hides.filter(({ id }) => {
      const entry = this.entry(id);
      if (entry === undefined || entry.pinned || this.isGone(entry)) return false;
      return this.action(entry)?.kind !== 'hide';
    });
    if (fresh.length === 0) return;
    const ids = new Set(fresh.map(({ id }) => id));
    const shown = { ...this.#base, records: this.#records, hides: this.#hides };
    const rest = withoutRecords(shown, ids, (id) => this.entry(id)?.node.turn);
    this.#records = rest.records;
    this.#hides = [...rest.hides, ...fresh];
    for (const hide of fresh) this.#act([hide.id], { kind: 'hide', ...hide });
  }

  /** The finished plan. `sent` is how many messages of the path have been sent to a provider before. */
  finish(made: {
    head: Node;
    now: number;
    policy: string;
    tokensBefore: number;
    sent: number;
  }): Plan {
    const { records, warnings } = normalize(this.#records, (id) => this.entry(id)?.node.turn);
    const { start, carried } = this.#beginning();
    const carriedIds = new Set(carried.map(({ id }) => id));
    const { cutPinTokens: _, ...base } = this.#base;
    const pins = this.entries.filter(({ pinned }) => pinned);
    const cutPinTokens = pins.reduce((sum, entry) => sum + this.cutTokens(entry), 0);
    const length = made.head.index + 1;
    return {
      ...(this.#firstChange < made.sent
        ? withoutReasoningFrom(base, this.#changedFrom, length)
        : base),
      ...(cutPinTokens > 0 ? { cutPinTokens } : {}),
      head: made.head.id,
      threadVersion: length,
      createdAt: made.now,
      policy: made.policy,
      style: this.style,
      start,
      carried,
      records: records.filter((record) => this.#stillCounts(record, start, carriedIds)),
      hides: this.#hides.filter(
        ({ id }) => carriedIds.has(id) || (this.#byId.get(id)?.node.index ?? -1) >= start,
      ),
      ...(this.trimmedTo === 0 ? {} : { trimmedTo: this.trimmedTo }),
      tokensBefore: made.tokensBefore,
      tokensAfter: this.#tokens,
      warnings,
    };
  }

  /** Where the prompt changes: at its beginning if the style has changed or a summary moves with what is carried. */
  get #changedFrom(): number {
    const isMoved = this.style.summaryAt === 'last' && this.summary !== undefined;
    const isRestyled =
      this.#earlier.size > 0 && canonicalJson(this.style) !== canonicalJson(this.#base.style);
    return isMoved || isRestyled ? 0 : this.#firstChange;
  }

  /**
   * A record of an earlier plan whose messages all come before the start stays in that plan alone: plans stay small.
   */
  #stillCounts(record: PlanRecord, start: number, carried: ReadonlySet<MessageId>): boolean {
    if (record.kind === 'summarize' || !this.#earlier.has(record)) return true;
    return record.span.ids.some(
      (id) => carried.has(id) || (this.entry(id)?.node.index ?? -1) >= start,
    );
  }

  #act(ids: readonly MessageId[], action: Action): void {
    for (const id of ids) {
      this.#actions.set(id, action);
      const entry = this.#byId.get(id);
      if (entry === undefined) continue;
      this.#price(entry);
      this.#firstChange = Math.min(this.#firstChange, entry.node.index);
    }
  }

  #price(entry: Entry): void {
    const isShown = !entry.pending && !this.isGone(entry);
    const cost = isShown ? this.counter.message(this.shown(entry)) : 0;
    this.#tokens += cost - (this.#costs.get(entry.node.id) ?? 0);
    this.#costs.set(entry.node.id, cost);
  }

  #absorb(record: PlanRecord): void {
    const { ids } = record.span;
    if (record.kind !== 'summarize' && !ids.some((id) => this.#actions.has(id))) return;
    const covered = new Set<MessageId>(ids);
    this.#records = this.#records.filter((old) => {
      const contained = record.kind === 'summarize' && old.kind === 'summarize';
      if (!contained && !old.span.ids.every((id) => covered.has(id))) return true;
      this.#tokens -= this.#syntheticCost(old);
      return false;
    });
  }

  /** What the messages that a record adds cost. */
  #syntheticCost(record: PlanRecord): number {
    const messages = standIns(record, this.style);
    return messages.reduce((sum, message) => sum + this.counter.message(message), 0);
  }

  /** Everything before the first message that is still in line is carried or gone. */
  #beginning(): { start: number; carried: readonly Carried[] } {
    let { start } = this.#base;
    for (const entry of this.entries) {
      if (this.isGone(entry)) start = Math.max(start, entry.node.index + 1);
      else if (entry.pending || (!this.stays(entry) && entry.node.index >= this.#base.start)) break;
    }
    const carried = this.entries.filter((entry) => entry.node.index < start && !this.isGone(entry));
    return { start, carried: carried.map(({ node }) => ({ id: node.id, index: node.index })) };
  }
}

function toEntries(
  { carried, tail }: Window,
  counter: Counter,
  pins: ReadonlySet<MessageId>,
  isGone: (node: Node) => boolean,
): readonly Entry[] {
  const nodes = [...carried, ...tail];
  const messages = nodes.map((node) => node.message);
  const starts = unitStarts(messages);
  // What is carried is past: only a round of the path can still wait.
  const waiting =
    carried.length + waitingFrom(messages.slice(carried.length), (i) => isGone(tail[i] as Node));
  const newestUser = lastOf(nodes, (node) => startsTurn(node.message));
  const entries: Entry[] = [];
  starts.forEach((unit, i) => {
    const members = nodes.slice(unit, starts[i + 1] ?? nodes.length);
    const isKept = members.some((node) => node === newestUser || isPinned(node, pins));
    for (const [offset, node] of members.entries()) {
      const tokens = counter.message(node.message);
      const pending = unit + offset >= waiting;
      const pinned = isKept || pending;
      entries.push({
        node,
        message: node.message,
        tokens,
        unit,
        pinned,
        pending,
        startsUnit: offset === 0,
      });
    }
  });
  return entries;
}
