import { lazyField } from '../check/lazy-field.ts';
import {
  hasCompaction,
  hasResults,
  resultsOf,
  startsTurn,
  textMessage,
  type CallPart,
  type Message,
  type MessageId,
  type Part,
  type ResultPart,
  type Role,
  withParts,
} from '../message/message.ts';
import type { Node, Thread, Window } from '../thread/thread.ts';
import { OpenCalls } from '../thread/units.ts';
import { type Action, actions, isPinned } from '../plan/actions.ts';
import { holdsReasoning, type Plan, type PlanRecord, type SummarizeRecord } from '../plan/plan.ts';
import { inPlace, isInPlace, standIns } from './record.ts';
import type { PromptSize } from '../plan/trigger.ts';
import { cachePoints, type CachePointOptions } from './cache-points.ts';
import type { Prompt, PromptMessage, Source } from './prompt.ts';
import type { ProviderRules } from './rules.ts';

const OPENER = '[The conversation continues from here.]';
const NO_RESULT = '[No result: the call was interrupted.]';

const lazyMessages = lazyField('messages');
const lazyCachePoints = lazyField('cachePoints');

export interface RenderOptions extends CachePointOptions {
  readonly rules: ProviderRules;
}

/** Thread and plan to prompt: pure, the same every time. */
export function render(window: Window, plan: Plan, options: RenderOptions): Prompt {
  return new PromptBuilder(window, plan, options).finish(options);
}

/** What a prompt is made of. */
interface Rendered {
  readonly thread: Thread;
  readonly plan: Plan;
  readonly config: RenderOptions;
}

/** The prompt of a thread and a plan that is extended while both stay the same: only new messages cost anything. */
export class GrowingPrompt {
  #made: Rendered | undefined;
  #builder: PromptBuilder | undefined;

  of({ thread, plan, config }: Rendered): PromptBuilder {
    const made = this.#made;
    const isSame = made?.plan === plan && made.config.counter === config.counter;
    if (this.#builder === undefined || !isSame || made.thread.length > thread.length)
      this.#builder = new PromptBuilder(thread.window(plan), plan, config);
    else if (made.thread !== thread)
      for (const node of thread.path(made.thread.length)) this.#builder.push(node);
    this.#made = { thread, plan, config };
    return this.#builder;
  }
}

/**
 * Renders a window step by step: every message costs once, and what was rendered never changes, so that with one plan
 * each prompt is a prefix of the next. A round whose results are still missing is held back until they come or until
 * a later message shows that they never will.
 */
export class PromptBuilder {
  readonly #plan: Plan;
  readonly #options: RenderOptions;
  readonly #actions: ReadonlyMap<MessageId, Action>;
  readonly #messages: PromptMessage[] = [];
  readonly #shownRecords = new Set<PlanRecord>();
  readonly #turns: number[] = [];
  readonly #rounds: number[] = [];
  readonly #summaries: SummarizeRecord[];
  readonly #openCalls = new OpenCalls();
  #round: Node[] = [];
  /** What the pins among the first `#weighed` messages cost. */
  #pinnedTokens = 0;
  #weighed = 0;
  #left: PromptSize | undefined;
  #tokens = 0;
  #inRound = false;
  #lastRole: Role | undefined;

