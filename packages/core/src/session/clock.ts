import type { Clock } from '../ports.ts';

/** The one place where core meets a clock: the default of the API. Everything else is given one. */
export const systemClock: Clock = {
  now: () => Date.now(),
  deadline(ms) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), ms);
    return { signal: controller.signal, clear: () => clearTimeout(timer) };
  },
};
