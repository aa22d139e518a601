import { isBusy, openLockDatabase, type LockDatabase } from '../sqlite-module.ts';
import { StoreError } from '../store-error.ts';

const BUSY_MS = 30_000;
const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 20;

/**
 * A lock between processes that write to one folder. It is SQLite's own file lock: the operating system releases it
 * when a process dies, so no process has to guess whether an old lock still counts.
 */
export class FolderLock {
  readonly #path: string;
  #database: LockDatabase | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Does some work, which must not wait for anything, while no other process does. Until then this one goes on. */
  async hold<T>(work: () => T): Promise<T> {
    const until = performance.now() + BUSY_MS;
    for (let wait = FIRST_WAIT_MS; !this.#taken(); wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      if (performance.now() > until)
        throw new StoreError('unavailable', `${this.#path}: another process has the lock`);
      await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
    }
    try {
      return work();
    } finally {
      this.#database?.exec('ROLLBACK');
    }
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }

  #taken(): boolean {
    this.#database ??= openLockDatabase(this.#path);
    try {
      this.#database.exec('BEGIN EXCLUSIVE');
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }
}
