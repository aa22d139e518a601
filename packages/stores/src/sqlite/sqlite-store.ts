import { createHash } from 'node:crypto';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  assertKey,
  assertName,
  nearestVectors,
  noParent,
  outsideParents,
  searchText,
  wordsOf,
  type CompactionEvent,
  type Found,
  type MessageId,
  type MessageVector,
  type Node,
  type Plan,
  type Store,
  type StoredEvent,
  type StoredPlan,
  type StoredWindow,
  type ThreadEntry,
  type ThreadId,
  type ThreadKey,
} from '@bobbin/core';
import { nodeOf, opensTurn, rowOf, type MessageRow } from '../message-row.ts';
import { causeText, StoreError } from '../store-error.ts';
import { planReach, windowFrom, type WindowRow } from '../window.ts';
import { migrate } from './schema.ts';

export interface SqliteOptions {
  /**
   * `full` (the default): what is acknowledged survives a power failure. `normal`: it survives the death of the
   * process, and a power failure takes back the newest commits as a whole.
   */
  readonly sync?: 'full' | 'normal';
}

const BUSY_MS = 30_000;
const NODES_AT_ONCE = 500;

/** Keeps threads in one SQLite file, with as many processes as there are on one machine. */
export function sqliteStore(path: string, options: SqliteOptions = {}): Store {
  return located(path, () => new SqliteStore(path, options));
}

