import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ExpectedError } from '../expected-error.ts';
import type { Folders } from '../folders.ts';
import { projectName } from './session-id.ts';

/**
 * Keeps a session to one process: two that continue it would not see each other's messages. It is SQLite's file lock,
 * which the operating system releases when a process dies.
 */
export class SessionLock {
  readonly path: string;
  readonly #database: DatabaseSync;

  private constructor(path: string, database: DatabaseSync) {
    this.path = path;
    this.#database = database;
  }

  /** The lock, or `held` if another has it, or undefined if none can be kept: then nothing can be written either. */
  static take(path: string): SessionLock | 'held' | undefined {
    let database: DatabaseSync;
    try {
      mkdirSync(dirname(path), { recursive: true });
      database = new DatabaseSync(path, { timeout: 0 });
    } catch {
      return undefined;
    }
    try {
      database.exec('BEGIN EXCLUSIVE');
      return new SessionLock(path, database);
    } catch (error) {
      database.close();
      return isBusy(error) ? 'held' : undefined;
    }
  }

  /** The file goes first: a process that opens it between the two finds it held. */
  release(): void {
    rmSync(this.path, { force: true });
    this.#database.close();
  }
}

/**
 * The lock of a session: the one that is held already, or a new one.
 * @throws ExpectedError if another process works on that session.
 */
export function lockOf(
  { data, project }: Folders,
  id: string,
  held: SessionLock | undefined,
): SessionLock | undefined {
  const path = join(data, 'locks', `${projectName(project)}-${id}.lock`);
  if (held?.path === path) return held;
  const lock = SessionLock.take(path);
  if (lock !== 'held') return lock;
  throw new ExpectedError(
    `session ${id} is open in another bobbin: /fork it there, or go on with another one here`,
  );
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === SQLITE_BUSY;
}
