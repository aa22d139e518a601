import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';

/** Says in the file's header that it is Bobbin's ("BOBN"). */
const APPLICATION_ID = 0x424f424e;

/** Each brings the schema from its index to the next version. A released one never changes. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE threads (
    tenant TEXT NOT NULL, thread TEXT NOT NULL,
    head TEXT NOT NULL, length INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 0, events INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, thread)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL, thread TEXT NOT NULL, id TEXT NOT NULL,
    parent TEXT, position INTEGER NOT NULL, turn INTEGER NOT NULL, opens_turn INTEGER NOT NULL,
    message TEXT NOT NULL,
    UNIQUE (tenant, thread, id)
  ) STRICT;

  CREATE TABLE plans (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, version INTEGER NOT NULL,
    head TEXT, reach INTEGER NOT NULL, plan TEXT NOT NULL,
    PRIMARY KEY (tenant, thread, version)
  ) STRICT;

  CREATE TABLE events (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, sequence INTEGER NOT NULL,
    version INTEGER NOT NULL, event TEXT NOT NULL,
    PRIMARY KEY (tenant, thread, sequence)
  ) STRICT;

  CREATE TABLE compacted (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, id)
  ) STRICT, WITHOUT ROWID;

  CREATE VIRTUAL TABLE recall USING fts5(
    scope, words, content = '',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
  );

  CREATE TABLE vectors (
    tenant TEXT NOT NULL, thread TEXT NOT NULL, embedder TEXT NOT NULL, id TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (tenant, thread, embedder, id)
  ) STRICT;
  `,
];

/** Brings a database to the newest schema. Several processes may open the same new file at once. */
export function migrate(database: DatabaseSync, path: string): void {
  if (schemaVersion(database) === MIGRATIONS.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = schemaVersion(database);
    if (version > MIGRATIONS.length) {
      throw new StoreError(
        'from-the-future',
        `${path} has schema ${version}; this Bobbin knows schemas up to ${MIGRATIONS.length}: update it`,
      );
    }
    for (const sql of MIGRATIONS.slice(version)) database.exec(sql);
    database.exec(
      `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`,
    );
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function schemaVersion(database: DatabaseSync): number {
  const row = database.prepare('PRAGMA user_version').get();
  const version = Number(row?.['user_version'] ?? 0);
  const tables = database.prepare(`SELECT count(*) AS n FROM sqlite_schema`).get();
  const owner = database.prepare('PRAGMA application_id').get()?.['application_id'];
  if (Number(tables?.['n']) > 0 && owner !== APPLICATION_ID)
    throw new StoreError(
      'damaged',
      `${database.location() ?? 'this database'} is another program's database`,
    );
  return version;
}
