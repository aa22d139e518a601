import {
  contentHash,
  messageId,
  type Codec,
  type CompactOptions,
  type ContextLimit,
  type Fitted,
  type Message,
  type MessageId,
  type Prompt,
  type ThreadHandle,
  type Usage,
} from '@bobbin/core';

/** How a host writes messages, and how the cache points of a prompt are marked in them where it can. */
export interface HostFormat<Wire> {
  readonly codec: Codec<Wire>;
  readonly mark?: (messages: readonly Wire[], prompt: Prompt) => readonly Wire[];
}

/** What a conversation makes of a list of messages that a host sends. */
export interface Match<Wire> {
  readonly wire: readonly Wire[];
  /** How many messages of the list are known. */
  readonly known: number;
  /** True where the list has all that the conversation has: it goes on, and does not turn off before. */
  readonly goesOn: boolean;
  /** The last message that both share. */
  readonly last: MessageId | null;
  /** The index of the path where the list's own messages begin, and how many before them stand for all until there. */
  readonly from: number;
  readonly standing: number;
  readonly fresh: readonly Message[];
}

/** A prompt that a host was given, and how long the path was then. */
interface Given<Wire> {
  readonly messages: readonly Wire[];
  readonly at: number;
}

const MOST_GIVEN = 4;

/**
 * A thread and the list of messages that a host keeps of it. The host may send everything, or carry on from the prompt
 * that it was given last, summary and all (AI SDK 7, a resumed session): which is which is told here, so that no summary
 * is ever taken for something that was said. The codec gives one message for each of the host's.
 */
export class Conversation<Wire extends object> {
  readonly handle: ThreadHandle<Wire>;
  readonly #format: HostFormat<Wire>;
  /** The host's own objects for the messages of the path, to recognise them without looking into them. */
  #seen: readonly (Wire | undefined)[] = [];
  /** The prompts that were given last, newest first. A refused one is replaced behind the host's back. */
  #given: readonly Given<Wire>[] = [];
  #held: Given<Wire> | undefined;
  #reported: Usage | undefined;

  constructor(handle: ThreadHandle<Wire>, format: HostFormat<Wire>) {
    this.handle = handle;
    this.#format = format;
  }

  match(wire: readonly Wire[]): Match<Wire> {
    const held = this.#held === undefined ? [] : [this.#held];
    const given = [...this.#given, ...held].find(({ messages }) =>
      this.#isCarriedIn(wire, messages),
    );
    const from = given?.at ?? 0;
    const standing = given?.messages.length ?? 0;
    const same = this.#sameCopies(wire, from, standing);
    const decoded = this.#format.codec.decode(wire.slice(standing + same), this.handle.messages);
    const shared = same + this.#sharedFrom(from + same, decoded);
    return {
      wire,
      known: standing + shared,
      goesOn: from + shared === this.handle.length,
      last: this.handle.at(from + shared - 1)?.id ?? null,
      from,
      standing,
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

  /** True where the prompt that was given last begins with a message. */
  beginsWith(message: Wire): boolean {
    const first = this.#given[0]?.messages[0];
    return first !== undefined && this.#isSame(first, message);
  }

  /** Remembers the prompt that was given last until another is held: the host goes on from it for long. */
  hold(): void {
    [this.#held] = this.#given;
  }

  /** How many messages of a list are the path's own from an index on. */
  sharedFrom(from: number, wire: readonly Wire[]): number {
    return this.#sharedFrom(from, this.#format.codec.decode(wire, this.handle.messages));
  }

  /** The prompt for what was taken. */
  async prompt(options?: CompactOptions): Promise<Fitted<Wire>> {
    return this.#give(await this.handle.prompt(options));
  }

  /** The prompt to try again with, after a provider refused the last one as too long (E3). */
  async refused(refusal: ContextLimit): Promise<Fitted<Wire>> {
    const { provider: _, ...sizes } = refusal;
    return this.#give(await this.handle.refused(sizes));
  }

  #give(fitted: Fitted<Wire>): Fitted<Wire> {
    const { mark } = this.#format;
    const messages = mark === undefined ? fitted.messages : mark(fitted.messages, fitted.prompt);
    this.#given = [{ messages, at: this.handle.length }, ...this.#given].slice(0, MOST_GIVEN);
    return { ...fitted, messages };
  }

  #isCarriedIn(wire: readonly Wire[], given: readonly Wire[]): boolean {
    return (
      given.length > 0 &&
      given.length <= wire.length &&
      given.every((message, i) => this.#isSame(message, wire[i] as Wire))
    );
  }

  #isSame(given: Wire, sent: Wire): boolean {
    if (isCopy(given, sent)) return true;
    const [a, b] = [this.#format.codec.decode([given])[0], this.#format.codec.decode([sent])[0]];
    return a !== undefined && b !== undefined && contentHash(a) === contentHash(b);
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
