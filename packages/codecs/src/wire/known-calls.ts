import type { Message } from '@bobbin/core';
import { callsOf, isJsonObject, type JsonObject } from '@bobbin/core/internal';

/** The field of `extra` that holds the calls of a provider's tools whose results are not in the same message. */
export const OPEN_SERVER_CALLS = 'open_server_calls';

/** The calls so far, by call id: a result on the wire names only its call. */
export class KnownCalls {
  /** The tool of each call. */
  readonly tools: Map<string, string> = new Map();
  readonly #serverCalls = new Map<string, JsonObject>();
  readonly #before: readonly Message[];
  #unread: number;

  /** `before` are messages that were decoded earlier. They are read only as far back as needed. */
  constructor(before: readonly Message[] = []) {
    this.#before = before;
    this.#unread = before.length;
  }

  /** Remembers the call of a provider's tool in its wire form. */
  addServerCall(callId: string, wire: JsonObject): void {
    this.#serverCalls.set(callId, wire);
  }

  /** Remembers the calls of a provider's tools that a message leaves open. */
  addServerCalls(message: Message): void {
    for (const call of openServerCalls(message)) {
      const id = call['id'] ?? call['toolCallId'];
      if (typeof id === 'string' && !this.#serverCalls.has(id)) this.#serverCalls.set(id, call);
    }
  }

  /** The wire form of a provider's call that an earlier message made and did not answer. */
  serverCall(callId: string): JsonObject | undefined {
    return this.#find(this.#serverCalls, callId);
  }

  /** `{ tool }` for a result part, empty if the call is not known. */
  field(callId: string): { readonly tool?: string } {
    const tool = this.tools.get(callId) ?? this.#find(this.tools, callId);
    return tool === undefined ? {} : { tool };
  }

  #find<Known>(known: ReadonlyMap<string, Known>, callId: string): Known | undefined {
    while (!known.has(callId) && this.#unread > 0) {
      this.#unread -= 1;
      this.#read(this.#before[this.#unread] as Message);
    }
    return known.get(callId);
  }

  #read(message: Message): void {
    for (const { callId, tool } of callsOf(message))
      if (!this.tools.has(callId)) this.tools.set(callId, tool);
    this.addServerCalls(message);
  }
}

/** The provider's calls in a message that a later message answers, in their wire form. */
export function openServerCalls({ extra }: Message): readonly JsonObject[] {
  const calls = extra?.[OPEN_SERVER_CALLS];
  return Array.isArray(calls) ? calls.filter(isJsonObject) : [];
}
