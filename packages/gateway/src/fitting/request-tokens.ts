import type { Codec, Session } from '@bobbin/core';
import { RequestSize, type Json } from '@bobbin/core/internal';
import type { Beside } from '../protocol/protocol.ts';

const NOTHING = { systemTokens: 0, toolTokens: 0 } as const;

/** Messages at the beginning of a path, and what they cost. */
interface Earlier {
  readonly count: number;
  readonly tokens: number;
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Counts requests. What was counted for a conversation before is not counted again. */
export class RequestTokens {
  readonly #sizes = new WeakMap<Session<object>, RequestSize>();
  readonly #earlier = new WeakMap<Session<object>, Earlier>();

  /** What a request contains beside its messages. */
  beside(
    session: Session<object>,
    { system, tools }: Beside,
  ): { readonly systemTokens: number; readonly toolTokens: number } {
    if (system === '' && isEmptyList(tools)) return NOTHING;
    let size = this.#sizes.get(session);
    if (size === undefined) this.#sizes.set(session, (size = new RequestSize()));
    const { systemTokens = 0, toolTokens = 0 } = size.measure(session.counter, system, tools);
    return { systemTokens, toolTokens };
  }

  /** What all messages of a conversation cost, as the client sends them. */
  messages(session: Session<object>, wire: readonly object[], codec: Codec<object>): number {
    const { counter, messages, length } = session;
    const known = messages.reduce((sum, message) => sum + counter.message(message), 0);
    return messages.length === length ? known : known + this.#before(session, wire, codec);
  }

  /** What the messages cost that are not in memory: those that were compacted leave it, a part at a time. */
  #before(session: Session<object>, wire: readonly object[], codec: Codec<object>): number {
    const count = session.length - session.messages.length;
    const known = this.#earlier.get(session) ?? { count: 0, tokens: 0 };
    if (known.count === count) return known.tokens;
    const { counter } = session;
    const left = codec.decode(wire).slice(known.count, count);
    const tokens = left.reduce((sum, message) => sum + counter.message(message), known.tokens);
    this.#earlier.set(session, { count, tokens });
    return tokens;
  }
}
