import type { Sql, TransactionSql } from 'postgres';
import { StoreError } from '../../store-error.ts';
import { pool, secondsOf, type Connection } from '../connection.ts';
import { reliably, transact, type Patience } from '../lost-connection.ts';
import { READ_FUNCTIONS } from './read-functions.ts';
import { SEARCH_FUNCTION } from './search-function.ts';
import { tables, type Layout } from './tables.ts';
import { WRITE_FUNCTIONS } from './write-functions.ts';

/** Each brings the schema from its index to the next version. A released one never changes. */
export type Migration = (layout: Layout) => string;

export const MIGRATIONS: readonly Migration[] = [
  (layout) => tables(layout) + WRITE_FUNCTIONS + READ_FUNCTIONS + SEARCH_FUNCTION,
];

/** Any number, the same for every process: a process that migrates waits for it. */
const MIGRATION_LOCK = 0x626f62;
/**
 * How long a migration waits for a lock. Meanwhile every other query on the table waits too: if a long reader has the
 * table, the migration gives way and tries again.
 */
const LOCK_MS = 1_000;
const PAUSE_MS = 500;
/** A migration waits for readers longer than a call for an answer. */
const MIGRATION_MS = 300_000;

export interface MigrationOptions extends Layout {
  /** For how long it tries to get its locks. */
  readonly patienceMs: number;
  readonly migrations?: readonly Migration[];
}

/** Makes sure that the schema is the present one, or that nothing has to be made if the store must already exist. */
export async function prepareSchema(
  url: string,
  { sql }: Connection,
  patience: Patience,
  {
    existing = false,
    partitions = 0,
  }: { readonly existing?: boolean; readonly partitions?: number },
): Promise<void> {
  if (existing) return reliably(patience, () => assertPresent(sql));
  if (await reliably(patience, () => isCurrent(sql))) return;
  // A migration may be silent for long; a server that takes no connection may not.
  const slow = pool(url, MIGRATION_MS, { max: 1, connect_timeout: secondsOf(patience.timeoutMs) });
  const layout = { partitions, patienceMs: MIGRATION_MS };
  try {
    await reliably({ ...patience, timeoutMs: MIGRATION_MS }, () => migrate(slow, layout));
  } finally {
    await slow.end({ timeout: 0 });
  }
}

async function isCurrent(sql: Sql): Promise<boolean> {
  return (await schemaVersion(sql)) === MIGRATIONS.length;
}

/** Brings a database to the newest schema. Several processes may do so at once. */
export async function migrate(sql: Sql, options: MigrationOptions): Promise<void> {
  const { migrations = MIGRATIONS, patienceMs } = options;
  if ((await schemaVersion(sql)) === migrations.length) return;
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      await transact(sql, (transaction) => run(transaction, migrations, options));
      return;
    } catch (error) {
      if (!isLockTimeout(error) || Date.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function run(
  transaction: TransactionSql,
  migrations: readonly Migration[],
  layout: Layout,
): Promise<void> {
  await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
  await transaction.unsafe(`SET LOCAL lock_timeout = ${LOCK_MS}`);
  const version = await schemaVersion(transaction);
  assertKnown(version, migrations);
  if (version === 0) {
    await transaction`CREATE SCHEMA IF NOT EXISTS bobbin`;
    await transaction`CREATE TABLE bobbin.schema (version int NOT NULL)`;
    await transaction`INSERT INTO bobbin.schema VALUES (0)`;
  }
  for (const migration of migrations.slice(version)) await transaction.unsafe(migration(layout));
  await transaction`UPDATE bobbin.schema SET version = ${migrations.length}`;
}

/** SQLSTATE 55P03: lock_not_available. */
function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === '55P03';
}

/** Refuses a database that has no store, or one that would have to be changed to be read. */
async function assertPresent(sql: Sql): Promise<void> {
  const version = await schemaVersion(sql);
  assertKnown(version, MIGRATIONS);
  if (version === 0) throw new StoreError('unavailable', 'there is no store in the database');
  if (version < MIGRATIONS.length)
    throw new StoreError(
      'unavailable',
      `the database has schema ${version} of Bobbin; bring it to schema ${MIGRATIONS.length} first (bobbin store migrate)`,
    );
}

function assertKnown(version: number, migrations: readonly Migration[]): void {
  if (version > migrations.length)
    throw new StoreError(
      'from-the-future',
      `the database has schema ${version} of Bobbin; this Bobbin knows schemas up to ${migrations.length}: update it`,
    );
}

async function schemaVersion(sql: Pick<Sql, 'unsafe'>): Promise<number> {
  // The catalogue itself: name look-ups may answer from a cache that is older than the lock.
  const found = await sql.unsafe(
    `SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'bobbin' AND tablename = 'schema'`,
  );
  if (found.length === 0) return 0;
  const [row] = await sql.unsafe('SELECT version FROM bobbin.schema');
  return Number(row?.['version'] ?? 0);
}
