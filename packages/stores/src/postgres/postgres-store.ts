import type { CompactionEvent, MessageId, Plan, ThreadId } from '@bobbin/core';
import {
  assertNames,
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
import type { MessageRow } from '../message-row.ts';
import { eventOf, planOf } from '../plan-text.ts';
import { StoreError } from '../store-error.ts';
import { namesOf } from '../threads-of.ts';
import { Connection, type Value } from './connection.ts';
import { artifactsIn, eraseThreads } from './erasure.ts';
import { Listener } from './listener.ts';
import { located } from './lost-connection.ts';
import { channelOf, newsOf, Outbox, type ThreadNews } from './notices.ts';
import { PlanCommits } from './plan-commits.ts';
import { MessageAppends } from './message-appends.ts';
import { RecallQueries } from './recall-queries.ts';
import { MessageTexts } from './message-texts.ts';
import { prepareSchema } from './schema/schema.ts';
import { idsOf, whereOf } from './thread-row.ts';
import { pollThreads } from './thread-poll.ts';
import { windowFrom, type WindowRow } from './window-row.ts';

export interface PostgresOptions {
  /** How many connections this process may have at once. Default: 10. */
  readonly connections?: number;
  /** The store must be there already, in the present schema: opening it makes and changes nothing. */
  readonly existing?: boolean;
  /** How long a connection may be silent while something is asked. Default: 15 000. */
  readonly timeoutMs?: number;
  /** For how long a call is tried again while the database takes no connection. Default: 15 000. */
  readonly retryMs?: number;
  /**
   * Whether statements are prepared once for each connection. By default they are if the address leads to the server
   * itself; a pooler must be able to take them along (pgbouncer from 1.21 on, with `max_prepared_statements`).
   */
  readonly prepare?: 'always' | 'never';
  /** An address that leads to the server itself, for `watch`, if the other one leads to a pooler. */
  readonly directUrl?: string;
  /** A replica, which answers what may be a moment old: `nodes`, `searchTenant`, `artifacts` and `tenants`. */
  readonly replicaUrl?: string;
  /** The place of messages that were moved out of the database with `moveCold`, such as `s3Blobs` of a bucket. */
  readonly cold?: Blobs;
  /** Into how many partitions, by a hash of the tenant, the tables are divided when they are made. Default: 0. */
  readonly partitions?: number;
}

/** A store that many processes on many machines share. */
export interface PostgresStore extends TieredStore {
  /** Reports events in a tenant's threads after they are committed, by any process, until it is stopped. */
  watch(tenant: string, listener: (news: ThreadNews) => void): Promise<() => Promise<void>>;
}

const NODES_AT_ONCE = 500;
const DEFAULT_TIMEOUT_MS = 15_000;
const DEFAULT_RETRY_MS = 15_000;
const HEAD = '(SELECT head FROM bobbin.threads WHERE tenant = $1 AND thread = $2)';

/** Opens a database, and brings its schema up to date if the role may do so. */
export async function postgresStore(
  url: string,
  options: PostgresOptions = {},
): Promise<PostgresStore> {
  const { connections = 10, timeoutMs = DEFAULT_TIMEOUT_MS, retryMs = DEFAULT_RETRY_MS } = options;
  const { prepare, directUrl, replicaUrl } = options;
  const settings = {
    connections,
    timeoutMs,
    retryMs,
    ...(prepare === undefined ? {} : { prepare }),
  };
  const primary = await Connection.open(url, settings);
  try {
    await prepareSchema(url, primary, settings, options);
    const replica =
      replicaUrl === undefined ? primary : await Connection.open(replicaUrl, settings);
    const listener =
      primary.isPooled && directUrl === undefined ? undefined : new Listener(directUrl ?? url);
    return new PostgresThreads(primary, replica, listener, options.cold);
  } catch (error) {
    await primary.sql.end({ timeout: 0 });
    throw error;
  }
}

class PostgresThreads implements PostgresStore {
  readonly #connection: Connection;
  readonly #replica: Connection;
  readonly #listener: Listener | undefined;
  readonly #outbox: Outbox;
  readonly #texts: MessageTexts;
  readonly #recall: RecallQueries;
  readonly #appends: MessageAppends;
  readonly #commits: PlanCommits;

  constructor(
    connection: Connection,
    replica: Connection,
    listener: Listener | undefined,
    cold: Blobs | undefined,
  ) {
    this.#connection = connection;
    this.#replica = replica;
    this.#listener = listener;
    this.#outbox = new Outbox(connection);
    this.#texts = new MessageTexts(connection, cold);
    this.#recall = new RecallQueries(connection, replica, this.#texts);
    this.#appends = new MessageAppends(connection);
    this.#commits = new PlanCommits(connection);
  }

  append(key: ThreadKey, nodes: readonly Node[], options: AppendOptions = {}): Promise<Appended> {
    return appendInParts(nodes, options, (part, needed, each) =>
      this.#appends.append(key, part, needed, each),
    );
  }

  async window(key: ThreadKey, head?: MessageId): Promise<StoredWindow | undefined> {
    const rows = (await this.#connection.ask(
      'SELECT * FROM bobbin.window_of($1, $2, $3)',
      ...idsOf(key),
      head ?? null,
    )) as readonly WindowRow[];
    return windowFrom(rows, whereOf(key), (some) => this.#texts.nodes(some, key));
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

  async messages(key: ThreadKey, ids: readonly MessageId[]): Promise<readonly Node[]> {
    const sql = 'SELECT * FROM bobbin.messages_of($1, $2, $3)';
    return this.#nodes(key, sql, ...idsOf(key), ids);
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
    const rows = (await this.#replica.askAs(
      key.tenant,
      'SELECT id FROM bobbin.messages WHERE tenant = $1 AND thread = $2 ORDER BY position, id',
      ...idsOf(key),
    )) as readonly { id: MessageId }[];
    const ids = rows.map(({ id }) => id);
    for (let from = 0; from < ids.length; from += NODES_AT_ONCE) {
      const part = (await this.#replica.askAs(
        key.tenant,
        `SELECT * FROM bobbin.messages
         WHERE tenant = $1 AND thread = $2 AND id = ANY ($3) ORDER BY position, id`,
        ...idsOf(key),
        ids.slice(from, from + NODES_AT_ONCE),
      )) as readonly MessageRow[];
      yield await this.#texts.nodes(part, key);
    }
  }

  async heads(key: ThreadKey): Promise<readonly MessageId[]> {
    const rows = await this.#connection.askAs(
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
    assertNames(tenant);
    const rows = await this.#connection.askAs(
      tenant,
      `SELECT thread, head, length, version, (extract(epoch FROM changed_at) * 1000)::float8 AS "changedAt"
       FROM bobbin.threads
       WHERE tenant = $1 AND thread ${after === undefined ? '>=' : '>'} $2 ORDER BY thread LIMIT $3`,
      tenant,
      after ?? '',
      most,
    );
    return (rows as readonly ThreadEntry[]).map((row) => ({ ...row }));
  }

  /** A role that row-level security binds would see none of them, and take that for an empty store. */
  async tenants(): Promise<readonly string[]> {
    const [role] = (await this.#replica.ask(
      `SELECT row_security_active('bobbin.threads') AS bound, current_user AS name`,
    )) as readonly { bound: boolean; name: string }[];
    if (role?.bound === true)
      throw new StoreError(
        'unavailable',
        `postgres: row-level security shows role ${role.name} one tenant at a time: name the tenants, or use a role with BYPASSRLS`,
      );
    const rows = await this.#replica.ask(
      'SELECT DISTINCT tenant FROM bobbin.threads ORDER BY tenant',
    );
    return (rows as readonly { tenant: string }[]).map(({ tenant }) => tenant);
  }

  async plan(key: ThreadKey, version: number): Promise<StoredPlan | undefined> {
    const [row] = (await this.#connection.askAs(
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
    const { won, sequence } = await this.#commits.commit(key, plan, expectedVersion, events);
    this.#post(key, sequence);
    return won === true;
  }

  async record(key: ThreadKey, events: readonly CompactionEvent[]): Promise<void> {
    const texts = events.map((event) => jsonText(event));
    const [row] = (await this.#connection.askOnce(
      'SELECT bobbin.add_events($1, $2, $3) AS sequence',
      ...idsOf(key),
      texts,
    )) as readonly { sequence: number | null }[];
    this.#post(key, row?.sequence);
  }

  #post({ tenant, thread }: ThreadKey, sequence: number | null | undefined): void {
    if (typeof sequence === 'number') this.#outbox.post(tenant, thread, sequence);
  }

  async events(key: ThreadKey, after: number = 0): Promise<readonly StoredEvent[]> {
    const rows = (await this.#connection.askAs(
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

  artifacts(tenant: string): AsyncIterable<readonly ArtifactId[]> {
    return artifactsIn(this.#replica, tenant);
  }

  async delete(what: Erasure, options: ErasureOptions = {}): Promise<readonly ThreadId[]> {
    const { tenant, threads = namesOf(this, tenant) } = what;
    const erased = await eraseThreads(this.#connection, tenant, threads, options);
    await this.#texts.cold?.sweep(what, () => namesOf(this, tenant));
    return erased;
  }

  moveCold(key: ThreadKey): Promise<number> {
    return moveCold(this, this.#texts, this.#texts.cold, key);
  }

  search(
    key: ThreadKey,
    words: readonly string[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    return this.#recall.search(key, words, most, head);
  }

  searchTenant(
    tenant: string,
    words: readonly string[],
    most: number,
  ): Promise<readonly FoundInThread[]> {
    return this.#recall.searchTenant(tenant, words, most);
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

  async watch(tenant: string, listener: (news: ThreadNews) => void): Promise<() => Promise<void>> {
    assertNames(tenant);
    if (this.#listener === undefined) return pollThreads(this.#connection, tenant, listener);
    const hearing = this.#listener.hear(channelOf(tenant), (payload) => listener(newsOf(payload)));
    return hearing.catch((error: unknown) => {
      throw located(error);
    });
  }

  async close(): Promise<void> {
    await this.#outbox.flush();
    await this.#listener?.close();
    if (this.#replica !== this.#connection) await this.#replica.close();
    await this.#connection.close();
  }

  async #nodes(
    key: ThreadKey,
    query: string,
    ...values: readonly Value[]
  ): Promise<readonly Node[]> {
    const rows = (await this.#connection.ask(query, ...values)) as readonly MessageRow[];
    return this.#texts.nodes(rows, key);
  }
}
