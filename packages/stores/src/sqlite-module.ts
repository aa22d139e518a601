import { createRequire } from 'node:module';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './store-error.ts';

const require = createRequire(import.meta.url);

/** What is needed of `node:sqlite`. */
interface NodeSqlite {
  readonly DatabaseSync: typeof DatabaseSync;
}

/** Node's SQLite, loaded when a database is opened: a runtime without it can use everything else. */
export function openDatabase(...args: ConstructorParameters<typeof DatabaseSync>): DatabaseSync {
  const { DatabaseSync: Database } = nodeSqlite();
  return new Database(...args);
}

function nodeSqlite(): NodeSqlite {
  try {
    return require('node:sqlite') as NodeSqlite;
  } catch (cause) {
    const message =
      'this runtime has no node:sqlite: run Node 24, or use jsonlStore or postgresStore';
    throw new StoreError('unavailable', message, cause);
  }
}

/** As much of a database as a lock needs. */
export interface LockDatabase {
  exec(sql: string): unknown;
  close(): void;
}

/** A database that is only locked: Bun has SQLite under another name. */
export function openLockDatabase(path: string): LockDatabase {
  if (process.versions['bun'] === undefined) return openDatabase(path, { timeout: 0 });
  const { Database } = require('bun:sqlite') as { Database: new (path: string) => LockDatabase };
  return new Database(path);
}

/** True if another connection has the lock (5 is SQLITE_BUSY, sqlite.org/rescode.html). */
export function isBusy(error: unknown): boolean {
  const { errcode, errno } = error as { readonly errcode?: number; readonly errno?: number };
  return (errcode ?? errno ?? 0) % 256 === 5;
}