  /** Holds a whole window; more messages can be pushed as they come. */
  constructor({ carried, tail }: Window, plan: Plan, options: RenderOptions) {
    this.#plan = plan;
    this.#options = options;
    const isEmpty = plan.records.length === 0 && plan.hides.length === 0;
    this.#actions = isEmpty ? new Map() : actions(plan);
    this.#summaries = plan.records.filter((record) => record.kind === 'summarize');
    for (const node of carried) this.push(node);
    // A carried round is over: one that waits is never carried.
    this.#closeRound();
    if (this.#summaries.length > 0) this.#showSummaries(plan.start);
    for (const node of tail) this.push(node);
  }

  get messages(): readonly PromptMessage[] {
    return this.#messages;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** The index of the first message that is held back, because results are missing. */
  get heldBackFrom(): number | undefined {
    return this.#round[0]?.index;
  }

  get extent(): PromptSize {
    return {
      tokens: this.#tokens,
      messages: this.#messages.length,
      turns: this.#turns.length,
    };
  }

  /** What the last compaction left, as it is counted now, or the pins alone if those cost more. */
  get floor(): PromptSize {
    const left = this.#left ?? this.extent;
    const pins = new Set(this.#plan.pins);
    for (const shown of this.#messages.slice(this.#weighed))
      if (isPinnedIn(shown, pins))
        this.#pinnedTokens += this.#options.counter.message(shown.message);
    this.#weighed = this.#messages.length;
    return { ...left, tokens: Math.max(left.tokens, this.#pinnedTokens) };
  }

  /** Takes the next message of the window: carried ones first, then the path from the plan's start on. */
  push(node: Node): void {
    if (node.index >= (this.#plan.climbedAt ?? 0)) this.#left ??= this.extent;
    if (this.#summaries.length > 0) this.#showSummaries(node.index);
    if (this.#round.length > 0 && this.#openCalls.ends(node.message)) this.#closeRound();
    const action = this.#actions.get(node.id);
    if (action !== undefined && !isInPlace(action)) {
      // What a record replaces is past: no result can come for a round before it.
      this.#closeRound();
      this.#standIn(action);
      return;
    }
    // A message without calls is a round of its own.
    this.#round.push(node);
    this.#openCalls.next(node.message);
    if (this.#openCalls.open.size === 0) this.#closeRound();
  }

  /** The prompt so far. Its lists are made when they are first read: what was rendered never changes. */
  finish(options: CachePointOptions): Prompt {
    const [growing, turns, rounds] = [this.#messages, this.#turns, this.#rounds];
    const [length, turnCount, roundCount] = [growing.length, turns.length, rounds.length];
    const prompt = lazyMessages({ tokens: this.#tokens }, () => growing.slice(0, length));
    return lazyCachePoints(prompt, () => {
      const starts = { turns: turns.slice(0, turnCount), rounds: rounds.slice(0, roundCount) };
      return cachePoints(prompt.messages, starts, options);
    });
  }

  /** Shows the round with every call answered: a result that never came has a note in its place. */
  #closeRound(): void {
    const round = this.#round;
    if (round.length === 0) return;
    const missing = [...this.#openCalls.open.values()];
    this.#round = [];
    this.#openCalls.endRound();
    const waiting = new Set<string>();
    for (const { message } of round)
      for (const part of message.parts) if (part.kind === 'call') waiting.add(part.callId);
    const strays: [Node, Places][] = [];
    for (const node of round) {
      const stray = strayPlaces(node.message, waiting);
      if (stray.size > 0) strays.push([node, stray]);
      if (stray.size === 0) this.#emit(this.#shown(node));
      else if (!answersNothing(node.message, stray)) this.#emitWithout(node, stray);
      this.#inRound = true;
    }
    for (const call of missing)
      this.#emit({
        message: noResult(call),
        source: { kind: 'no-result', callId: call.callId },
      });
    this.#inRound = false;
    for (const [node, stray] of strays) this.#emitStray(node, stray);
  }

  #emitWithout(node: Node, stray: Places): void {
    const { message } = this.#shown(node);
    const late = lateResults(message, stray);
    const parts = message.parts.filter((part) => part.kind !== 'result' || !late.has(part));
    const source = { kind: 'changed', id: node.id, by: 'stray' } as const;
    this.#emit({ message: withParts(message, parts), source });
  }

  /** A message in its place, as the plan shows it. */
  #shown({ id, index, message }: Node): PromptMessage {
    const action = this.#actions.get(id);
    const shown: PromptMessage =
      action === undefined || !isInPlace(action)
        ? { message, source: { kind: 'kept', id } }
        : {
            message: inPlace(message, action, this.#plan.style),
            source: { kind: 'changed', id, by: action.kind },
          };
    const isBound = this.#options.rules.bindsReasoning && !holdsReasoning(this.#plan, index);
    return isBound ? withoutBoundReasoning(shown, id) : shown;
  }

  /** A result that no provider would accept as one is shown as what it is: a tool's text. */
  #emitStray(node: Node, stray: Places): void {
    const { message } = this.#shown(node);
    const said = answersNothing(message, stray)
      ? message.parts.filter(({ kind }) => kind !== 'result')
      : [];
    const parts = [...said, ...[...lateResults(message, stray)].flatMap(lateResultParts)];
    const source = { kind: 'changed', id: node.id, by: 'stray' } as const;
    this.#emit({ message: { role: 'user', parts }, source });
  }

  /** Summaries are placed at their first message, or after all that is carried. */
  #showSummaries(index: number): void {
    const due = (record: SummarizeRecord): boolean =>
      index >=
      (this.#plan.style.summaryAt === 'first' ? record.at : Math.max(record.at, this.#plan.start));
    for (const record of this.#summaries.filter(due)) this.#standIn(record);
  }

  /** Shows a record that replaces its messages, once. */
  #standIn(record: Action): void {
    if (record.kind === 'hide' || this.#shownRecords.has(record)) return;
    this.#shownRecords.add(record);
    this.#closeRound();
    if (record.kind === 'summarize') this.#summaries.splice(this.#summaries.indexOf(record), 1);
    const source: Source = { kind: 'record', record: this.#plan.records.indexOf(record) };
    for (const message of standIns(record, this.#plan.style)) this.#emit({ message, source });
  }

  #emit(shown: PromptMessage): void {
    const { message, source } = shown;
    if (message.parts.length === 0 && source.kind !== 'kept') return;
    const bridge = source.kind === 'bridge' ? undefined : this.#bridgeTo(message);
    if (bridge !== undefined)
      this.#emit({ message: textMessage(bridge, OPENER), source: { kind: 'bridge' } });
    const { role } = message;
    const position = this.#messages.length;
    const isAnswer = role === 'assistant' && source.kind !== 'bridge';
    if (isAnswer && this.#lastRole !== 'assistant') this.#rounds.push(position);
    if (beginsTurn(shown)) this.#turns.push(position);
    this.#messages.push(shown);
    this.#tokens += this.#options.counter.message(message);
    if (role !== 'system') this.#lastRole = role;
  }

  /**
   * The role of a message that a provider needs before another, to take the roles in their order. Inside a round the
   * thread's own order is kept.
   */
  #bridgeTo(message: Message): 'user' | 'assistant' | undefined {
    const { role } = message;
    const [last, { first, alternate }] = [this.#lastRole, this.#options.rules];
    const isFirst = last === undefined;
    const isRefused = isFirst
      ? role === 'tool' || (role === 'assistant' && first === 'user')
      : alternate && side(role) === side(last);
    if (!isRefused || role === 'system' || this.#inRound || hasCompaction(message))
      return undefined;
    if (role !== 'assistant' && hasResults(message)) return undefined;
    return isFirst || side(role) === 'assistant' ? 'user' : 'assistant';
  }
}

/** True if a message of the prompt begins a turn of the thread: a bridge, a record or a stray result does not. */
export function beginsTurn({ message, source }: PromptMessage): boolean {
  const isShown = source.kind === 'kept' || (source.kind === 'changed' && source.by !== 'stray');
  return isShown && startsTurn(message);
}

/** True for a message of the prompt that no compaction may change. */
function isPinnedIn({ message, source }: PromptMessage, pins: ReadonlySet<MessageId>): boolean {
  const isOfThread = source.kind === 'kept' || source.kind === 'changed';
  return isOfThread && isPinned({ id: source.id, message }, pins);
}

/** A message whose signed reasoning was bound to bytes that have changed since: a provider would refuse it. */
function withoutBoundReasoning(shown: PromptMessage, id: MessageId): PromptMessage {
  const { message, source } = shown;
  const parts = message.parts.filter(
    (part) => part.kind !== 'reasoning' || part.signature === undefined,
  );
  if (parts.length === message.parts.length) return shown;
  const unsigned = { kind: 'changed', id, by: 'unsigned' } as const;
  return {
    message: withParts(message, parts),
    source: source.kind === 'kept' ? unsigned : source,
  };
}

/** Some of a message's results, by their order: two may name one call. */
type Places = ReadonlySet<number>;

/** The results that no call of the round waits for; a call waits for one. */
function strayPlaces(message: Message, waiting: Set<string>): Places {
  const places = new Set<number>();
  let place = 0;
  for (const part of message.parts) {
    if (part.kind !== 'result') continue;
    if (!waiting.delete(part.callId)) places.add(place);
    place++;
  }
  return places;
}

/** True for what a user says next to results that no call waits for: it would part a call from its results. */
function answersNothing(message: Message, stray: Places): boolean {
  return message.role === 'user' && resultsOf(message).length === stray.size;
}

function lateResults(shown: Message, places: Places): ReadonlySet<ResultPart> {
  return new Set(resultsOf(shown).filter((_, place) => places.has(place)));
}

/** What a result that came too late holds, with a note on where it comes from. */
function lateResultParts({ tool, callId, content }: ResultPart): readonly Part[] {
  return [
    { kind: 'text', text: `[Late result of ${tool ?? 'a tool'} (call ${callId})]` },
    ...content,
  ];
}

/** Tool results come from the user's side. */
function side(role: Role): 'user' | 'assistant' {
  return role === 'assistant' ? 'assistant' : 'user';
}

function noResult(call: CallPart): Message {
  const content = [{ kind: 'text', text: NO_RESULT } as const];
  return {
    role: 'tool',
    parts: [{ kind: 'result', callId: call.callId, tool: call.tool, outcome: 'failure', content }],
  };
}
