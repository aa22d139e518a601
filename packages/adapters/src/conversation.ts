import type {
  Codec,
  CompactOptions,
  Fitted,
  Message,
  MessageId,
  Prompt,
  Session,
  Usage,
} from '@bobbin/core';
import {
  callsOf,
  messageId,
  resultsOf,
  unitStarts,
  type ContextLimit,
  type PromptMessage,
} from '@bobbin/core/internal';
import { contentOf, type HostList } from './host-list.ts';

/** How a host writes messages, and how the cache points of a prompt are marked in them where it can. */
export interface HostFormat<Wire> {
  readonly codec: Codec<Wire>;
  /** `beside` is what else the request holds, which may have markers of its own. */
  readonly mark?: (
    messages: readonly Wire[],
    prompt: Prompt,
    beside: readonly object[],
  ) => readonly Wire[];
}

/** What a conversation knows of a list of messages without looking into them. */
export interface Glance {
  /** The index of the path where the list's own messages begin, and how many before them stand for all until there. */
  readonly from: number;
  readonly standing: number;
  /** How many of its own messages are copies of what the host sent before. */
  readonly same: number;
}

/** What a conversation makes of a list of messages that a host sends. */
export interface Match<Wire> extends Glance {
  readonly wire: readonly Wire[];
  /** How many messages of the list are known. */
  readonly known: number;
  /** True where the list has all that the conversation has: it goes on, and does not turn off before. */
  readonly goesOn: boolean;
  /** The last message that both share. */
  readonly last: MessageId | null;
  readonly fresh: readonly Message[];
}

/** A prompt that a host was given. */
interface Given<Wire> {
  readonly messages: readonly Wire[];
  /** How long the path was then; undefined where the conversation turned off before. */
  readonly at: number | undefined;
  /** By message the one of the path that it shows, from `start` of the path on; empty where that cannot be told. */
  readonly sources: readonly (MessageId | undefined)[];
  readonly start: number;
}

const MOST_GIVEN = 4;

/**
 * A thread and the list of messages that a host keeps of it. The host may send everything, or carry on from the prompt
 * that it was given last, summary and all (AI SDK 7, a resumed session): which is which is told here, so that no summary
 * is ever taken for something that was said. The codec gives one message for each of the host's.
 */
export class Conversation<Wire extends object> {
  readonly handle: Session<Wire>;
  readonly #format: HostFormat<Wire>;
  /** The host's own objects for the messages of the path, to recognise them without looking into them. */
  #seen: readonly (Wire | undefined)[] = [];
  /** The prompts that were given last, newest first. A refused one is replaced behind the host's back. */
  #given: readonly Given<Wire>[] = [];
  #held: Given<Wire> | undefined;
  #reported: Usage | undefined;
  #beside: readonly object[] = [];

  constructor(handle: Session<Wire>, format: HostFormat<Wire>) {
    this.handle = handle;
    this.#format = format;
  }

