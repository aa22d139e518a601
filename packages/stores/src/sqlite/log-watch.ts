import { statSync } from 'node:fs';

/** What the log keeps of its size when all of it is in the file: a reader may have made it very long. */
export const LOG_BYTES = 67_108_864;
const COMMITS_BETWEEN = 64;

/** How much of the log is in the file already, in pages. */
export interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/** Warns when a reader of another program makes the log long: first when it would be cut, then whenever it doubles. */
export class LogWatch {
  readonly #path: string;
  readonly #warn: (message: string) => void;
  #commits = 0;
  #nextBytes = LOG_BYTES;

  constructor(path: string, warn: (message: string) => void) {
    this.#path = path;
    this.#warn = warn;
  }

  /** Called after each commit; `stateOf` moves into the file what no reader needs. */
  look(stateOf: () => LogState): void {
    if (++this.#commits % COMMITS_BETWEEN !== 0) return;
    const bytes = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes <= LOG_BYTES) this.#nextBytes = LOG_BYTES;
    if (bytes <= this.#nextBytes) return;
    const { log, checkpointed } = stateOf();
    if (checkpointed >= log) return;
    this.#nextBytes = bytes * 2;
    this.#warn(
      `${this.#path}: the log (${this.#path}-wal) has grown to ${Math.round(bytes / 1e6)} MB, because another connection keeps a read transaction open. End it (a backup, a shell, an open cursor), and the log is cut with one of the next writes.`,
    );
  }
}
