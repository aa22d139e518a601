import type { Message } from '@bobbin/core';
import { callsOf } from '@bobbin/core/internal';

/** The tools that were called so far, by call id: a result on the wire names only its call. */
export class KnownCalls {
  readonly #tools = new Map<string, string>();
  readonly #before: readonly Message[];
  #unread: number;

  /** `before` are messages that were decoded earlier; they are looked at only as far back as it takes. */
  constructor(before: readonly Message[] = []) {
    this.#before = before;
    this.#unread = before.length;
  }

  add(callId: string, tool: string): void {
    this.#tools.set(callId, tool);
  }

  tool(callId: string): string | undefined {
    let tool = this.#tools.get(callId);
    while (tool === undefined && this.#unread > 0) {
      this.#unread -= 1;
      for (const call of callsOf(this.#before[this.#unread] as Message))
        if (!this.#tools.has(call.callId)) this.#tools.set(call.callId, call.tool);
      tool = this.#tools.get(callId);
    }
    return tool;
  }

  /** `{ tool }` for a result part, empty where the call is not known. */
  field(callId: string): { readonly tool?: string } {
    const tool = this.tool(callId);
    return tool === undefined ? {} : { tool };
  }
}
