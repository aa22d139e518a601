import { createRequire } from 'node:module';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './store-error.ts';

const require = createRequire(import.meta.url);
/** Bun has SQLite under another name. */
const isBun = process.versions['bun'] !== undefined;

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
    const remedy = isBun ? 'use jsonlStore or postgresStore' : 'run Node 22.18 or later';
    throw new StoreError('unavailable', `this runtime has no node:sqlite: ${remedy}`, cause);
  }
}

/** As much of a database as a lock needs. */
export interface LockDatabase {
  exec(sql: string): unknown;
  close(): void;
}

/** A database that is only locked. */
export function openLockDatabase(path: string): LockDatabase {
  if (!isBun) return openDatabase(path, { timeout: 0 });
  const { Database } = require('bun:sqlite') as { Database: new (path: string) => LockDatabase };
  return new Database(path);
}

/** True if another connection has the lock (5 is SQLITE_BUSY, sqlite.org/rescode.html). */
export function isBusy(error: unknown): boolean {
  const { errcode, errno } = error as { readonly errcode?: number; readonly errno?: number };
  return (errcode ?? errno ?? 0) % 256 === 5;
}
