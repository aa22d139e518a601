import { randomBytes } from 'node:crypto';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { openDatabase } from '../sqlite-module.ts';
import type { MessageId, ThreadId } from '@bobbin/core';
import type { Erasure, StoredPlace } from '@bobbin/core/internal';
import { EMPTY_LOG, emptyLog } from '../sqlite/empty-log.ts';
import { causeText, StoreError } from '../store-error.ts';
import {
  answerValues,
  entryOf,
  isOfName,
  placeOf,
  REQUEST_COLUMNS,
  requestValues,
  sumOf,
  type HiddenRounds,
  type Ledger,
  type LedgerAnswer,
  type LedgerEntry,
  type LedgerRequest,
  type LedgerRow,
  type LedgerSum,
  type NotedThread,
  type SumRow,
} from './ledger.ts';

/** Says in the file's header that it is a ledger of Bobbin's ("BOBL"). */
const APPLICATION_ID = 0x424f424c;
const VERSION = 1;
const BUSY_MS = 5_000;
/** For how long changes are gathered for one transaction. */
const FLUSH_MS = 40;

const TABLES = `
  CREATE TABLE IF NOT EXISTS secret (only INTEGER PRIMARY KEY CHECK (only = 1), value BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS requests (
    tenant TEXT NOT NULL, id TEXT NOT NULL, thread TEXT NOT NULL, head TEXT NOT NULL, at INTEGER NOT NULL,
    model TEXT NOT NULL, protocol TEXT NOT NULL, action TEXT NOT NULL,
    tokens_before INTEGER NOT NULL, tokens_after INTEGER NOT NULL,
    status INTEGER, usage TEXT, paid REAL, whole REAL, answer TEXT,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS requests_head ON requests (tenant, head, at);
  CREATE INDEX IF NOT EXISTS requests_thread ON requests (tenant, thread, at);
  CREATE TABLE IF NOT EXISTS summaries (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, at INTEGER NOT NULL, tokens REAL NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS summaries_thread ON summaries (tenant, thread, at);
  CREATE TABLE IF NOT EXISTS rounds (
    tenant TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, thread TEXT NOT NULL, rounds TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS rounds_key ON rounds (tenant, key, at);
  CREATE INDEX IF NOT EXISTS rounds_thread ON rounds (tenant, thread);
`;

/** A ledger in one SQLite file, for the processes of one machine. */
export function sqliteLedger(path: string): Ledger {
  return new SqliteLedger(path);
}

