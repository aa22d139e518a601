import type { CompactionEvent } from '../events.ts';

/** What a step of a session did. */
export interface Outcome {
  readonly events: readonly CompactionEvent[];
  readonly changed?: boolean;
  /** Another writer committed first: its plan is in force. */
  readonly lost?: true;
}

export const NOTHING_DONE: Outcome = { events: [] };
