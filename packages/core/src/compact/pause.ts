import type { Clock } from '../ports.ts';

/** A compaction of fewer messages takes a moment. */
const MANY_MESSAGES = 2_000;

/** Lets the process do its other work between two steps of a compaction of very many messages. */
export async function pauseIfMany(clock: Clock, messages: number): Promise<void> {
  if (messages > MANY_MESSAGES) await clock.pause?.();
}
