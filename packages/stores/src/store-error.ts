/** What is wrong with a store, for a host that wants to react to it. */
export type StoreProblem =
  /** It cannot be opened or written: no such folder, read-only, disk full, connection lost. */
  | 'unavailable'
  /** Something in it is not what was written. */
  | 'damaged'
  /** A newer version of Bobbin wrote it. */
  | 'from-the-future'
  /** The key that something is encrypted with is not there, or is another one. */
  | 'wrong-key';

/** A store's failure, with the place of it. What was acknowledged before stays; what failed was not written. */
export class StoreError extends Error {
  readonly problem: StoreProblem;

  constructor(problem: StoreProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
    this.problem = problem;
  }
}

export function causeText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
