import type { Clock } from '../../ports.ts';

// The one file of core that reads a clock or a source of randomness: the defaults that a host can replace.

export const systemClock: Clock = {
  now: () => Date.now(),
  deadline: (ms) => AbortSignal.timeout(ms),
};

/** A name that no other conversation has. */
export function randomName(): string {
  return crypto.randomUUID();
}