  /** The conversation on a handle whose path is the beginning of this one's: the host goes on from the same prompts. */
  turned(handle: Session<Wire>): Conversation<Wire> {
    const turned = new Conversation(handle, this.#format);
    const shared = (given: Given<Wire>): Given<Wire> =>
      given.at !== undefined && given.at > handle.length ? { ...given, at: undefined } : given;
    turned.#seen = this.#seen.slice(0, handle.length);
    turned.#given = this.#given.map(shared);
    turned.#held = this.#held === undefined ? undefined : shared(this.#held);
    return turned;
  }

  glance(wire: readonly Wire[]): Glance {
    let [from, standing] = [0, 0];
    for (const given of this.#prompts) {
      const carried = this.#carriedIn(wire, given);
      if (carried !== undefined && carried.standing > standing) ({ from, standing } = carried);
    }
    return { from, standing, same: this.#sameCopies(wire, from, standing) };
  }

  match(list: HostList<Wire>, glance: Glance = this.glance(list.wire)): Match<Wire> {
    const { from, standing, same } = glance;
    const decoded = list.behind(standing + same, this.handle.messages);
    const shared = same + this.#sharedFrom(from + same, decoded);
    return {
      ...glance,
      wire: list.wire,
      known: standing + shared,
      goesOn: from + shared === this.handle.length,
      last: this.handle.at(from + shared - 1)?.id ?? null,
      fresh: decoded.slice(shared - same),
    };
  }

  /** Appends what is new. `usage` is what the provider reported for the last assistant message of the list. */
  async take(match: Match<Wire>, usage: Usage | undefined = this.#reported): Promise<void> {
    const { wire, from, standing, fresh } = match;
    this.#reported = undefined;
    if (fresh.length > 0) await this.handle.appendDecoded(withUsage(fresh, usage));
    this.#seen = [...this.#seen.slice(0, from), ...wire.slice(standing)];
  }

  /** Appends messages that a host adds by themselves, with what was reported of the last answer among them. */
  async add(wire: readonly Wire[]): Promise<void> {
    const fresh = this.#format.codec.decode(wire, this.handle.messages);
    const isAnswered = fresh.some(({ role }) => role === 'assistant');
    const usage = this.#reported;
    if (isAnswered) this.#reported = undefined;
    await this.handle.appendDecoded(withUsage(fresh, usage));
  }

  /** Notes what the provider reported of an answer that the host's next list will hold. */
  report(usage: Usage | undefined): void {
    this.#reported = usage;
  }

  /** Remembers the prompt that was given last until another is held: the host goes on from it for long. */
  hold(): void {
    [this.#held] = this.#given;
  }

  /** How many messages of a list are the path's own from an index on. */
  sharedFrom(from: number, wire: readonly Wire[]): number {
    return this.#sharedFrom(from, this.#format.codec.decode(wire, this.handle.messages));
  }

  /** The prompt for what was taken. `beside` is what else the request holds. */
  async prompt(options?: CompactOptions, beside: readonly object[] = []): Promise<Fitted<Wire>> {
    this.#beside = beside;
    const at = this.handle.length;
    return this.#give(await this.handle.prompt(options), at);
  }

  /** The prompt to try again with, after a provider refused the last one as too long (E3). */
  async refused(refusal: ContextLimit): Promise<Fitted<Wire>> {
    const { provider: _, ...sizes } = refusal;
    const at = this.handle.length;
    return this.#give(await this.handle.refused(sizes), at);
  }

  /**
   * The messages that a host goes on with for long: the prompt, and behind it the round that waits for results or an
   * approval, which no model could be asked with.
   */
  async active(): Promise<readonly Wire[]> {
    const at = this.handle.length;
    const waiting = this.#waiting();
    const { messages } = this.#give(await this.handle.prompt(), at, waiting);
    this.hold();
    return messages;
  }

  get #prompts(): readonly Given<Wire>[] {
    return this.#held === undefined ? this.#given : [...this.#given, this.#held];
  }

  /** Remembers a prompt that was made when the path had a length. */
  #give(fitted: Fitted<Wire>, at: number, waiting: readonly Message[] = []): Fitted<Wire> {
    const { codec, mark } = this.#format;
    const marked = mark?.(fitted.messages, fitted.prompt, this.#beside) ?? fitted.messages;
    const messages = [...marked, ...codec.encode(waiting)];
    const ids = waiting.map((_, i) => this.handle.at(at - waiting.length + i)?.id);
    const sources = [...fitted.prompt.messages.map(sourceId), ...ids];
    const given = {
      messages,
      at,
      sources: sources.length === messages.length ? sources : [],
      start: fitted.plan.start,
    };
    this.#given = [given, ...this.#given].slice(0, MOST_GIVEN);
    return { ...fitted, messages };
  }

  /** The last round, where it waits. */
  #waiting(): readonly Message[] {
    const { messages } = this.handle;
    const last = messages.slice(unitStarts(messages).at(-1));
    const answered = new Set(last.flatMap(resultsOf).map(({ callId }) => callId));
    return last.flatMap(callsOf).every(({ callId }) => answered.has(callId)) ? [] : last;
  }

  /** How much of a given prompt a list begins with, and of how much of the path that tells. */
  #carriedIn(
    wire: readonly Wire[],
    { messages, at, sources, start }: Given<Wire>,
  ): Omit<Glance, 'same'> | undefined {
    const most = Math.min(wire.length, messages.length);
    let same = 0;
    while (same < most && this.#isSame(messages[same] as Wire, wire[same] as Wire)) same += 1;
    if (at !== undefined && same > 0 && same === messages.length)
      return { standing: same, from: at };
    for (let standing = same; standing > 0; standing--) {
      const index = this.#indexOf(sources[standing - 1], start);
      if (index !== undefined) return { standing, from: index + 1 };
    }
    return undefined;
  }

  #indexOf(id: MessageId | undefined, start: number): number | undefined {
    if (id === undefined) return undefined;
    for (let i = this.handle.length - 1; i >= start; i--)
      if (this.handle.at(i)?.id === id) return i;
    return undefined;
  }

  #isSame(given: Wire, sent: Wire): boolean {
    const { codec } = this.#format;
    if (isCopy(given, sent)) return true;
    const content = contentOf(given, codec);
    return content !== undefined && content === contentOf(sent, codec);
  }

  #sameCopies(wire: readonly Wire[], from: number, standing: number): number {
    const most = Math.min(wire.length - standing, this.#seen.length - from);
    let same = 0;
    while (same < most && isCopy(wire[standing + same], this.#seen[from + same])) same += 1;
    return same;
  }

  /** How many messages are the path's own from an index on. Ids are chained: equal ones have equal pasts. */
  #sharedFrom(from: number, messages: readonly Message[]): number {
    let parent = this.handle.at(from - 1)?.id ?? null;
    let shared = 0;
    for (const [i, message] of messages.entries()) {
      if (from + i >= this.handle.length) break;
      parent = messageId(parent, message);
      const node = this.handle.at(from + i);
      // What lies before the window of a resumed thread is known to be equal when the first message of the window is.
      if (node !== undefined && node.id !== parent) break;
      if (node !== undefined) shared = i + 1;
    }
    return shared;
  }
}

/** The message of the path that one of a prompt shows. */
function sourceId({ source }: PromptMessage): MessageId | undefined {
  return source.kind === 'kept' || source.kind === 'changed' ? source.id : undefined;
}

const texts = new WeakMap<object, string>();

function textOf(value: object): string {
  let text = texts.get(value);
  if (text === undefined) {
    text = JSON.stringify(value);
    texts.set(value, text);
  }
  return text;
}

/** True for the same object and for a copy of it: hosts clone their lists, and hashing costs far more. */
function isCopy(a: object | undefined, b: object | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && textOf(a) === textOf(b));
}

function withUsage(messages: readonly Message[], usage: Usage | undefined): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  if (usage === undefined || last < 0) return messages;
  return messages.map((message, i) =>
    i === last ? { ...message, meta: { ...message.meta, usage } } : message,
  );
}
