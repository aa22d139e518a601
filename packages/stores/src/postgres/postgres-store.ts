import postgres, { type Sql } from 'postgres';
import type { CompactionEvent, MessageId, Plan, Store, ThreadId } from '@bobbin/core';
import {
  assertKey,
  assertName,
  nearestVectors,
  noParent,
  outsideParents,
  searchText,
  wordsOf,
  type Found,
  type MessageVector,
  type Node,
  type StoredEvent,
  type StoredPlan,
  type StoredWindow,
  type ThreadEntry,
  type ThreadKey,
} from '@bobbin/core/internal';
import { nodeOf, opensTurn, rowOf, type MessageRow } from '../message-row.ts';
import { eventOf, planOf } from '../plan-text.ts';
import { StoreError } from '../store-error.ts';
import { ARRAYS } from './array-type.ts';
import { tsquery, tsvector } from './full-text.ts';
import { located, reliably, transact } from './lost-connection.ts';
import { News } from './news.ts';
import { assertPresent, migrate } from './schema.ts';
import { windowFrom, type WindowRow } from './window-row.ts';

export interface PostgresOptions {
  /** How many connections this process may have at once. */
  readonly connections?: number;
  /** The store must be there already, in the present schema: opening it makes and changes nothing. */
  readonly existing?: boolean;
}

export type ThreadNews =
  /** A thread's events up to a sequence number can be read now. */
  | { readonly kind: 'events'; readonly thread: ThreadId; readonly sequence: number }
  /** Something may have happened in any thread: read again what matters. */
  | { readonly kind: 'missed' };

/** A store that many processes on many machines share. */
export interface PostgresStore extends Store {
  /** Tells of events in a tenant's threads as they are committed, by any process, until it is stopped. */
  watch(tenant: string, listener: (news: ThreadNews) => void): Promise<() => Promise<void>>;
}

const NODES_AT_ONCE = 500;
const HEAD = '(SELECT head FROM bobbin.threads WHERE tenant = $1 AND thread = $2)';

/** Opens a database, and brings its schema up to date where the role may do so. */
export async function postgresStore(
  url: string,
  options: PostgresOptions = {},
): Promise<PostgresStore> {
  const sql = await reliably(() => opened(url, options));
  return new PostgresThreads(sql, new News(url));
}

async function opened(
  url: string,
  { connections = 10, existing = false }: PostgresOptions,
): Promise<Sql> {
  const sql = postgres(url, {
    max: connections,
    onnotice: () => undefined,
    // Where the connection is lost while the driver asks for the types of arrays, it never answers the query behind that.
    fetch_types: false,
    types: ARRAYS,
  });
  try {
    await (existing ? assertPresent(sql) : migrate(sql));
    return sql;
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw error;
  }
}

class PostgresThreads implements PostgresStore {
  readonly #sql: Sql;
  readonly #news: News;

  constructor(sql: Sql, news: News) {
    this.#sql = sql;
    this.#news = news;
  }

