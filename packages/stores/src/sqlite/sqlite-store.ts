import type { CompactionEvent, MessageId, Plan, ThreadId } from '@bobbin/core';
import {
  assertNames,
  noParent,
  planArtifacts,
  type Appended,
  type AppendOptions,
  type ArtifactId,
  type Erasure,
  type ErasureOptions,
  type Found,
  type FoundInThread,
  type MessageVector,
  type Node,
  type StoredEvent,
  type StoredPlan,
  type StoredWindow,
  type ThreadEntry,
  type ThreadKey,
  jsonText,
} from '@bobbin/core/internal';
import { appendInParts } from '../append-parts.ts';
import type { Blobs } from '../artifacts/blobs.ts';
import { moveCold, type TieredStore } from '../cold/move-cold.ts';
import { opensTurn, rowOf, type MessageRow } from '../message-row.ts';
import { eventOf } from '../plan-text.ts';
import { namesOf } from '../threads-of.ts';
import type { CheckableStore } from '../verify-store.ts';
import { Ancestry } from './ancestry.ts';
import { Database } from './database.ts';
import type { SqliteOptions } from './sqlite-options.ts';
import { artifactsIn, eraseThreads } from './erasure.ts';
import { MessageTexts } from './message-texts.ts';
import { PlanTable } from './plan-table.ts';
import { RecallTable } from './recall-table.ts';
import { idsOf, whereOf } from './thread-row.ts';
import type { SQLInputValue } from 'node:sqlite';

const NODES_AT_ONCE = 500;

/** Keeps threads in one SQLite file, with as many processes as there are on one machine. */
export function sqliteStore(path: string, options: SqliteOptions = {}): TieredStore {
  return new SqliteStore(new Database(path, options), options.cold);
}

class SqliteStore implements CheckableStore, TieredStore {
  readonly #database: Database;
  readonly #ancestry: Ancestry;
  readonly #plans: PlanTable;
  readonly #texts: MessageTexts;
  readonly #recall: RecallTable;

  constructor(database: Database, cold: Blobs | undefined) {
    this.#database = database;
    this.#ancestry = new Ancestry(database);
    this.#plans = new PlanTable(database, this.#ancestry);
    this.#texts = new MessageTexts(database, cold);
    this.#recall = new RecallTable(database, this.#ancestry, this.#texts);
  }

  append(key: ThreadKey, nodes: readonly Node[], options: AppendOptions = {}): Promise<Appended> {
    return appendInParts(nodes, options, (part, needed, each) =>
      this.#append(key, part, needed, each),
    );
  }

