import { existsSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { openDatabase } from '../sqlite-module.ts';
import { causeText, StoreError } from '../store-error.ts';
import { EMPTY_LOG, emptyLog } from './empty-log.ts';
import { BUSY_MS, longer, pause } from './lock-wait.ts';
import { LOG_BYTES, LogWatch, type LogState } from './log-watch.ts';
import { assertOurs, migrate, THREADS, type Schema } from './schema.ts';
import type { SqliteOptions } from './sqlite-options.ts';
import { WriteTurn } from './write-turn.ts';

const MOST_FINDINGS = 20;
/** While SQLite itself waits for a lock, the whole process does. */
const WITHOUT_WAITING = 'PRAGMA busy_timeout = 0';

/** Work that waits for a transaction. */
interface Task<T> {
  readonly run: () => T;
  readonly resolve: (result: T) => void;
  readonly reject: (error: unknown) => void;
  /** When it has waited for the lock for long enough, by `performance.now()`. */
  readonly until: number;
}

/** A SQLite file with its prepared statements. Its errors name the file. */
export class Database {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #tasks: Task<unknown>[] = [];
  readonly #turn = new WriteTurn();
  #writing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  readonly #log: LogWatch;
  #onRollback: () => void = () => undefined;

  constructor(path: string, options: SqliteOptions, schema: Schema = THREADS) {
    this.path = path;
    this.#log = new LogWatch(path, options.onWarning ?? warnOnConsole);
    this.#database = located(path, () => opened(path, options, schema));
  }

  all(sql: string, ...values: readonly SQLInputValue[]): readonly unknown[] {
    return this.#read(() => this.#statement(sql).all(...values));
  }

  get(sql: string, ...values: readonly SQLInputValue[]): unknown {
    return this.#read(() => this.#statement(sql).get(...values));
  }

  /** A reader is rarely locked out: when another process opens, repairs or closes the file. Then SQLite itself waits. */
  #read<T>(work: () => T): T {
    try {
      return located(this.path, work);
    } catch (error) {
      if (!isBusy(error)) throw error;
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      try {
        return located(this.path, work);
      } finally {
        this.#database.exec(WITHOUT_WAITING);
      }
    }
  }

  /** How many rows were changed. */
  run(sql: string, ...values: readonly SQLInputValue[]): number {
    return located(this.path, () => Number(this.#statement(sql).run(...values).changes));
  }

  /** False within a transaction's work once a failure has ended the transaction: what is run then is not undone with it. */
  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** How many rows the whole database changed by: what a virtual table does within itself counts as well. */
  changesOf(sql: string): number {
    const total = (): number => {
      const row = this.get('SELECT total_changes() AS total') as { total: number };
      return row.total;
    };
    const before = total();
    this.run(sql);
    return total() - before;
  }

  /**
   * Some work in one transaction, or as a part of one with what else waits: a commit costs as much for all of it as for
   * one. Work that fails is undone alone. The transaction takes the write lock first, so that it never fails half-way
   * for lack of it. While another process has the lock, this one goes on with its other work.
   *
   * @throws LockedError if another process has the lock for all of the time.
   */
  atomically<T>(work: () => T, busyMs: number = BUSY_MS): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(this.#closedError());
    return new Promise<T>((resolve, reject) => {
      const until = performance.now() + busyMs;
      const run = (): T => located(this.path, work);
      this.#tasks.push({ run, resolve, reject, until } as Task<unknown>);
      this.#writing ??= this.#writeTasks();
    });
  }

  /** The one writer: it ends when nothing waits. */
  async #writeTasks(): Promise<void> {
    let waitMs = 0;
    while (this.#tasks.length > 0) {
      if (waitMs > 0) await pause(waitMs);
      await this.#turn.begin();
      waitMs = this.#wrote() ? 0 : longer(waitMs);
    }
    this.#writing = undefined;
  }

  /** False if another connection has the lock. */
  #wrote(): boolean {
    try {
      if (!this.#begin()) {
        this.#rejectOverdue();
        return false;
      }
    } catch (error) {
      for (const { reject } of this.#tasks.splice(0)) reject(error);
      return true;
    }
    this.#commitTasks();
    return true;
  }

  #rejectOverdue(): void {
    const now = performance.now();
    for (const task of this.#tasks.splice(0))
      if (task.until < now) task.reject(new LockedError(this.path));
      else this.#tasks.push(task);
  }

  /** Runs what waits for as long as it may, and commits it. */
  #commitTasks(): void {
    const isAlone = this.#tasks.length === 1;
    if (!isAlone) this.#turn.end();
    const settled: (() => void)[] = [];
    const taken: Task<unknown>[] = [];
    try {
      do {
        const task = this.#tasks.shift() as Task<unknown>;
        taken.push(task);
        settled.push(isAlone ? this.#result(task) : this.#resultApart(task));
      } while (this.#tasks.length > 0 && !this.#turn.isOver);
      this.run('COMMIT');
    } catch (error) {
      for (const { reject } of taken) reject(error);
      this.#rollBack();
      return;
    }
    for (const settle of settled) settle();
    this.#lookAtLog();
  }

  /** Sets what is called when some work was undone: rows that were read meanwhile may never have been. */
  onRollback(forget: () => void): void {
    this.#onRollback = forget;
  }

  #rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      this.#onRollback();
    } catch {
      // The next transaction tries again before it begins, and fails with the reason.
    }
  }

  /** What is committed is committed: nothing that fails here fails a write. */
  #lookAtLog(): void {
    try {
      this.#log.look(() => this.get('PRAGMA wal_checkpoint(PASSIVE)') as LogState);
    } catch (error) {
      warnOnConsole(`${this.path}: the length of the log is unknown: ${causeText(error)}`);
    }
  }

  #result({ run, resolve }: Task<unknown>): () => void {
    const result = run();
    return () => resolve(result);
  }

  /** Work that others share a transaction with: its failure is its own. */
  #resultApart(task: Task<unknown>): () => void {
    this.run('SAVEPOINT task');
    try {
      const settle = this.#result(task);
      this.run('RELEASE task');
      return settle;
    } catch (error) {
      // Some failures end the whole transaction.
      if (!this.#database.isTransaction) throw error;
      this.run('ROLLBACK TO task');
      this.run('RELEASE task');
      this.#onRollback();
      return () => task.reject(error);
    }
  }

  /** False if another connection has the write lock. */
  #begin(): boolean {
    try {
      if (this.#database.isTransaction) {
        this.#database.exec('ROLLBACK');
        this.#onRollback();
      }
      this.run('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  /** Puts all of the log into the file, so that nothing of what was erased is in it. */
  emptyLog(): Promise<void> {
    return emptyLog(this.path, () => this.get(EMPTY_LOG) as { busy: number });
  }

  /** What SQLite itself finds wrong with the file: its pages, its indexes and the index of words. */
  check(): readonly string[] {
    try {
      const rows = this.all(`PRAGMA integrity_check(${MOST_FINDINGS})`) as readonly {
        integrity_check: string;
      }[];
      return rows
        .map((row) => row.integrity_check)
        .filter((finding) => finding !== 'ok')
        .map((finding) => `${this.path}: ${finding}`);
    } catch (error) {
      // A table whose rows about itself are gone fails the check as a whole.
      if (!(error instanceof StoreError)) throw error;
      return [error.message];
    }
  }

  /** What waits is written first; what comes from now on is refused. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#writing !== undefined) await this.#writing;
    this.#database.close();
  }

  #closedError(): StoreError {
    return new StoreError('unavailable', `${this.path}: the store is closed`);
  }

  #statement(sql: string): StatementSync {
    if (!this.#database.isOpen) throw this.#closedError();
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Another process has the write lock for longer than a write waits. */
export class LockedError extends StoreError {
  constructor(path: string) {
    super('unavailable', `${path}: database is locked`);
  }
}

function warnOnConsole(message: string): void {
  console.warn(`bobbin: ${message}`);
}

function opened(
  path: string,
  { sync = 'full', existing = false }: SqliteOptions,
  schema: Schema,
): DatabaseSync {
  look(path, schema, existing);
  const database = openDatabase(path, { timeout: BUSY_MS });
  try {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${sync}; PRAGMA journal_size_limit = ${LOG_BYTES};
       PRAGMA secure_delete = ON`,
    );
    migrate(database, path, schema);
    database.exec(WITHOUT_WAITING);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Looks at a file in a way that changes none of its bytes: it may be another program's. */
function look(path: string, schema: Schema, existing: boolean): void {
  if (!existsSync(path)) {
    if (existing) throw new StoreError('unavailable', `${path}: there is no store`);
    return;
  }
  const database = openDatabase(path, { timeout: BUSY_MS, readOnly: true });
  try {
    assertOurs(database, path, schema, existing);
  } finally {
    database.close();
  }
}

/** 5: SQLITE_BUSY (sqlite.org/rescode.html). */
function isBusy(error: unknown): boolean {
  const { errcode = 0 } = (error as { cause?: { errcode?: number } }).cause ?? {};
  return (errcode & 0xff) === 5;
}

/** Turns SQLite's errors into ours, which name the file. */
function located<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = (error as { errcode?: number }).errcode;
    if (error instanceof StoreError || code === undefined) throw error;
    // The low byte is the class of the error: 11 SQLITE_CORRUPT, 26 SQLITE_NOTADB (sqlite.org/rescode.html).
    const damaged = (code & 0xff) === 11 || (code & 0xff) === 26;
    throw new StoreError(
      damaged ? 'damaged' : 'unavailable',
      `${path}: ${causeText(error)}`,
      error,
    );
  }
}
