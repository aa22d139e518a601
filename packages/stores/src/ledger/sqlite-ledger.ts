import { randomBytes } from 'node:crypto';
import type { MessageId, ThreadId } from '@bobbin/core';
import type { Erasure, StoredPlace } from '@bobbin/core/internal';
import { Database } from '../sqlite/database.ts';
import type { Schema } from '../sqlite/schema.ts';
import { GatheredWrites } from './gathered-writes.ts';
import {
  answerValues,
  entryOf,
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
  type PlaceRow,
  type SumRow,
} from './ledger.ts';
import { WaitingRequests, type WaitingRequest } from './waiting-requests.ts';

/** For how long someone at a terminal waits for a lock. */
const ERASURE_BUSY_MS = 5_000;

const TABLES = `
  CREATE TABLE secret (only INTEGER PRIMARY KEY CHECK (only = 1), value BLOB NOT NULL) STRICT;
  CREATE TABLE requests (
    tenant TEXT NOT NULL, id TEXT NOT NULL, thread TEXT, name TEXT, head TEXT, at INTEGER NOT NULL,
    model TEXT NOT NULL, protocol TEXT NOT NULL, action TEXT NOT NULL,
    tokens_before INTEGER NOT NULL, tokens_after INTEGER NOT NULL, tool_round INTEGER NOT NULL,
    status INTEGER, usage TEXT, paid REAL, whole REAL, answer TEXT,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX requests_head ON requests (tenant, head, at);
  CREATE INDEX requests_thread ON requests (tenant, thread, at);
  CREATE TABLE summaries (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, at INTEGER NOT NULL, tokens REAL NOT NULL
  ) STRICT;
  CREATE INDEX summaries_thread ON summaries (tenant, thread, at);
  CREATE TABLE rounds (
    tenant TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, thread TEXT NOT NULL, rounds TEXT NOT NULL
  ) STRICT;
  CREATE INDEX rounds_key ON rounds (tenant, key, at);
  CREATE INDEX rounds_thread ON rounds (tenant, thread);
`;

/** A file of a ledger ("BOBL"). */
const LEDGER: Schema = { applicationId: 0x424f424c, migrations: [TABLES] };

/** A ledger in one SQLite file, for the processes of one machine. */
export function sqliteLedger(path: string): Ledger {
  return new SqliteLedger(new Database(path, { sync: 'normal' }, LEDGER));
}

