import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { causeText, StoreError } from '../store-error.ts';
import { assertOurs, migrate } from './schema.ts';

export interface SqliteOptions {
  /**
   * `full` (the default): what is acknowledged survives a power failure. `normal`: it survives the death of the
   * process, and a power failure takes back the newest commits as a whole.
   */
  readonly sync?: 'full' | 'normal';
  /** The store must be there already, in the present schema: opening it makes and changes nothing. */
  readonly existing?: boolean;
}

const BUSY_MS = 30_000;
const MOST_FINDINGS = 20;

/** A SQLite file with its prepared statements. Its errors name the file. */
export class Database {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, options: SqliteOptions) {
    this.path = path;
    this.#database = located(path, () => opened(path, options));
  }

  all(sql: string, ...values: readonly SQLInputValue[]): readonly unknown[] {
    return located(this.path, () => this.#statement(sql).all(...values));
  }

  get(sql: string, ...values: readonly SQLInputValue[]): unknown {
    return located(this.path, () => this.#statement(sql).get(...values));
  }

  /** How many rows were changed. */
  run(sql: string, ...values: readonly SQLInputValue[]): number {
    return located(this.path, () => Number(this.#statement(sql).run(...values).changes));
  }

  /** Takes the write lock first, so that a transaction never fails half-way for want of it. */
  atomically<T>(work: () => T): T {
    return located(this.path, () => {
      this.run('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.run('COMMIT');
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
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

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #statement(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function opened(path: string, { sync = 'full', existing = false }: SqliteOptions): DatabaseSync {
  look(path, existing);
  const database = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${sync}`);
    migrate(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Looks at a file in a way that changes none of its bytes: it may be another program's. */
function look(path: string, existing: boolean): void {
  if (!existsSync(path)) {
    if (existing) throw new StoreError('unavailable', `${path}: there is no store`);
    return;
  }
  const database = new DatabaseSync(path, { timeout: BUSY_MS, readOnly: true });
  try {
    assertOurs(database, path, existing);
  } finally {
    database.close();
  }
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
