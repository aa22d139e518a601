/** How long a lock is waited for. */
export const BUSY_MS = 30_000;
const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 20;

/** The next wait for a lock, after one. */
export function longer(waitMs: number): number {
  return Math.min(Math.max(2 * waitMs, FIRST_WAIT_MS), LONGEST_WAIT_MS);
}

/** Waits for about so long: processes that wait for the same lock must not ask at the same moment each time. */
export function pause(waitMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + Math.random())));
}
