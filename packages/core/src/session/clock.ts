import type { Clock } from '../ports.ts';

/** The one place where core meets a clock: the default of the host-facing door. Everything else is handed one. */
export const systemClock: Clock = {
  now: () => Date.now(),
  deadline: (ms) => AbortSignal.timeout(ms),
};
