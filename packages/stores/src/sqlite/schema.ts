import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';

/** The tables of a kind of file. */
export interface Schema {
  /** Says in the file's header which kind it is. */
  readonly applicationId: number;
  /** Each brings the schema from its index to the next version. A released one never changes. */
  readonly migrations: readonly string[];
}

const THREAD_TABLES: readonly string[] = [
  `
  CREATE TABLE threads (
    tenant TEXT NOT NULL, thread TEXT NOT NULL,
    head TEXT NOT NULL, length INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 0, events INTEGER NOT NULL DEFAULT 0,
    -- How many messages are searchable, and how many words they have.
    compacted INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL, thread TEXT NOT NULL, id TEXT NOT NULL,
    parent TEXT, position INTEGER NOT NULL, turn INTEGER NOT NULL, opens_turn INTEGER NOT NULL,
    message TEXT NOT NULL,
    -- The ancestor that it jumps to, where that is not the parent.
    jump TEXT,
    UNIQUE (tenant, thread, id)
  ) STRICT;

  CREATE TABLE plans (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, version INTEGER NOT NULL,
    head TEXT, artifacts TEXT NOT NULL, plan TEXT NOT NULL,
    PRIMARY KEY (tenant, thread, version)
  ) STRICT;

  CREATE TABLE events (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, sequence INTEGER NOT NULL,
    version INTEGER NOT NULL, event TEXT NOT NULL,
    PRIMARY KEY (tenant, thread, sequence)
  ) STRICT;

  CREATE TABLE compacted (
    number INTEGER PRIMARY KEY, tenant TEXT NOT NULL, thread TEXT NOT NULL, id TEXT NOT NULL, words INTEGER NOT NULL,
    UNIQUE (tenant, thread, id)
  ) STRICT;

  -- Each word has the mark of its thread: the words of each thread are counted apart from those of all others.
  CREATE VIRTUAL TABLE recall USING fts5(words, content = '', contentless_delete = 1, tokenize = 'ascii');
  CREATE VIRTUAL TABLE recall_words USING fts5vocab(recall, instance);
  CREATE VIRTUAL TABLE recall_counts USING fts5vocab(recall, row);

  CREATE TABLE vectors (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, embedder TEXT NOT NULL, id TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (tenant, thread, embedder, id)
  ) STRICT;
  `,
];

/** A file of threads ("BOBN"). */
export const THREADS: Schema = { applicationId: 0x424f424e, migrations: THREAD_TABLES };

/**
 * Refuses a file of another program or of a newer Bobbin and, if asked to, one that would have to be made or changed.
 */
export function assertOurs(
  database: DatabaseSync,
  path: string,
  { applicationId, migrations }: Schema,
  existing: boolean,
): void {
  const tables = valueOf(database, 'SELECT count(*) AS value FROM sqlite_schema');
  const owner = valueOf(database, 'SELECT application_id AS value FROM pragma_application_id');
  const version = schemaVersion(database);
  if (tables > 0 && owner !== applicationId)
    throw new StoreError('damaged', `${path} is another program's database`);
  if (version > migrations.length)
    throw new StoreError(
      'from-the-future',
      `${path} has schema ${version}; this Bobbin knows schemas up to ${migrations.length}: update it`,
    );
  if (existing && tables === 0) throw new StoreError('unavailable', `${path}: there is no store`);
  if (existing && version < migrations.length)
    throw new StoreError(
      'unavailable',
      `${path} has schema ${version}; bring it to schema ${migrations.length} first (bobbin store migrate)`,
    );
}

/** Brings a database to the newest schema. Several processes may open the same new file at once. */
export function migrate(database: DatabaseSync, path: string, schema: Schema): void {
  const { applicationId, migrations } = schema;
  if (schemaVersion(database) === migrations.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    assertOurs(database, path, schema, false);
    for (const step of migrations.slice(schemaVersion(database))) database.exec(step);
    database.exec(
      `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`,
    );
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function schemaVersion(database: DatabaseSync): number {
  return valueOf(database, 'SELECT user_version AS value FROM pragma_user_version');
}

function valueOf(database: DatabaseSync, sql: string): number {
  return Number(database.prepare(sql).get()?.['value'] ?? 0);
}