class SqliteStore implements Store {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, { sync = 'full' }: SqliteOptions) {
    this.#path = path;
    this.#database = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${sync}`);
      migrate(this.#database, path);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  async append(key: ThreadKey, nodes: readonly Node[]): Promise<void> {
    const head = nodes.at(-1);
    if (head === undefined) return;
    this.#atomically(() => {
      if (!this.#follow(key, nodes, head)) this.#branch(key, nodes, head);
      for (const node of nodes) {
        const row = rowOf(node);
        this.#run(
          `INSERT INTO messages (tenant, thread, id, parent, position, turn, opens_turn, message)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          key.tenant,
          key.thread,
          row.id,
          row.parent,
          row.position,
          row.turn,
          Number(opensTurn(node)),
          row.message,
        );
      }
    });
  }

  /** The usual case in one statement: what comes follows the thread's head. */
  #follow(key: ThreadKey, nodes: readonly Node[], head: Node): boolean {
    const parents = outsideParents(nodes);
    const [parent] = parents;
    if (parent === undefined || parents.length > 1) return false;
    const changed = this.#run(
      `UPDATE threads SET head = ?, length = ? WHERE tenant = ? AND thread = ? AND head = ?`,
      head.id,
      head.index + 1,
      ...idsOf(key),
      parent,
    );
    return changed === 1;
  }

  /** A new thread, a fork, or messages that were there already. */
  #branch(key: ThreadKey, nodes: readonly Node[], head: Node): void {
    for (const parent of outsideParents(nodes)) {
      const sql = 'SELECT 1 FROM messages WHERE tenant = ? AND thread = ? AND id = ?';
      if (this.#all(sql, ...idsOf(key), parent).length === 0)
        throw new RangeError(noParent(key.thread, parent));
    }
    this.#run(
      `INSERT INTO threads (tenant, thread, head, length) VALUES (?, ?, ?, ?)
       ON CONFLICT (tenant, thread) DO UPDATE SET head = excluded.head, length = excluded.length`,
      ...idsOf(key),
      head.id,
      head.index + 1,
    );
  }

  async window(key: ThreadKey, head?: MessageId): Promise<StoredWindow | undefined> {
    const rows = this.#all(WINDOW, ...idsOf(key), head ?? null) as readonly WindowRow[];
    return windowFrom(rows, this.#where(key), {
      path: (from) => this.path(key, from),
      plan: (version) => this.plan(key, version),
    });
  }

  async path(key: ThreadKey, head: MessageId, from: number = 0): Promise<readonly Node[]> {
    return this.#nodes(
      key,
      `${PATH} WHERE m.position >= ?4 ORDER BY m.position`,
      ...idsOf(key),
      head,
      from,
    );
  }

  async turns(key: ThreadKey, head: MessageId): Promise<readonly Node[]> {
    const sql = `${PATH} WHERE m.opens_turn = 1 ORDER BY m.position`;
    return this.#nodes(key, sql, ...idsOf(key), head, 0);
  }

  async *nodes(key: ThreadKey): AsyncIterable<readonly Node[]> {
    for (let after = 0; ;) {
      const rows = this.#all(
        `SELECT * FROM messages WHERE tenant = ? AND thread = ? AND number > ? ORDER BY number LIMIT ?`,
        ...idsOf(key),
        after,
        NODES_AT_ONCE,
      ) as readonly (MessageRow & { number: number })[];
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows.map((row) => nodeOf(row, this.#where(key)));
      after = last.number;
    }
  }

  async heads(key: ThreadKey): Promise<readonly MessageId[]> {
    return (
      this.#all(
        `SELECT id FROM messages m
       WHERE tenant = ?1 AND thread = ?2 AND (
         id = (SELECT head FROM threads WHERE tenant = ?1 AND thread = ?2)
         OR id NOT IN (SELECT parent FROM messages WHERE tenant = ?1 AND thread = ?2 AND parent IS NOT NULL))
       ORDER BY id = (SELECT head FROM threads WHERE tenant = ?1 AND thread = ?2) DESC, number DESC`,
        ...idsOf(key),
      ) as readonly { id: MessageId }[]
    ).map(({ id }) => id);
  }

  async threads(tenant: string, most: number, after?: ThreadId): Promise<readonly ThreadEntry[]> {
    assertName(tenant);
    return (
      this.#all(
        `SELECT thread, head, length, version FROM threads
         WHERE tenant = ? AND thread ${after === undefined ? '>=' : '>'} ? ORDER BY thread LIMIT ?`,
        tenant,
        after ?? '',
        most,
      ) as readonly ThreadEntry[]
    ).map((row) => ({ ...row }));
  }

  async tenants(): Promise<readonly string[]> {
    const rows = this.#all('SELECT DISTINCT tenant FROM threads ORDER BY tenant');
    return (rows as readonly { tenant: string }[]).map(({ tenant }) => tenant);
  }

  async plan(key: ThreadKey, version: number): Promise<StoredPlan | undefined> {
    const [row] = this.#all(
      `SELECT plan FROM plans WHERE tenant = ? AND thread = ? AND version = ?`,
      ...idsOf(key),
      version,
    ) as readonly { plan: string }[];
    return row === undefined ? undefined : { plan: JSON.parse(row.plan) as Plan, version };
  }

  async commit(
    key: ThreadKey,
    plan: Plan,
    expectedVersion: number,
    events: readonly CompactionEvent[],
  ): Promise<boolean> {
    return this.#atomically(() => {
      const changed = this.#run(
        `UPDATE threads SET version = version + 1 WHERE tenant = ? AND thread = ? AND version = ?`,
        ...idsOf(key),
        expectedVersion,
      );
      if (changed === 0) return false;
      const version = expectedVersion + 1;
      this.#run(
        `INSERT INTO plans (tenant, thread, version, head, reach, plan) VALUES (?, ?, ?, ?, ?, ?)`,
        ...idsOf(key),
        version,
        plan.head,
        planReach(plan),
        JSON.stringify(plan),
      );
      this.#insertEvents(key, version, events);
      this.#index(key, plan);
      return true;
    });
  }

  async record(key: ThreadKey, events: readonly CompactionEvent[]): Promise<void> {
    this.#atomically(() => this.#insertEvents(key, 0, events));
  }

  async events(key: ThreadKey, after: number = 0): Promise<readonly StoredEvent[]> {
    return (
      this.#all(
        `SELECT sequence, version, event FROM events
       WHERE tenant = ? AND thread = ? AND sequence > ? ORDER BY sequence`,
        ...idsOf(key),
        after,
      ) as readonly { sequence: number; version: number; event: string }[]
    ).map((row) => ({ ...row, event: JSON.parse(row.event) as CompactionEvent }));
  }

  async search(key: ThreadKey, words: readonly string[], most: number): Promise<readonly Found[]> {
    if (words.length === 0) return [];
    const any = words.map((word) => `"${word.replaceAll('"', '')}"`).join(' OR ');
    return (
      this.#all(
        `SELECT m.*, -bm25(recall, 0.0, 1.0) AS score FROM recall CROSS JOIN messages m ON m.number = recall.rowid
       WHERE recall MATCH ? AND m.tenant = ? AND m.thread = ? ORDER BY score DESC, m.number LIMIT ?`,
        `scope : "${scopeOf(key)}" AND words : (${any})`,
        ...idsOf(key),
        most,
      ) as readonly (MessageRow & { score: number })[]
    ).map((row) => ({ node: nodeOf(row, this.#where(key)), score: row.score }));
  }

  async nearest(
    key: ThreadKey,
    embedder: string,
    vector: readonly number[],
    most: number,
  ): Promise<readonly Found[]> {
    const rows = this.#all(
      `SELECT id, vector FROM vectors WHERE tenant = ? AND thread = ? AND embedder = ?`,
      ...idsOf(key),
      embedder,
    ) as readonly { id: string; vector: Uint8Array }[];
    const best = nearestVectors(
      rows.map(({ id, vector: bytes }) => [id, numbersOf(bytes)] as const),
      vector,
      most,
    );
    const sql = `SELECT * FROM messages WHERE tenant = ? AND thread = ? AND id = ?`;
    return best.flatMap(({ id, score }) =>
      this.#nodes(key, sql, ...idsOf(key), id).map((node) => ({ node, score })),
    );
  }

  async unembedded(key: ThreadKey, embedder: string, most: number): Promise<readonly Node[]> {
    return this.#nodes(
      key,
      `SELECT m.* FROM compacted c CROSS JOIN messages m ON m.number = c.number
       WHERE c.tenant = ?1 AND c.thread = ?2 AND c.id NOT IN (
         SELECT id FROM vectors WHERE tenant = ?1 AND thread = ?2 AND embedder = ?3)
       ORDER BY c.number LIMIT ?4`,
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
    this.#atomically(() => {
      for (const { id, vector } of vectors) {
        this.#run(
          `INSERT INTO vectors (tenant, thread, embedder, id, vector)
           SELECT tenant, thread, ?3, id, ?5 FROM compacted WHERE tenant = ?1 AND thread = ?2 AND id = ?4
           ON CONFLICT DO UPDATE SET vector = excluded.vector`,
          ...idsOf(key),
          embedder,
          id,
          new Uint8Array(Float32Array.from(vector).buffer),
        );
      }
    });
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }

  #insertEvents(key: ThreadKey, version: number, events: readonly CompactionEvent[]): void {
    if (events.length === 0) return;
    const [thread] = this.#all(
      `UPDATE threads SET events = events + ? WHERE tenant = ? AND thread = ? RETURNING events`,
      events.length,
      ...idsOf(key),
    ) as readonly { events: number }[];
    if (thread === undefined) return;
    events.forEach((event, i) => {
      this.#run(
        `INSERT INTO events (tenant, thread, sequence, version, event) VALUES (?, ?, ?, ?, ?)`,
        ...idsOf(key),
        thread.events - events.length + i + 1,
        version,
        JSON.stringify(event),
      );
    });
  }

  /** Makes what a plan compacts searchable, each message once. */
  #index(key: ThreadKey, plan: Plan): void {
    const ids = plan.records.flatMap(({ span }) => span.ids);
    const fresh = this.#all(
      `SELECT m.* FROM json_each(?3) span CROSS JOIN messages m ON m.tenant = ?1 AND m.thread = ?2 AND m.id = span.value
       WHERE NOT EXISTS (
         SELECT 1 FROM compacted c WHERE c.tenant = ?1 AND c.thread = ?2 AND c.id = span.value)`,
      ...idsOf(key),
      JSON.stringify(ids),
    ) as readonly (MessageRow & { number: number })[];
    for (const row of fresh) {
      const { message } = nodeOf(row, this.#where(key));
      const words = wordsOf(searchText(message)).join(' ');
      this.#run(
        `INSERT INTO compacted (tenant, thread, id, number) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        ...idsOf(key),
        row.id,
        row.number,
      );
      this.#run(
        `INSERT INTO recall (rowid, scope, words) VALUES (?, ?, ?)`,
        row.number,
        scopeOf(key),
        words,
      );
    }
  }

  #nodes(key: ThreadKey, sql: string, ...values: readonly SQLInputValue[]): readonly Node[] {
    return (this.#all(sql, ...values) as readonly MessageRow[]).map((row) =>
      nodeOf(row, this.#where(key)),
    );
  }

  #all(sql: string, ...values: readonly SQLInputValue[]): readonly unknown[] {
    return located(this.#path, () => this.#statement(sql).all(...values));
  }

  #run(sql: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  #statement(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Takes the write lock first, so that a transaction never fails half-way for want of it. */
  #atomically<T>(work: () => T): T {
    return located(this.#path, () => {
      this.#run('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.#run('COMMIT');
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  #where({ thread }: ThreadKey): string {
    return `${this.#path}, thread ${thread}`;
  }
}

/**
 * Walks from a head towards the root; each step is one look-up by key, so that it costs what it returns. A CROSS JOIN
 * keeps the order of its tables: left to itself, SQLite scans the whole thread for each step.
 */
const STEPS = `
  steps (number, parent, position) AS (
    SELECT number, parent, position FROM messages WHERE tenant = ?1 AND thread = ?2 AND id = HEAD
    UNION ALL
    SELECT m.number, m.parent, m.position FROM steps s
    CROSS JOIN messages m ON m.tenant = ?1 AND m.thread = ?2 AND m.id = s.parent
    WHERE s.position > FLOOR
  )`;

const PATH = `WITH RECURSIVE ${STEPS.replace('HEAD', '?3').replace('FLOOR', '?4')}
  SELECT m.* FROM steps s CROSS JOIN messages m ON m.number = s.number`;

/** The thread, its newest plan, what that carries and the path that it shows, in one query. */
const WINDOW = `
  WITH RECURSIVE newest AS (
    SELECT version, head, reach, plan FROM plans WHERE tenant = ?1 AND thread = ?2 ORDER BY version DESC LIMIT 1
  ),
  ${STEPS.replace(
    'HEAD',
    'coalesce(?3, (SELECT head FROM threads WHERE tenant = ?1 AND thread = ?2))',
  ).replace('FLOOR', 'coalesce((SELECT reach FROM newest), 0)')}
  SELECT 'plan' AS kind, '' AS id, head AS parent, version AS position, 0 AS turn, plan AS message FROM newest
  UNION ALL
  SELECT 'carried', m.id, m.parent, m.position, m.turn, m.message
  FROM newest CROSS JOIN json_each(newest.plan, '$.carried') c
  CROSS JOIN messages m ON m.tenant = ?1 AND m.thread = ?2 AND m.id = c.value ->> 'id'
  UNION ALL
  SELECT 'path', m.id, m.parent, m.position, m.turn, m.message
  FROM steps s CROSS JOIN messages m ON m.number = s.number`;

function idsOf(key: ThreadKey): [tenant: string, thread: string] {
  assertKey(key);
  const { tenant, thread } = key;
  return [tenant, thread];
}

/** One word for a thread of a tenant, so that the index looks at no other's texts. */
function scopeOf({ tenant, thread }: ThreadKey): string {
  return createHash('sha256').update(`${tenant}\0${thread}`).digest('hex').slice(0, 32);
}

function numbersOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
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
