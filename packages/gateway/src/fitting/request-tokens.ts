import type { Codec, Session } from '@bobbin/core';
import { RequestSize, type Json } from '@bobbin/core/internal';
import type { Beside } from '../protocol/protocol.ts';

const NOTHING = { systemTokens: 0, toolTokens: 0 } as const;

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Counts requests. What was counted for a conversation before is not counted again. */
export class RequestTokens {
  readonly #sizes = new WeakMap<Session<object>, RequestSize>();
  readonly #earlier = new WeakMap<Session<object>, number>();

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

  /** What the messages before the window of a resumed conversation cost. */
  #before(session: Session<object>, wire: readonly object[], codec: Codec<object>): number {
    let tokens = this.#earlier.get(session);
    if (tokens === undefined) {
      const count = session.length - session.messages.length;
      const earlier = codec.decode(wire).slice(0, count);
      tokens = earlier.reduce((sum, message) => sum + session.counter.message(message), 0);
      this.#earlier.set(session, tokens);
    }
    return tokens;
  }
}
