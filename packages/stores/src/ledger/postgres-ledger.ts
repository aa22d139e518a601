import { randomBytes } from 'node:crypto';
import type { MessageId, ThreadId } from '@bobbin/core';
import type { Erasure, StoredPlace } from '@bobbin/core/internal';
import { Connection } from '../postgres/connection.ts';
import { transact } from '../postgres/lost-connection.ts';
import { causeText, StoreError } from '../store-error.ts';
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

export interface PostgresLedgerOptions {
  /** How many connections this process may have at once. Default: 5. */
  readonly connections?: number;
  /** How long a connection may be silent while something is asked. Default: 15 000. */
  readonly timeoutMs?: number;
  /** For how long a call is tried again while the database takes no connection. Default: 15 000. */
  readonly retryMs?: number;
}

const LOCK = 0x626f6c;

const TABLES = `
  CREATE SCHEMA IF NOT EXISTS bobbin_ledger;
  CREATE TABLE IF NOT EXISTS bobbin_ledger.secret (number int PRIMARY KEY CHECK (number = 1), value text NOT NULL);
  CREATE TABLE IF NOT EXISTS bobbin_ledger.requests (
    tenant text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
    thread text COLLATE "C", name text COLLATE "C", head text COLLATE "C", at bigint NOT NULL,
    model text NOT NULL, protocol text NOT NULL, action text NOT NULL,
    tokens_before bigint NOT NULL, tokens_after bigint NOT NULL, tool_round int NOT NULL,
    status int, usage text, paid float8, whole float8, answer text,
    PRIMARY KEY (tenant, id)
  ) WITH (fillfactor = 80);
  CREATE INDEX IF NOT EXISTS requests_head ON bobbin_ledger.requests (tenant, head, at);
  CREATE INDEX IF NOT EXISTS requests_thread ON bobbin_ledger.requests (tenant, thread, at);
  CREATE TABLE IF NOT EXISTS bobbin_ledger.summaries (
    tenant text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL, at bigint NOT NULL, tokens float8 NOT NULL
  );
  CREATE INDEX IF NOT EXISTS summaries_thread ON bobbin_ledger.summaries (tenant, thread, at);
  CREATE TABLE IF NOT EXISTS bobbin_ledger.rounds (
    tenant text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, at bigint NOT NULL,
    thread text COLLATE "C" NOT NULL, rounds text NOT NULL
  );
  CREATE INDEX IF NOT EXISTS rounds_key ON bobbin_ledger.rounds (tenant, key, at);
  CREATE INDEX IF NOT EXISTS rounds_thread ON bobbin_ledger.rounds (tenant, thread);
`;

/** A ledger that many processes on many machines share. The role must own its schema, or be allowed to make it. */
export async function postgresLedger(
  url: string,
  { connections = 5, timeoutMs = 15_000, retryMs = 15_000 }: PostgresLedgerOptions = {},
): Promise<Ledger> {
  const connection = await Connection.open(url, { connections, timeoutMs, retryMs });
  try {
    await transact(connection.sql, async (transaction) => {
      await transaction`SELECT pg_advisory_xact_lock(${LOCK})`;
      const [there] =
        await transaction`SELECT to_regclass('bobbin_ledger.rounds_thread') IS NOT NULL AS made`;
      if (there?.['made'] !== true) await transaction.unsafe(TABLES);
    });
    return new PostgresLedger(connection);
  } catch (error) {
    await connection.sql.end({ timeout: 0 });
    throw new StoreError(
      'unavailable',
      `postgres: the ledger cannot be opened: ${causeText(error)}. Its role must own the schema bobbin_ledger, or have CREATE on the database to make it`,
      error,
    );
  }
}

/** The ledger of a database that has one, brought up to date; nothing is made in a database that has none. */
export async function existingPostgresLedger(url: string): Promise<Ledger | undefined> {
  const options = { connections: 1, timeoutMs: 15_000, retryMs: 2_000 };
  const connection = await Connection.open(url, options);
  try {
    // The one table that each version of the ledger has.
    const [there] = await connection.ask(
      "SELECT to_regclass('bobbin_ledger.requests') IS NOT NULL AS made",
    );
    if (!(there as { made: boolean }).made) return undefined;
  } finally {
    await connection.close();
  }
  return postgresLedger(url, options);
}

function sumOfUsage(field: string): string {
  return `sum((usage::json ->> '${field}')::float8)`;
}

interface Beginning {
  readonly tenant: string;
  readonly head: MessageId | undefined;
  readonly written: Promise<void>;
}

