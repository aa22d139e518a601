import { lastIndex } from '../../check/list.ts';
import { isJsonObject } from '../../message/json.ts';
import {
  contentHash,
  hasCompaction,
  messageId,
  type Message,
  type MessageId,
} from '../../message/message.ts';
import type { Codec } from '../../ports.ts';

/** The messages that some of a host's messages become. */
export interface DecodedList {
  readonly messages: readonly Message[];
  /** How many messages each of the host's became: one, for most formats. */
  readonly lengths: readonly number[];
}

/**
 * A list of messages that a host sends. Each message is copied and decoded at most once, even if the list is compared
 * with many conversations. Messages that a conversation knows already are not copied.
 */
export class HostList<Wire> {
  /** The host's own objects. */
  readonly wire: readonly Wire[];
  readonly #host: HostCopies<Wire>;
  readonly #copies: Wire[] = [];
  readonly #decoded = new Map<number, DecodedList>();
  #firstId: MessageId | undefined;
  #compactionAt: number | undefined;
  #opening: string | undefined;

  constructor(wire: readonly Wire[], host: HostCopies<Wire>) {
    this.wire = wire;
    this.#host = host;
  }

  /** Bobbin's copy of a message. */
  copyAt(position: number): Wire {
    return (this.#copies[position] ??= this.#host.copyOf(this.wire[position] as Wire));
  }

  /** What a conversation compares with its own copy. Every conversation looks into the first message: it is copied. */
  comparedAt(position: number): Wire | undefined {
    return position === 0 ? this.copyAt(0) : this.wire[position];
  }

  copiesFrom(position: number): readonly Wire[] {
    return this.wire.slice(position).map((_, i) => this.copyAt(position + i));
  }

  /** A glimpse of the list's first text: the same for all lists that share their first message. */
  get opening(): string {
    return (this.#opening ??= openingOf(this.wire[0]));
  }

  /** The id of the first message that the list becomes. */
  firstId(): MessageId | undefined {
    const [first] = this.decodedFrom(0, []).messages;
    return first && (this.#firstId ??= messageId(null, first));
  }

  /** Which of the messages that the list becomes is the last compaction of a provider; -1 if none is. */
  compactionAt(): number {
    return (this.#compactionAt ??= lastIndex(this.decodedFrom(0, []).messages, hasCompaction));
  }

  /** The ids of the messages that the whole list becomes. */
  ids(): readonly MessageId[] {
    let parent: MessageId | null = null;
    return this.decodedFrom(0, []).messages.map((message) => (parent = messageId(parent, message)));
  }

  /** Decodes the messages from a position on; `before` are the messages that precede them. */
  decodedFrom(position: number, before: readonly Message[]): DecodedList {
    let decoded = this.#decoded.get(position);
    if (decoded === undefined) {
      const wire = this.copiesFrom(position);
      const messages = this.#host.codec.decode(wire, before);
      decoded =
        messages.length === wire.length
          ? { messages, lengths: wire.map(() => 1) }
          : this.#decodedWithLengths(wire, before);
      this.#decoded.set(position, decoded);
    }
    return decoded;
  }

  /** Decodes messages, and counts what each of them became. */
  #decodedWithLengths(wire: readonly Wire[], before: readonly Message[]): DecodedList {
    const { codec } = this.#host;
    const lengths = wire.map((one) => codec.decode([one]).length);
    // A codec may note the neighbours of a message: the whole list is decoded last.
    return { messages: codec.decode(wire, before), lengths };
  }
}

/** A shorter piece of a text is copied; a longer one would keep the whole text in memory. */
const PIECE_CHARS = 12;

function glimpseOf(text: string): string {
  return `${text.length} ${text.slice(0, PIECE_CHARS)} ${text.slice(-PIECE_CHARS)}`;
}

/** Providers take a message's content as a text or as a list of parts, and clients change from one to the other. */
function openingOf(message: unknown): string {
  const content = isJsonObject(message) ? message['content'] : undefined;
  if (typeof content === 'string') return glimpseOf(content);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  for (const part of parts)
    if (isJsonObject(part) && typeof part['text'] === 'string') return glimpseOf(part['text']);
  return '';
}

/**
 * Who owns the messages of a list. `host`: the host may change them later, so Bobbin works with copies. `bobbin`: the
 * host made them for this list alone, and nothing changes them.
 */
export type ListOwner = 'host' | 'bobbin';

/** Bobbin's own copies of a host's messages. A host may change its messages later, and may know them by identity. */
export class HostCopies<Wire> {
  readonly codec: Codec<Wire>;
  readonly #owner: ListOwner;
  readonly #copies = new WeakMap<object, Wire>();
  readonly #hosts = new WeakMap<object, Wire>();
  readonly #contents = new WeakMap<object, string>();

  constructor(codec: Codec<Wire>, owner: ListOwner) {
    this.codec = codec;
    this.#owner = owner;
  }

  copyOf(wire: Wire): Wire {
    if (typeof wire !== 'object' || wire === null || this.#owner === 'bobbin') return wire;
    const known = this.#copies.get(wire);
    if (known !== undefined && isCopyOf(known, wire)) return known;
    const copy = ownCopy(wire);
    this.#copies.set(wire, copy);
    this.#hosts.set(copy, wire);
    return copy;
  }

  /** Notes that a host now has another object for a message. */
  rehost(copy: Wire, wire: Wire): void {
    if (isJsonObject(copy)) this.#hosts.set(copy, wire);
  }

  /** The hash of what a copy says by itself, without cache markers; undefined if it says nothing. */
  #contentOf(copy: Wire): string | undefined {
    if (!isJsonObject(copy)) return undefined;
    let content = this.#contents.get(copy);
    if (content === undefined) {
      content = this.codec.decode([copy]).map(contentHash).join(' ');
      this.#contents.set(copy, content);
    }
    return content === '' ? undefined : content;
  }

  /** Equal as sent, or equal in content: a host may move its cache markers. */
  isAlike(copy: Wire, sent: Wire): boolean {
    if (isCopyOf(copy, sent)) return true;
    const content = this.#contentOf(copy);
    return content !== undefined && content === this.#contentOf(sent);
  }

  /** The host's own object for a message, unless the host has changed it since; a copy if there is none. */
  handOut(wire: Wire): Wire {
    if (typeof wire !== 'object' || wire === null) return wire;
    const host = this.#hosts.get(wire);
    if (this.#owner === 'bobbin') return host ?? wire;
    return host !== undefined && isCopyOf(wire, host) ? host : ownCopy(wire);
  }
}

/**
 * A copy of a host's message that other code cannot change. Lists and plain objects inside it are copied, and so is the
 * message itself if it is an instance of a class; bytes, dates and other instances inside it are shared.
 */
function ownCopy<T extends object>(message: T): T {
  const copy = copyOfPlain(message) ?? shallowCopyOfInstance(message);
  // Works through a list instead of recursing: a message may be nested deeper than the stack.
  const rest: object[] = [copy];
  while (rest.length > 0) {
    const fields = rest.pop() as Instance;
    for (const name of Reflect.ownKeys(fields)) {
      const field = copyOfPlain(fields[name]);
      if (field !== undefined) rest.push((fields[name] = field));
    }
  }
  return copy as T;
}

type Instance = Record<string | symbol, unknown>;

/** A list or a plain object with the same fields; undefined for any other value. */
function copyOfPlain(value: unknown): object | undefined {
  if (Array.isArray(value)) return [...(value as readonly unknown[])];
  if (typeof value !== 'object' || value === null) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? { ...value } : undefined;
}

function shallowCopyOfInstance(message: object): object {
  const copy = Object.create(Object.getPrototypeOf(message) as object) as Instance;
  for (const name of Reflect.ownKeys(message)) copy[name] = (message as Instance)[name];
  return copy;
}

/** Deeper than any message that makes sense, and far from the end of the stack. */
const MOST_LEVELS = 500;

/**
 * True if a value still equals its copy. It is called for every message of a conversation with each request, so it
 * allocates nothing, unless the value is nested deeper than `levels`.
 */
export function isCopyOf(copy: unknown, value: unknown, levels: number = MOST_LEVELS): boolean {
  if (copy === value) return true;
  if (levels === 0) return isDeepCopyOf(copy, value);
  if (Array.isArray(copy)) return Array.isArray(value) && isListCopyOf(copy, value, levels);
  if (!isJsonObject(copy) || !isJsonObject(value)) return false;
  let more = 0;
  for (const name in copy) {
    if (!isCopyOf(copy[name], value[name], levels - 1)) return false;
    more--;
  }
  for (const _ in value) more++;
  return more === 0;
}

/** Lists apart: `for … in` over a list takes several times as long. */
function isListCopyOf(
  copy: readonly unknown[],
  value: readonly unknown[],
  levels: number,
): boolean {
  if (copy.length !== value.length) return false;
  for (let i = 0; i < copy.length; i++) if (!isCopyOf(copy[i], value[i], levels - 1)) return false;
  return true;
}

/** As `isCopyOf`, through a list instead of recursing: the text of a deep value costs its depth squared. */
function isDeepCopyOf(copy: unknown, value: unknown): boolean {
  const rest: unknown[] = [copy, value];
  while (rest.length > 0) {
    const theirs = rest.pop();
    const ours = rest.pop();
    if (ours === theirs) continue;
    if (!isObject(ours) || !isObject(theirs)) return false;
    if (Array.isArray(ours) !== Array.isArray(theirs)) return false;
    let more = 0;
    for (const name in ours) {
      rest.push(ours[name], theirs[name]);
      more--;
    }
    for (const _ in theirs) more++;
    if (more !== 0) return false;
  }
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
