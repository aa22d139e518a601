import type { Clock } from '../../ports.ts';

// The one file of core that reads a clock or a source of randomness: the defaults that a host can replace.

export const systemClock: Clock = {
  now: () => Date.now(),
  deadline(ms) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), ms);
    return { signal: controller.signal, clear: () => clearTimeout(timer) };
  },
};

/** A name that no other conversation has. */
export function randomName(): string {
  return crypto.randomUUID();
}
