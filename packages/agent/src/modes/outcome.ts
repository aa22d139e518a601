import type { AgentEvent, EndReason } from '../events.ts';

/** How a run came out, for its exit code: what happened last counts. */
export class Outcome {
  #reason: EndReason = 'done';

  get reason(): EndReason {
    return this.#reason;
  }

  take(event: AgentEvent): void {
    if (event.type === 'end') this.#reason = event.reason;
    else if (event.type === 'error') this.#reason = 'failed';
  }
}