  async #append(
    key: ThreadKey,
    nodes: readonly Node[],
    needed: readonly MessageId[],
    options: AppendOptions,
  ): Promise<Appended> {
    const [head, ids] = [nodes.at(-1) as Node, idsOf(key)];
    const written = await this.#database.atomically(() => {
      const conflict = this.#conflict(key, head, options);
      if (conflict !== undefined) return conflict;
      if (!this.#follow(key, needed, head)) this.#branch(key, needed, head);
      const fresh = this.#ancestry.stepsOf(key, nodes);
      for (const node of nodes) {
        const row = rowOf(node);
        this.#database.run(
          `INSERT INTO messages (tenant, thread, id, parent, position, turn, opens_turn, message, jump)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          ...ids,
          row.id,
          row.parent,
          row.position,
          row.turn,
          Number(opensTurn(node)),
          row.message,
          fresh.get(node.id)?.jump ?? null,
        );
      }
      return fresh;
    });
    if ('kind' in written) return written;
    for (const step of written.values()) this.#ancestry.know(key, step);
    return { kind: 'appended' };
  }

  #conflict(
    key: ThreadKey,
    last: Node,
    { expectedHead }: AppendOptions,
  ): (Appended & { kind: 'conflict' }) | undefined {
    if (expectedHead === undefined) return undefined;
    const row = this.#database.get(
      'SELECT head FROM threads WHERE tenant = ? AND thread = ?',
      ...idsOf(key),
    ) as { head: MessageId } | undefined;
    const head = row?.head ?? null;
    return head === expectedHead || head === last.id ? undefined : { kind: 'conflict', head };
  }

  /** The usual case in one statement: what comes follows the thread's head. */
  #follow(key: ThreadKey, needed: readonly MessageId[], head: Node): boolean {
    const [parent] = needed;
    if (parent === undefined || needed.length > 1) return false;
    const changed = this.#database.run(
      `UPDATE threads SET head = ?, length = ?, changed_at = ? WHERE tenant = ? AND thread = ? AND head = ?`,
      head.id,
      head.index + 1,
      Date.now(),
      ...idsOf(key),
      parent,
    );
    return changed === 1;
  }

  /** A new thread, a fork, or messages that were there already. */
  #branch(key: ThreadKey, needed: readonly MessageId[], head: Node): void {
    for (const parent of needed)
      if (!this.#has(key, parent)) throw new RangeError(noParent(key.thread, parent));
    this.#database.run(
      `INSERT INTO threads (tenant, thread, head, length, changed_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (tenant, thread) DO UPDATE SET
         head = excluded.head, length = excluded.length, changed_at = excluded.changed_at`,
      ...idsOf(key),
      head.id,
      head.index + 1,
      Date.now(),
    );
  }

  /** Asks the file: another process may have erased what this one knows. */
  #has(key: ThreadKey, id: MessageId): boolean {
    const sql = 'SELECT 1 FROM messages WHERE tenant = ? AND thread = ? AND id = ?';
    return this.#database.get(sql, ...idsOf(key), id) !== undefined;
  }

  /** The thread's row first: a commit after it was read wins over what is decided on this window. */
  async window(key: ThreadKey, head?: MessageId): Promise<StoredWindow | undefined> {
    const thread = this.#database.get(
      'SELECT head, version FROM threads WHERE tenant = ? AND thread = ?',
      ...idsOf(key),
    ) as { head: MessageId; version: number } | undefined;
    const end = thread && this.#ancestry.step(key, head ?? thread.head);
    if (thread === undefined || end === undefined) return undefined;
    const { version } = thread;
    const current = this.#plans.current(key, end, version);
    const carried = (current?.plan.carried ?? []).map(({ id }) => id);
    return {
      carried: await this.#nodes(
        key,
        `SELECT m.* FROM json_each(?3) c CROSS JOIN messages m
         ON m.tenant = ?1 AND m.thread = ?2 AND m.id = c.value ORDER BY m.position`,
        ...idsOf(key),
        JSON.stringify(carried),
      ),
      tail: await this.path(key, end.id, current?.plan.start),
      current,
      version,
    };
  }

  async path(key: ThreadKey, head: MessageId, from: number = 0): Promise<readonly Node[]> {
    const sql = `${PATH} WHERE m.position >= ?4 ORDER BY m.position`;
    return this.#nodes(key, sql, ...idsOf(key), head, from);
  }

  async messages(key: ThreadKey, ids: readonly MessageId[]): Promise<readonly Node[]> {
    return this.#texts.nodes(await this.#texts.rows(key, ids), key);
  }

  async turns(key: ThreadKey, head: MessageId): Promise<readonly Node[]> {
    const sql = `${PATH} WHERE m.opens_turn = 1 ORDER BY m.position`;
    return this.#nodes(key, sql, ...idsOf(key), head, 0);
  }

  /** Their numbers are put in order once, not for each part. */
  async *nodes(key: ThreadKey): AsyncIterable<readonly Node[]> {
    const rows = this.#database.all(
      'SELECT number FROM messages WHERE tenant = ? AND thread = ? ORDER BY number',
      ...idsOf(key),
    ) as readonly { number: number }[];
    const numbers = rows.map(({ number }) => number);
    for (let from = 0; from < numbers.length; from += NODES_AT_ONCE)
      yield await this.#nodes(
        key,
        'SELECT m.* FROM json_each(?) n CROSS JOIN messages m ON m.number = n.value ORDER BY m.number',
        JSON.stringify(numbers.slice(from, from + NODES_AT_ONCE)),
      );
  }

  async heads(key: ThreadKey): Promise<readonly MessageId[]> {
    const rows = this.#database.all(
      `SELECT id FROM messages m
       WHERE tenant = ?1 AND thread = ?2 AND (
         id = (SELECT head FROM threads WHERE tenant = ?1 AND thread = ?2)
         OR id NOT IN (SELECT parent FROM messages WHERE tenant = ?1 AND thread = ?2 AND parent IS NOT NULL))
       ORDER BY id = (SELECT head FROM threads WHERE tenant = ?1 AND thread = ?2) DESC, number DESC`,
      ...idsOf(key),
    ) as readonly { id: MessageId }[];
    return rows.map(({ id }) => id);
  }

  async threads(tenant: string, most: number, after?: ThreadId): Promise<readonly ThreadEntry[]> {
    assertNames(tenant);
    const rows = this.#database.all(
      `SELECT thread, head, length, version, changed_at AS changedAt FROM threads
       WHERE tenant = ? AND thread ${after === undefined ? '>=' : '>'} ? ORDER BY thread LIMIT ?`,
      tenant,
      after ?? '',
      most,
    ) as readonly ThreadEntry[];
    return rows.map((row) => ({ ...row }));
  }

  async tenants(): Promise<readonly string[]> {
    const rows = this.#database.all('SELECT DISTINCT tenant FROM threads ORDER BY tenant');
    return (rows as readonly { tenant: string }[]).map(({ tenant }) => tenant);
  }

  async plan(key: ThreadKey, version: number): Promise<StoredPlan | undefined> {
    return this.#plans.get(key, version);
  }

  async commit(
    key: ThreadKey,
    plan: Plan,
    expectedVersion: number,
    events: readonly CompactionEvent[],
  ): Promise<boolean> {
    const ids = [...new Set(plan.records.flatMap(({ span }) => span.ids))];
    if (this.#versionOf(key) !== expectedVersion) return false;
    await this.#recall.addMost(key, ids);
    return this.#database.atomically(() => {
      const changed = this.#database.run(
        `UPDATE threads SET version = version + 1, changed_at = ? WHERE tenant = ? AND thread = ? AND version = ?`,
        Date.now(),
        ...idsOf(key),
        expectedVersion,
      );
      if (changed === 0) return false;
      const version = expectedVersion + 1;
      this.#database.run(
        'INSERT INTO plans (tenant, thread, version, head, artifacts, plan) VALUES (?, ?, ?, ?, ?, ?)',
        ...idsOf(key),
        version,
        plan.head,
        JSON.stringify([...planArtifacts(plan)]),
        jsonText(plan),
      );
      this.#insertEvents(key, version, events);
      this.#recall.add(key, ids);
      return true;
    });
  }

  #versionOf(key: ThreadKey): number | undefined {
    const sql = 'SELECT version FROM threads WHERE tenant = ? AND thread = ?';
    return (this.#database.get(sql, ...idsOf(key)) as { version: number } | undefined)?.version;
  }

  async record(key: ThreadKey, events: readonly CompactionEvent[]): Promise<void> {
    await this.#database.atomically(() => this.#insertEvents(key, 0, events));
  }

  async events(key: ThreadKey, after: number = 0): Promise<readonly StoredEvent[]> {
    const rows = this.#database.all(
      `SELECT sequence, version, event FROM events
       WHERE tenant = ? AND thread = ? AND sequence > ? ORDER BY sequence`,
      ...idsOf(key),
      after,
    ) as readonly { sequence: number; version: number; event: string }[];
    return rows.map(({ sequence, version, event }) => ({
      sequence,
      version,
      event: eventOf(event, this.#where(key), sequence),
    }));
  }

  #insertEvents(key: ThreadKey, version: number, events: readonly CompactionEvent[]): void {
    if (events.length === 0) return;
    const thread = this.#database.get(
      `UPDATE threads SET events = events + ?, changed_at = ? WHERE tenant = ? AND thread = ? RETURNING events`,
      events.length,
      Date.now(),
      ...idsOf(key),
    ) as { events: number } | undefined;
    if (thread === undefined) return;
    for (const [i, event] of events.entries())
      this.#database.run(
        'INSERT INTO events (tenant, thread, sequence, version, event) VALUES (?, ?, ?, ?, ?)',
        ...idsOf(key),
        thread.events - events.length + i + 1,
        version,
        jsonText(event),
      );
  }

  artifacts(tenant: string): AsyncIterable<readonly ArtifactId[]> {
    return artifactsIn(this.#database, tenant);
  }

  async delete(what: Erasure, options: ErasureOptions = {}): Promise<readonly ThreadId[]> {
    const { tenant, threads = namesOf(this, tenant) } = what;
    const erased = await eraseThreads(this.#database, this.#recall, tenant, threads, options);
    await this.#texts.cold?.sweep(what, () => namesOf(this, tenant));
    return erased;
  }

  moveCold(key: ThreadKey): Promise<number> {
    return moveCold(this, this.#texts, this.#texts.cold, key);
  }

  searchTenant(
    tenant: string,
    words: readonly string[],
    most: number,
  ): Promise<readonly FoundInThread[]> {
    return this.#recall.searchTenant(tenant, words, most);
  }

  search(
    key: ThreadKey,
    words: readonly string[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    return this.#recall.search(key, words, most, head);
  }

  nearest(
    key: ThreadKey,
    embedder: string,
    vector: readonly number[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    return this.#recall.nearest(key, embedder, vector, most, head);
  }

  unembedded(key: ThreadKey, embedder: string, most: number): Promise<readonly Node[]> {
    return this.#recall.unembedded(key, embedder, most);
  }

  keepVectors(key: ThreadKey, embedder: string, vectors: readonly MessageVector[]): Promise<void> {
    return this.#recall.keepVectors(key, embedder, vectors);
  }

  async check(): Promise<readonly string[]> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #nodes(
    key: ThreadKey,
    sql: string,
    ...values: readonly SQLInputValue[]
  ): Promise<readonly Node[]> {
    return this.#texts.nodes(this.#database.all(sql, ...values) as readonly MessageRow[], key);
  }

  #where(key: ThreadKey): string {
    return whereOf(this.#database.path, key);
  }
}

/**
 * Walks from a head towards the root; each step is one look-up by key, so that it costs what it returns. A CROSS JOIN
 * keeps the order of its tables: left to itself, SQLite scans the whole thread for each step.
 */
const PATH = `
  WITH RECURSIVE steps (number, parent, position) AS (
    SELECT number, parent, position FROM messages WHERE tenant = ?1 AND thread = ?2 AND id = ?3
    UNION ALL
    SELECT m.number, m.parent, m.position FROM steps s
    CROSS JOIN messages m ON m.tenant = ?1 AND m.thread = ?2 AND m.id = s.parent
    WHERE s.position > ?4
  )
  SELECT m.* FROM steps s CROSS JOIN messages m ON m.number = s.number`;
