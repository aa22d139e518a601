import { lastIndex } from '../../check/list.ts';
import { isJsonObject } from '../../message/json.ts';
import { hasCompaction, messageId, type Message, type MessageId } from '../../message/message.ts';
import type { Codec } from '../../ports.ts';
import type { HostCopies } from './host-copies.ts';

/** The messages that some of a host's messages become. */
export interface DecodedList {
  readonly messages: readonly Message[];
  /** How many messages each of the host's became: one, for most formats. */
  readonly lengths: readonly number[];
}

/**
 * A list of messages that a host sends. Each message is copied and decoded once, even if the list is compared with many
 * conversations.
 */
export class HostList<Wire> {
  /** The host's own objects. */
  readonly wire: readonly Wire[];
  /** Bobbin's copies of them. */
  readonly copies: readonly Wire[];
  readonly #codec: Codec<Wire>;
  readonly #decoded = new Map<number, DecodedList>();
  #firstId: MessageId | undefined;
  #compactionAt: number | undefined;
  #opening: string | undefined;

  constructor(wire: readonly Wire[], host: HostCopies<Wire>) {
    this.wire = wire;
    this.copies = wire.map((message) => host.copyOf(message));
    this.#codec = host.codec;
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
      decoded = decodeList(this.#codec, this.copies.slice(position), before);
      this.#decoded.set(position, decoded);
    }
    return decoded;
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

/** Decodes a list and counts what each of its messages became. */
export function decodeList<Wire>(
  codec: Codec<Wire>,
  wire: readonly Wire[],
  before: readonly Message[],
): DecodedList {
  const messages = codec.decode(wire, before);
  if (messages.length === wire.length) return { messages, lengths: wire.map(() => 1) };
  const lengths = wire.map((one) => codec.decode([one]).length);
  // A codec may note the neighbours of a message: the whole list is decoded last.
  return { messages: codec.decode(wire, before), lengths };
}