const INSERT = `
  INSERT INTO requests (${REQUEST_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
/** A request with its answer, whose action and tokens may be others than the request's. */
const INSERT_ANSWERED = `
  INSERT INTO requests (${REQUEST_COLUMNS}, status, usage, paid, whole, answer)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, coalesce(?18, ?9), ?10, coalesce(?19, ?11), ?12, ?13, ?14, ?15, ?16, ?17)
  ON CONFLICT (tenant, id) DO UPDATE SET
    status = ?13, usage = ?14, paid = ?15, whole = ?16, answer = ?17,
    action = coalesce(?18, action), tokens_after = coalesce(?19, tokens_after)`;

const LOCATE = `
  SELECT r.thread, r.name, r.head, r.at, r.usage FROM json_each(?2) given
  CROSS JOIN requests r INDEXED BY requests_head ON r.tenant = ?1 AND r.head = given.value
  WHERE ?3 IS NULL OR r.name = ?3 OR r.thread = ?3
  ORDER BY given.key DESC, r.at DESC LIMIT 1`;
const LOCATE_ONE = `
  SELECT thread, name, head, at, usage FROM requests INDEXED BY requests_head
  WHERE tenant = ?1 AND head = ?2 AND (?3 IS NULL OR name = ?3 OR thread = ?3)
  ORDER BY at DESC LIMIT 1`;

const UPDATE = `
  UPDATE requests SET status = ?, usage = ?, paid = ?, whole = ?, answer = ?,
    action = coalesce(?, action), tokens_after = coalesce(?, tokens_after)
  WHERE tenant = ? AND id = ?`;

class SqliteLedger implements Ledger {
  readonly #database: Database;
  readonly #writes: GatheredWrites;
  readonly #requests = new WaitingRequests();
  readonly #rounds = new Set<WaitingRounds>();

  constructor(database: Database) {
    this.#database = database;
    this.#writes = new GatheredWrites(database, () => this.#requests.clear());
  }

  async secret(): Promise<Uint8Array> {
    const insert = 'INSERT INTO secret VALUES (1, ?) ON CONFLICT DO NOTHING';
    await this.#database.atomically(() => this.#database.run(insert, randomBytes(32)));
    const row = this.#database.get('SELECT value FROM secret') as { value: Uint8Array };
    return Buffer.from(row.value);
  }

  begin(request: LedgerRequest): Promise<void> {
    const begun = this.#requests.get(request.tenant, request.id);
    if (begun !== undefined) return begun.written;
    const written = this.#writes.add(() => this.#insert(waiting));
    const waiting: WaitingRequest = { request, written };
    if (!this.#writes.isFull) this.#requests.add(waiting);
    return written;
  }

  #insert({ request, answer }: WaitingRequest): void {
    const values = requestValues(request);
    if (answer === undefined) this.#database.run(INSERT, ...values);
    else this.#database.run(INSERT_ANSWERED, ...values, ...answerValues(answer));
  }

  /** An answer that comes before its request was written is written with it. */
  finish(tenant: string, id: string, answer: LedgerAnswer): Promise<void> {
    const begun = this.#requests.get(tenant, id);
    if (begun !== undefined && begun.answer === undefined) {
      begun.answer = answer;
      return begun.written;
    }
    const values = [...answerValues(answer), tenant, id];
    return this.#writes.add(() => this.#database.run(UPDATE, ...values));
  }

  addSummary(tenant: string, thread: ThreadId, at: number, tokens: number): Promise<void> {
    const insert = 'INSERT INTO summaries VALUES (?, ?, ?, ?)';
    return this.#writes.add(() => this.#database.run(insert, tenant, thread, at, tokens));
  }

  async addRounds(
    tenant: string,
    thread: ThreadId,
    at: number,
    hidden: HiddenRounds,
  ): Promise<void> {
    const { key, rounds } = hidden;
    const insert = 'INSERT INTO rounds VALUES (?, ?, ?, ?, ?)';
    const written = this.#writes.add(() =>
      this.#database.run(insert, tenant, key, at, thread, rounds),
    );
    const waiting = { tenant, hidden };
    this.#rounds.add(waiting);
    // A client waits for it.
    void this.#writes.flush();
    await written.finally(() => this.#rounds.delete(waiting));
  }

  async rounds(tenant: string, keys: readonly string[]): Promise<readonly HiddenRounds[]> {
    const waiting = [...this.#rounds].filter(
      (each) => each.tenant === tenant && keys.includes(each.hidden.key),
    );
    const rows = this.#database.all(
      `SELECT r.key, r.rounds FROM json_each(?2) given
       CROSS JOIN rounds r INDEXED BY rounds_key ON r.tenant = ?1 AND r.key = given.value
       ORDER BY r.at DESC`,
      tenant,
      JSON.stringify(keys),
    ) as readonly HiddenRounds[];
    return [...waiting.map(({ hidden }) => hidden).toReversed(), ...rows];
  }

  async previous(
    tenant: string,
    thread: ThreadId,
    before: number,
  ): Promise<LedgerEntry | undefined> {
    await this.#writes.flush();
    const row = this.#database.get(
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
    name?: string,
  ): Promise<StoredPlace | undefined> {
    const waiting = this.#requests.locate(tenant, ids, name);
    const later = waiting === undefined ? ids : ids.slice(waiting.index + 1);
    return this.#locateWritten(tenant, later, name) ?? waiting?.place;
  }

  #locateWritten(
    tenant: string,
    ids: readonly MessageId[],
    name: string | undefined,
  ): StoredPlace | undefined {
    if (ids.length === 0) return undefined;
    const row = this.#database.get(
      ids.length === 1 ? LOCATE_ONE : LOCATE,
      tenant,
      ids.length === 1 ? (ids[0] as string) : JSON.stringify(ids),
      name ?? null,
    );
    return row === undefined ? undefined : placeOf(row as PlaceRow);
  }

  async entries(
    tenant: string,
    thread: ThreadId,
    after: number = 0,
  ): Promise<readonly LedgerEntry[]> {
    await this.#writes.flush();
    const rows = this.#database.all(
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
    await this.#writes.flush();
    const row = this.#database.get(
      `SELECT sum(tool_round = 0) AS requests, sum(tool_round) AS tool_rounds,
         sum(action IN ('compacted', 'retried')) AS compactions,
         sum(usage ->> 'inputTokens') AS fresh, sum(usage ->> 'cacheWriteTokens') AS cache_write,
         sum(usage ->> 'cacheReadTokens') AS cache_read, sum(usage ->> 'outputTokens') AS output,
         sum(paid) AS paid, sum(whole) AS whole
       FROM requests WHERE ${where}`,
      ...values,
    ) as SumRow;
    const summaries = this.#database.get(
      `SELECT coalesce(sum(tokens), 0) AS tokens FROM summaries WHERE ${where}`,
      ...values,
    ) as { tokens: number };
    return sumOf(row, summaries.tokens);
  }

  async threads(tenant: string): Promise<readonly NotedThread[]> {
    await this.#writes.flush();
    return this.#database.all(
      `SELECT thread, max(at) AS at FROM (
         SELECT thread, at FROM requests WHERE tenant = ?1 AND thread IS NOT NULL
         UNION ALL SELECT thread, at FROM summaries WHERE tenant = ?1
         UNION ALL SELECT thread, at FROM rounds WHERE tenant = ?1
       ) GROUP BY thread`,
      tenant,
    ) as readonly NotedThread[];
  }

  async delete(what: Erasure): Promise<void> {
    await this.#writes.flush();
    await this.#database.atomically(() => this.#erase(what), ERASURE_BUSY_MS);
    await this.#database.emptyLog();
  }

  #erase({ tenant, threads }: Erasure): void {
    for (const table of ['requests', 'summaries', 'rounds'])
      if (threads === undefined)
        this.#database.run(`DELETE FROM ${table} WHERE tenant = ?`, tenant);
      else
        for (const thread of threads)
          this.#database.run(
            `DELETE FROM ${table} WHERE tenant = ? AND thread = ?`,
            tenant,
            thread,
          );
  }

  async close(): Promise<void> {
    await this.#writes.close();
    await this.#database.close();
  }
}

/** Rounds that are not written yet. */
interface WaitingRounds {
  readonly tenant: string;
  readonly hidden: HiddenRounds;
}