  async append(key: ThreadKey, nodes: readonly Node[]): Promise<void> {
    if (nodes.length === 0) return;
    const rows = nodes.map(rowOf);
    const [row] = (await this.#ask(
      'SELECT bobbin.append($1, $2, $3, $4, $5, $6, $7, $8, $9) AS missing',
      ...idsOf(key),
      outsideParents(nodes),
      rows.map(({ id }) => id),
      rows.map(({ parent }) => parent),
      rows.map(({ position }) => position),
      rows.map(({ turn }) => turn),
      nodes.map((node) => Number(opensTurn(node))),
      rows.map(({ message }) => message),
    )) as readonly { missing: MessageId | null }[];
    const missing = row?.missing ?? null;
    if (missing !== null) throw new RangeError(noParent(key.thread, missing));
  }

  async window(key: ThreadKey, head?: MessageId): Promise<StoredWindow | undefined> {
    const rows = (await this.#ask(
      'SELECT * FROM bobbin.window_of($1, $2, $3)',
      ...idsOf(key),
      head ?? null,
    )) as readonly WindowRow[];
    return windowFrom(rows, whereOf(key));
  }

  async path(key: ThreadKey, head: MessageId, from: number = 0): Promise<readonly Node[]> {
    return this.#nodes(
      key,
      'SELECT * FROM bobbin.path($1, $2, $3, $4) ORDER BY position',
      ...idsOf(key),
      head,
      from,
    );
  }

  async turns(key: ThreadKey, head: MessageId): Promise<readonly Node[]> {
    return this.#nodes(
      key,
      'SELECT * FROM bobbin.path($1, $2, $3, 0) WHERE opens_turn ORDER BY position',
      ...idsOf(key),
      head,
    );
  }

  /** Their ids are put in order once, not for each part. */
  async *nodes(key: ThreadKey): AsyncIterable<readonly Node[]> {
    const rows = (await this.#askAs(
      key.tenant,
      'SELECT id FROM bobbin.messages WHERE tenant = $1 AND thread = $2 ORDER BY position, id',
      ...idsOf(key),
    )) as readonly { id: MessageId }[];
    const ids = rows.map(({ id }) => id);
    for (let from = 0; from < ids.length; from += NODES_AT_ONCE)
      yield this.#nodesAs(
        key,
        `SELECT * FROM bobbin.messages
         WHERE tenant = $1 AND thread = $2 AND id = ANY ($3) ORDER BY position, id`,
        ...idsOf(key),
        ids.slice(from, from + NODES_AT_ONCE),
      );
  }

  async heads(key: ThreadKey): Promise<readonly MessageId[]> {
    const rows = await this.#askAs(
      key.tenant,
      `SELECT m.id FROM bobbin.messages m
       WHERE m.tenant = $1 AND m.thread = $2 AND (m.id = ${HEAD} OR m.id NOT IN (
         SELECT c.parent FROM bobbin.messages c WHERE c.tenant = $1 AND c.thread = $2 AND c.parent IS NOT NULL))
       ORDER BY m.id = ${HEAD} DESC, m.position DESC`,
      ...idsOf(key),
    );
    return (rows as readonly { id: MessageId }[]).map(({ id }) => id);
  }

  async threads(tenant: string, most: number, after?: ThreadId): Promise<readonly ThreadEntry[]> {
    assertName(tenant);
    const rows = await this.#askAs(
      tenant,
      `SELECT thread, head, length, version FROM bobbin.threads
       WHERE tenant = $1 AND thread ${after === undefined ? '>=' : '>'} $2 ORDER BY thread LIMIT $3`,
      tenant,
      after ?? '',
      most,
    );
    return (rows as readonly ThreadEntry[]).map((row) => ({ ...row }));
  }

  /** A role that row-level security binds would see none of them, and take that for an empty store. */
  async tenants(): Promise<readonly string[]> {
    const [role] = (await this.#ask(
      `SELECT row_security_active('bobbin.threads') AS bound, current_user AS name`,
    )) as readonly { bound: boolean; name: string }[];
    if (role?.bound === true)
      throw new StoreError(
        'unavailable',
        `postgres: row-level security shows role ${role.name} one tenant at a time: name the tenants, or use a role with BYPASSRLS`,
      );
    const rows = await this.#ask('SELECT DISTINCT tenant FROM bobbin.threads ORDER BY tenant');
    return (rows as readonly { tenant: string }[]).map(({ tenant }) => tenant);
  }

  async plan(key: ThreadKey, version: number): Promise<StoredPlan | undefined> {
    const [row] = (await this.#askAs(
      key.tenant,
      'SELECT plan FROM bobbin.plans WHERE tenant = $1 AND thread = $2 AND version = $3',
      ...idsOf(key),
      version,
    )) as readonly { plan: string }[];
    return row === undefined
      ? undefined
      : { plan: planOf(row.plan, whereOf(key), version), version };
  }

  async commit(
    key: ThreadKey,
    plan: Plan,
    expectedVersion: number,
    events: readonly CompactionEvent[],
  ): Promise<boolean> {
    const fresh = await this.#nodes(
      key,
      'SELECT * FROM bobbin.not_indexed($1, $2, $3)',
      ...idsOf(key),
      plan.records.flatMap(({ span }) => span.ids),
    );
    const [row] = (await this.#once(
      'SELECT bobbin.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS won',
      ...idsOf(key),
      expectedVersion,
      plan.head,
      plan.start,
      plan.carried.map(({ id }) => id),
      JSON.stringify(plan),
      events.map((event) => JSON.stringify(event)),
      fresh.map(({ id }) => id),
      fresh.map(({ message }) => tsvector(wordsOf(searchText(message)))),
    )) as readonly { won: boolean }[];
    return row?.won === true;
  }

  async record(key: ThreadKey, events: readonly CompactionEvent[]): Promise<void> {
    const texts = events.map((event) => JSON.stringify(event));
    await this.#once('SELECT bobbin.add_events($1, $2, 0, $3)', ...idsOf(key), texts);
  }

  async events(key: ThreadKey, after: number = 0): Promise<readonly StoredEvent[]> {
    const rows = (await this.#askAs(
      key.tenant,
      `SELECT sequence, version, event FROM bobbin.events
       WHERE tenant = $1 AND thread = $2 AND sequence > $3 ORDER BY sequence`,
      ...idsOf(key),
      after,
    )) as readonly { sequence: number; version: number; event: string }[];
    return rows.map(({ sequence, version, event }) => ({
      sequence,
      version,
      event: eventOf(event, whereOf(key), sequence),
    }));
  }

  async search(
    key: ThreadKey,
    words: readonly string[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    if (words.length === 0) return [];
    const rows = (await this.#ask(
      'SELECT * FROM bobbin.search($1, $2, $3, $4, $5)',
      ...idsOf(key),
      tsquery(words),
      most,
      head ?? null,
    )) as readonly (MessageRow & { score: number })[];
    return rows.map((row) => ({ node: nodeOf(row, whereOf(key)), score: row.score }));
  }

  async nearest(
    key: ThreadKey,
    embedder: string,
    vector: readonly number[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    const rows = (await this.#askAs(
      key.tenant,
      'SELECT id, vector FROM bobbin.vectors WHERE tenant = $1 AND thread = $2 AND embedder = $3',
      ...idsOf(key),
      embedder,
    )) as readonly { id: MessageId; vector: Uint8Array }[];
    const vectors = rows.map((row) => [row.id, numbersOf(row.vector)] as const);
    const scored = nearestVectors(vectors, vector);
    const scores = new Map(scored.map(({ id, score }) => [id, score]));
    const nodes = await this.#nodes(
      key,
      'SELECT * FROM bobbin.first_on_path($1, $2, $3, $4, $5)',
      ...idsOf(key),
      scored.map(({ id }) => id),
      most,
      head ?? null,
    );
    return nodes.map((node) => ({ node, score: scores.get(node.id) ?? 0 }));
  }

  async unembedded(key: ThreadKey, embedder: string, most: number): Promise<readonly Node[]> {
    return this.#nodes(
      key,
      'SELECT * FROM bobbin.not_embedded($1, $2, $3, $4)',
      ...idsOf(key),
      embedder,
      most,
    );
  }

  async keepVectors(
    key: ThreadKey,
    embedder: string,
    vectors: readonly MessageVector[],
  ): Promise<void> {
    if (vectors.length === 0) return;
    await this.#askAs(
      key.tenant,
      `INSERT INTO bobbin.vectors (tenant, thread, embedder, id, vector)
       SELECT $1, $2, $3, v.id, decode(v.vector, 'hex') FROM unnest($4::text[], $5::text[]) AS v (id, vector)
       WHERE (SELECT 1 FROM bobbin.recall r WHERE r.tenant = $1 AND r.thread = $2 AND r.id = v.id LIMIT 1) = 1
       ON CONFLICT (tenant, thread, embedder, id) DO UPDATE SET vector = excluded.vector`,
      ...idsOf(key),
      embedder,
      vectors.map(({ id }) => id),
      vectors.map(({ vector }) => Buffer.from(Float32Array.from(vector).buffer).toString('hex')),
    );
  }

  async watch(tenant: string, listener: (news: ThreadNews) => void): Promise<() => Promise<void>> {
    assertName(tenant);
    const [row] = (await this.#ask(`SELECT 'bobbin_' || md5($1) AS channel`, tenant)) as readonly {
      channel: string;
    }[];
    const hearing = this.#news.hear(row?.channel ?? '', (payload) => listener(newsOf(payload)));
    return hearing.catch((error: unknown) => {
      throw located(error);
    });
  }

  async close(): Promise<void> {
    await this.#news.close();
    await this.#sql.end();
  }

  async #nodes(
    key: ThreadKey,
    query: string,
    ...values: readonly Value[]
  ): Promise<readonly Node[]> {
    const rows = (await this.#ask(query, ...values)) as readonly MessageRow[];
    return rows.map((row) => nodeOf(row, whereOf(key)));
  }

  async #nodesAs(
    key: ThreadKey,
    query: string,
    ...values: readonly Value[]
  ): Promise<readonly Node[]> {
    const rows = (await this.#askAs(key.tenant, query, ...values)) as readonly MessageRow[];
    return rows.map((row) => nodeOf(row, whereOf(key)));
  }

  /** One query in one round trip, which may be repeated: a read, or a write that changes nothing the second time. */
  #ask(query: string, ...values: readonly Value[]): Promise<readonly unknown[]> {
    return reliably(() => this.#sql.unsafe(query, values as never[], { prepare: true }));
  }

  /** One query that must not be repeated. */
  async #once(query: string, ...values: readonly Value[]): Promise<readonly unknown[]> {
    try {
      return await this.#sql.unsafe(query, values as never[], { prepare: true });
    } catch (error) {
      throw located(error);
    }
  }

  /** A query that is no function of ours: the tenant is named before it, in the same transaction. */
  #askAs(tenant: string, query: string, ...values: readonly Value[]): Promise<readonly unknown[]> {
    return reliably(() =>
      transact(this.#sql, async (transaction) => {
        const [, rows] = await Promise.all([
          transaction`SELECT bobbin.act_for(${tenant})`,
          transaction.unsafe(query, values as never[], { prepare: true }),
        ]);
        return rows as readonly unknown[];
      }),
    );
  }
}

type Value = string | number | null | readonly (string | number | null)[];

function idsOf(key: ThreadKey): [tenant: string, thread: string] {
  assertKey(key);
  const { tenant, thread } = key;
  return [tenant, thread];
}

function whereOf({ thread }: ThreadKey): string {
  return `postgres, thread ${thread}`;
}

function numbersOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

function newsOf(payload: string | undefined): ThreadNews {
  const { thread, sequence } = JSON.parse(payload ?? '{}') as {
    thread?: ThreadId | null;
    sequence?: number;
  };
  return typeof thread === 'string' && sequence !== undefined
    ? { kind: 'events', thread, sequence }
    : { kind: 'missed' };
}