class PostgresLedger implements Ledger {
  readonly #connection: Connection;
  /** Requests that are being written, by tenant and id, with their heads. */
  readonly #beginning = new Map<string, Beginning>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async secret(): Promise<Uint8Array> {
    await this.#connection.ask(
      'INSERT INTO bobbin_ledger.secret VALUES (1, $1) ON CONFLICT DO NOTHING',
      randomBytes(32).toString('base64'),
    );
    const [row] = await this.#connection.ask('SELECT value FROM bobbin_ledger.secret');
    return Buffer.from((row as { value: string }).value, 'base64');
  }

  begin(request: LedgerRequest): Promise<void> {
    const name = `${request.tenant}\n${request.id}`;
    const { tenant, head } = request;
    const written = this.#insert(request).finally(() => {
      if (this.#beginning.get(name)?.written === written) this.#beginning.delete(name);
    });
    this.#beginning.set(name, { tenant, head, written });
    return written;
  }

  /** Waits until the requests of this process that end one of some threads are written, or failed to be. */
  async #begun(tenant: string, heads: readonly MessageId[]): Promise<void> {
    const own = [...this.#beginning.values()].filter(
      (one) => one.tenant === tenant && one.head !== undefined && heads.includes(one.head),
    );
    await Promise.allSettled(own.map(({ written }) => written));
  }

  async #insert(request: LedgerRequest): Promise<void> {
    await this.#connection.ask(
      `INSERT INTO bobbin_ledger.requests (${REQUEST_COLUMNS})
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`,
      ...requestValues(request),
    );
  }

  async finish(tenant: string, id: string, answer: LedgerAnswer): Promise<void> {
    // Another connection of the pool could be faster with the answer than the first is with its request.
    await this.#beginning.get(`${tenant}\n${id}`)?.written.catch(() => undefined);
    await this.#connection.ask(
      `UPDATE bobbin_ledger.requests SET status = $1, usage = $2, paid = $3, whole = $4, answer = $5,
         action = coalesce($6, action), tokens_after = coalesce($7, tokens_after)
       WHERE tenant = $8 AND id = $9`,
      ...answerValues(answer),
      tenant,
      id,
    );
  }

  async addSummary(tenant: string, thread: ThreadId, at: number, tokens: number): Promise<void> {
    await this.#connection.askOnce(
      'INSERT INTO bobbin_ledger.summaries VALUES ($1, $2, $3, $4)',
      tenant,
      thread,
      at,
      tokens,
    );
  }

  async addRounds(
    tenant: string,
    thread: ThreadId,
    at: number,
    { key, rounds }: HiddenRounds,
  ): Promise<void> {
    await this.#connection.askOnce(
      'INSERT INTO bobbin_ledger.rounds VALUES ($1, $2, $3, $4, $5)',
      tenant,
      key,
      at,
      thread,
      rounds,
    );
  }

  async rounds(tenant: string, keys: readonly string[]): Promise<readonly HiddenRounds[]> {
    return (await this.#connection.ask(
      `SELECT key, rounds FROM bobbin_ledger.rounds
       WHERE tenant = $1 AND key = ANY ($2) ORDER BY at DESC`,
      tenant,
      keys,
    )) as readonly HiddenRounds[];
  }

  async previous(
    tenant: string,
    thread: ThreadId,
    before: number,
  ): Promise<LedgerEntry | undefined> {
    const [row] = await this.#connection.ask(
      `SELECT * FROM bobbin_ledger.requests
       WHERE tenant = $1 AND thread = $2 AND at < $3 ORDER BY at DESC LIMIT 1`,
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
    await this.#begun(tenant, ids);
    const [row] = await this.#connection.ask(
      `SELECT r.thread, r.name, r.head, r.at, r.usage FROM bobbin_ledger.requests r
       WHERE r.tenant = $1 AND r.head = ANY ($2) AND ($3::text IS NULL OR r.name = $3 OR r.thread = $3)
       ORDER BY array_position($2, r.head) DESC, r.at DESC LIMIT 1`,
      tenant,
      ids,
      name ?? null,
    );
    return row === undefined ? undefined : placeOf(row as PlaceRow);
  }

  async entries(
    tenant: string,
    thread: ThreadId,
    after: number = 0,
  ): Promise<readonly LedgerEntry[]> {
    const rows = await this.#connection.ask(
      'SELECT * FROM bobbin_ledger.requests WHERE tenant = $1 AND thread = $2 AND at > $3 ORDER BY at',
      tenant,
      thread,
      after,
    );
    return (rows as readonly LedgerRow[]).map(entryOf);
  }

  async sum(tenant?: string, thread?: ThreadId, since: number = 0): Promise<LedgerSum> {
    const where =
      '($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR thread = $2) AND at >= $3';
    const values = [tenant ?? null, thread ?? null, since];
    const [row] = await this.#connection.ask(
      `SELECT count(*) FILTER (WHERE tool_round = 0) AS requests, sum(tool_round) AS tool_rounds,
         count(*) FILTER (WHERE action IN ('compacted', 'retried')) AS compactions,
         ${sumOfUsage('inputTokens')} AS fresh, ${sumOfUsage('cacheWriteTokens')} AS cache_write,
         ${sumOfUsage('cacheReadTokens')} AS cache_read, ${sumOfUsage('outputTokens')} AS output,
         sum(paid) AS paid, sum(whole) AS whole
       FROM bobbin_ledger.requests WHERE ${where}`,
      ...values,
    );
    const [summaries] = await this.#connection.ask(
      `SELECT coalesce(sum(tokens), 0) AS tokens FROM bobbin_ledger.summaries WHERE ${where}`,
      ...values,
    );
    return sumOf(row as SumRow, (summaries as { tokens: number }).tokens);
  }

  async threads(tenant: string): Promise<readonly NotedThread[]> {
    const rows = (await this.#connection.ask(
      `SELECT thread, max(at) AS at FROM (
         SELECT thread, at FROM bobbin_ledger.requests WHERE tenant = $1 AND thread IS NOT NULL
         UNION ALL SELECT thread, at FROM bobbin_ledger.summaries WHERE tenant = $1
         UNION ALL SELECT thread, at FROM bobbin_ledger.rounds WHERE tenant = $1
       ) notes GROUP BY thread`,
      tenant,
    )) as readonly { thread: ThreadId; at: string }[];
    return rows.map(({ thread, at }) => ({ thread, at: Number(at) }));
  }

  async delete({ tenant, threads }: Erasure): Promise<void> {
    for (const table of ['requests', 'summaries', 'rounds'])
      await this.#connection.ask(
        `DELETE FROM bobbin_ledger.${table} WHERE tenant = $1 AND ($2::text[] IS NULL OR thread = ANY ($2))`,
        tenant,
        threads ?? null,
      );
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