/** A change that waits for the next transaction. */
interface Write {
  sql: string;
  values: readonly SQLInputValue[];
  readonly written: Promise<void>;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

const INSERT = `
  INSERT INTO requests (${REQUEST_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
/** A request with its answer, whose action and tokens may be others than the request's. */
const INSERT_ANSWERED = `
  INSERT INTO requests (${REQUEST_COLUMNS}, status, usage, paid, whole, answer)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce(?16, ?8), ?9, coalesce(?17, ?10), ?11, ?12, ?13, ?14, ?15)
  ON CONFLICT (tenant, id) DO UPDATE SET
    status = ?11, usage = ?12, paid = ?13, whole = ?14, answer = ?15,
    action = coalesce(?16, action), tokens_after = coalesce(?17, tokens_after)`;

const LOCATE = `
  SELECT r.thread, r.head, r.at, r.usage FROM json_each(?2) given
  CROSS JOIN requests r INDEXED BY requests_head ON r.tenant = ?1 AND r.head = given.value
  ORDER BY given.key DESC, r.at DESC`;
const LOCATE_ONE = `
  SELECT thread, head, at, usage FROM requests INDEXED BY requests_head
  WHERE tenant = ?1 AND head = ?2 ORDER BY at DESC`;

class SqliteLedger implements Ledger {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  #waiting: Write[] = [];
  /** The requests among what waits, by tenant and id, and the last messages of these requests. */
  readonly #begun = new Map<string, Write>();
  readonly #heads = new Set<string>();

  constructor(path: string) {
    this.#path = path;
    this.#database = this.#located(() => opened(path));
  }

  async secret(): Promise<Uint8Array> {
    this.#run('INSERT INTO secret VALUES (1, ?) ON CONFLICT DO NOTHING', randomBytes(32));
    const row = this.#get('SELECT value FROM secret') as { value: Uint8Array };
    return Buffer.from(row.value);
  }

  begin(request: LedgerRequest): Promise<void> {
    const name = nameOf(request.tenant, request.id);
    const begun = this.#begun.get(name);
    if (begun !== undefined) return begun.written;
    const write = this.#soon(INSERT, requestValues(request));
    this.#begun.set(name, write);
    this.#heads.add(nameOf(request.tenant, request.head));
    return write.written;
  }

  /** An answer that comes before its request was written is written with it. */
  finish(tenant: string, id: string, answer: LedgerAnswer): Promise<void> {
    const name = nameOf(tenant, id);
    const begun = this.#begun.get(name);
    if (begun !== undefined) {
      begun.sql = INSERT_ANSWERED;
      begun.values = [...begun.values, ...answerValues(answer)];
      this.#begun.delete(name);
      return begun.written;
    }
    return this.#soon(
      `UPDATE requests SET status = ?, usage = ?, paid = ?, whole = ?, answer = ?,
         action = coalesce(?, action), tokens_after = coalesce(?, tokens_after)
       WHERE tenant = ? AND id = ?`,
      [...answerValues(answer), tenant, id],
    ).written;
  }

  async addSummary(tenant: string, thread: ThreadId, at: number, tokens: number): Promise<void> {
    this.#run('INSERT INTO summaries VALUES (?, ?, ?, ?)', tenant, thread, at, tokens);
  }

  async addRounds(
    tenant: string,
    thread: ThreadId,
    at: number,
    { key, rounds }: HiddenRounds,
  ): Promise<void> {
    this.#run('INSERT INTO rounds VALUES (?, ?, ?, ?, ?)', tenant, key, at, thread, rounds);
  }

  async rounds(tenant: string, keys: readonly string[]): Promise<readonly HiddenRounds[]> {
    return this.#all(
      `SELECT r.key, r.rounds FROM json_each(?2) given
       CROSS JOIN rounds r INDEXED BY rounds_key ON r.tenant = ?1 AND r.key = given.value
       ORDER BY r.at DESC`,
      tenant,
      JSON.stringify(keys),
    ) as readonly HiddenRounds[];
  }

  async previous(
    tenant: string,
    thread: ThreadId,
    before: number,
  ): Promise<LedgerEntry | undefined> {
    const row = this.#get(
      'SELECT * FROM requests WHERE tenant = ? AND thread = ? AND at < ? ORDER BY at DESC LIMIT 1',
      tenant,
      thread,
      before,
    );
    return row === undefined ? undefined : entryOf(row as LedgerRow);
  }

  async locate(
    tenant: string,
    ids: readonly MessageId[],
    thread?: string,
  ): Promise<StoredPlace | undefined> {
    // The request that is looked for may be among those that wait for the next transaction.
    if (ids.some((id) => this.#heads.has(nameOf(tenant, id)))) this.#flush();
    const rows = this.#all(
      ids.length === 1 ? LOCATE_ONE : LOCATE,
      tenant,
      ids.length === 1 ? (ids[0] as string) : JSON.stringify(ids),
    ) as readonly LedgerRow[];
    const row = rows.find((each) => thread === undefined || isOfName(each.thread, thread));
    return row === undefined ? undefined : placeOf(row);
  }

  async entries(
    tenant: string,
    thread: ThreadId,
    after: number = 0,
  ): Promise<readonly LedgerEntry[]> {
    this.#flush();
    const rows = this.#all(
      'SELECT * FROM requests WHERE tenant = ? AND thread = ? AND at > ? ORDER BY at',
      tenant,
      thread,
      after,
    );
    return (rows as readonly LedgerRow[]).map(entryOf);
  }

  async sum(tenant?: string, thread?: ThreadId, since: number = 0): Promise<LedgerSum> {
    const where = '(?1 IS NULL OR tenant = ?1) AND (?2 IS NULL OR thread = ?2) AND at >= ?3';
    const values = [tenant ?? null, thread ?? null, since];
    const row = this.#get(
      `SELECT count(*) AS requests, sum(action IN ('compacted', 'retried')) AS compactions,
         sum(usage ->> 'inputTokens') AS fresh, sum(usage ->> 'cacheWriteTokens') AS cache_write,
         sum(usage ->> 'cacheReadTokens') AS cache_read, sum(usage ->> 'outputTokens') AS output,
         sum(paid) AS paid, sum(whole) AS whole
       FROM requests WHERE ${where}`,
      ...values,
    ) as SumRow;
    const summaries = this.#get(
      `SELECT coalesce(sum(tokens), 0) AS tokens FROM summaries WHERE ${where}`,
      ...values,
    ) as { tokens: number };
    return sumOf(row, summaries.tokens);
  }

  async threads(tenant: string): Promise<readonly NotedThread[]> {
    this.#flush();
    return this.#all(
      `SELECT thread, max(at) AS at FROM (
         SELECT thread, at FROM requests WHERE tenant = ?1
         UNION ALL SELECT thread, at FROM summaries WHERE tenant = ?1
         UNION ALL SELECT thread, at FROM rounds WHERE tenant = ?1
       ) GROUP BY thread`,
      tenant,
    ) as readonly NotedThread[];
  }

  async delete({ tenant, threads }: Erasure): Promise<void> {
    for (const table of ['requests', 'summaries', 'rounds'])
      if (threads === undefined) this.#run(`DELETE FROM ${table} WHERE tenant = ?`, tenant);
      else
        for (const thread of threads)
          this.#run(`DELETE FROM ${table} WHERE tenant = ? AND thread = ?`, tenant, thread);
    await emptyLog(this.#path, () => this.#emptiedLog());
  }

  /** SQLite itself would hold the whole process while it waits for a reader. */
  #emptiedLog(): { busy: number } {
    this.#get('PRAGMA busy_timeout = 0');
    try {
      return this.#get(EMPTY_LOG) as { busy: number };
    } finally {
      this.#get(`PRAGMA busy_timeout = ${BUSY_MS}`);
    }
  }

  async close(): Promise<void> {
    this.#flush();
    this.#database.close();
  }

  /** Changes something in one transaction with all that is asked for within a few milliseconds. */
  #soon(sql: string, values: readonly SQLInputValue[]): Write {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const write: Write = { sql, values, written: promise, done: resolve, failed: reject };
    if (this.#waiting.length === 0) setTimeout(() => this.#flush(), FLUSH_MS);
    this.#waiting.push(write);
    return write;
  }

  #flush(): void {
    const writes = this.#waiting;
    this.#waiting = [];
    this.#begun.clear();
    this.#heads.clear();
    if (writes.length === 0) return;
    try {
      const settled = this.#located(() => {
        this.#database.exec('BEGIN IMMEDIATE');
        const settles = writes.map((write) => this.#written(write));
        this.#database.exec('COMMIT');
        return settles;
      });
      for (const settle of settled) settle();
    } catch (error) {
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
      for (const { failed } of writes) failed(error);
    }
  }

  /** Makes one change of a transaction. If it is refused, the others stay. */
  #written({ sql, values, done, failed }: Write): () => void {
    try {
      this.#statement(sql).run(...values);
      return done;
    } catch (error) {
      // Some failures end the whole transaction.
      if (!this.#database.isTransaction) throw error;
      return () => failed(this.#locatedError(error));
    }
  }

  #run(sql: string, ...values: readonly SQLInputValue[]): void {
    this.#flush();
    this.#located(() => this.#statement(sql).run(...values));
  }

  #get(sql: string, ...values: readonly SQLInputValue[]): unknown {
    this.#flush();
    return this.#located(() => this.#statement(sql).get(...values));
  }

  #all(sql: string, ...values: readonly SQLInputValue[]): readonly unknown[] {
    return this.#located(() => this.#statement(sql).all(...values));
  }

  #statement(sql: string): ReturnType<DatabaseSync['prepare']> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #located<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#locatedError(error);
    }
  }

  #locatedError(error: unknown): StoreError {
    if (error instanceof StoreError) return error;
    return new StoreError('unavailable', `${this.#path}: ${causeText(error)}`, error);
  }
}

function nameOf(tenant: string, id: string): string {
  return `${tenant}\n${id}`;
}

/** @throws StoreError if the file is another program's or a newer Bobbin's. */
function opened(path: string): DatabaseSync {
  const database = openDatabase(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    const [owner, version] = ['application_id', 'user_version'].map((name) =>
      Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0),
    );
    const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as {
      tables: number;
    };
    if (tables > 0 && owner !== APPLICATION_ID)
      throw new StoreError('damaged', `${path} is another program's database`);
    if (Number(version) > VERSION)
      throw new StoreError(
        'from-the-future',
        `${path} is a ledger of version ${version}; this Bobbin knows version ${VERSION}: update it`,
      );
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON',
    );
    if (tables === 0)
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION}`);
    database.exec(TABLES);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
