import { DatabaseSync } from 'node:sqlite';

const BUSY_MS = 30_000;

/**
 * A lock between processes that write to one folder. It is SQLite's own file lock: the operating system gives it back
 * when a process dies, so that nobody has to guess whether a lock that was left behind still counts.
 */
export class FolderLock {
  readonly #path: string;
  #database: DatabaseSync | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Does some work, which must not wait for anything, while no other process does. */
  hold<T>(work: () => T): T {
    this.#database ??= new DatabaseSync(this.#path, { timeout: BUSY_MS });
    const database = this.#database;
    database.exec('BEGIN EXCLUSIVE');
    try {
      return work();
    } finally {
      database.exec('ROLLBACK');
    }
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}
