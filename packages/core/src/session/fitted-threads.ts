import { messageId, type Message, type MessageId, type ThreadId } from '../message/message.ts';
import type { Codec, Store } from '../ports.ts';
import type { Fitted } from './fitted.ts';
import type { CompactOptions, SessionConfig } from './session-config.ts';
import { isCopyOf, ownCopy } from './own-copy.ts';
import { Session } from './session.ts';

const MOST_THREADS = 64;

/** A conversation that was fitted before. */
interface Known<Wire> {
  readonly handle: Session<Wire>;
  /** What the host sent last, as it was then: a host may write into its messages later. */
  wire: readonly Wire[];
  /** The ids of its messages, in order. */
  readonly ids: MessageId[];
}

/**
 * The conversations of hosts that resend everything, the least recently used forgotten first. A conversation is
 * recognised by its longest known prefix: where it goes on, so does its thread; where it turns off, a new thread
 * takes over as much of the plan as both share.
 */
export class FittedThreads<Wire> {
  readonly #setting: SessionConfig<Wire>;
  readonly #tenant: string;
  readonly #freshStore: (() => Store) | undefined;
  /** Whose copy each of the messages is. */
  readonly #hosts = new WeakMap<object, Wire>();
  #known: readonly Known<Wire>[] = [];
  #queue: Promise<unknown> = Promise.resolve();

  /** With `freshStore` every conversation has a store of its own, which is forgotten with it. */
  constructor(setting: SessionConfig<Wire>, tenant: string, freshStore?: () => Store) {
    const { codec } = setting;
    const returning: Codec<Wire> = {
      name: codec.name,
      decode: (wire, before) => codec.decode(wire, before),
      encode: (messages) => codec.encode(messages).map((wire) => this.#given(wire)),
    };
    this.#setting = { ...setting, codec: returning };
    this.#tenant = tenant;
    this.#freshStore = freshStore;
  }

  async fit(wire: readonly Wire[], options: CompactOptions): Promise<Fitted<Wire>> {
    const recognised = this.#queue.then(() => this.#recognise(wire));
    this.#queue = recognised.catch(() => undefined);
    const handle = await recognised;
    return handle.prompt(options);
  }

  /** The thread of a conversation, with all its messages appended. */
  async #recognise(wire: readonly Wire[]): Promise<Session<Wire>> {
    const [alike, same] = this.#mostAlike(wire);
    const own = [
      ...(alike?.wire.slice(0, same) ?? []),
      ...wire.slice(same).map((each) => this.#own(each)),
    ];
    const known =
      alike !== undefined && same === alike.wire.length
        ? await this.#goOn(alike, own)
        : await this.#sameContent(own);
    known.wire = own;
    this.#known = [known, ...this.#known.filter((other) => other !== known)].slice(0, MOST_THREADS);
    return known.handle;
  }

  #own(wire: Wire): Wire {
    const copy = ownCopy(wire);
    if (typeof copy === 'object' && copy !== null) this.#hosts.set(copy, wire);
    return copy;
  }

  /** The object that the host sent, by which it may know its message, while that still says the same. */
  #given(wire: Wire): Wire {
    const host = typeof wire === 'object' && wire !== null ? this.#hosts.get(wire) : undefined;
    return host !== undefined && isCopyOf(wire, host) ? host : wire;
  }

  /** The known conversation that begins like one most, or all of which that one begins with, and how far it does. */
  #mostAlike(wire: readonly Wire[]): [Known<Wire> | undefined, number] {
    let best: Known<Wire> | undefined;
    let most = 0;
    for (const known of this.#known) {
      const other = known.wire.findIndex((message, i) => !isCopyOf(message, wire[i]));
      if (other === -1 && known.wire.length > 0) return [known, known.wire.length];
      if (other > most) [best, most] = [known, other];
    }
    return [best, most];
  }

  /** The cheap case: the host appended to what it sent last. */
  async #goOn(known: Known<Wire>, wire: readonly Wire[]): Promise<Known<Wire>> {
    const fresh = this.#setting.codec.decode(wire.slice(known.wire.length), known.handle.messages);
    known.ids.push(...(await known.handle.appendDecoded(fresh)));
    return known;
  }

  async #sameContent(wire: readonly Wire[]): Promise<Known<Wire>> {
    const decoded = this.#setting.codec.decode(wire);
    const ids = idsOf(decoded);
    const [nearest, shared] = this.#nearest(ids);
    if (nearest !== undefined && shared === nearest.ids.length) {
      nearest.handle.refresh(decoded.slice(0, shared), ids);
      nearest.ids.push(...(await nearest.handle.appendDecoded(decoded.slice(shared))));
      return nearest;
    }
    const key = { tenant: this.#tenant, thread: `fit-${ids.at(-1) ?? 'empty'}` as ThreadId };
    const store = this.#freshStore?.() ?? this.#setting.store;
    const handle = new Session(key, { ...this.#setting, store });
    await handle.appendDecoded(decoded);
    // Signed reasoning that is shared was written behind what the plan of that time showed.
    if (nearest !== undefined)
      await handle.takeOver(await nearest.handle.planWithin(shared), shared);
    return { handle, wire, ids };
  }

  /** The known conversation that shares the longest beginning, and how long that is. */
  #nearest(ids: readonly MessageId[]): [Known<Wire> | undefined, number] {
    let best: Known<Wire> | undefined;
    let most = 0;
    for (const known of this.#known) {
      const shared = sharedLength(known.ids, ids);
      if (shared > most) [best, most] = [known, shared];
    }
    return [best, most];
  }
}

/** Ids are chained: where two are equal, so is all before them. */
function sharedLength(a: readonly MessageId[], b: readonly MessageId[]): number {
  const most = Math.min(a.length, b.length);
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a[middle - 1] === b[middle - 1]) low = middle;
    else high = middle - 1;
  }
  return low;
}

function idsOf(messages: readonly Message[]): MessageId[] {
  const ids: MessageId[] = [];
  for (const message of messages) ids.push(messageId(ids.at(-1) ?? null, message));
  return ids;
}
