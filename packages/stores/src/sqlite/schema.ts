import type { DatabaseSync } from 'node:sqlite';
import type { ThreadId } from '@bobbin/core';
import { StoreError } from '../store-error.ts';
import { indexedWords, wordCount } from './recall-text.ts';

/** Says in the file's header that it is Bobbin's ("BOBN"). */
const APPLICATION_ID = 0x424f424e;

/** Each brings the schema from its index to the next version. A released one never changes. */
const MIGRATIONS: readonly (string | ((database: DatabaseSync) => void))[] = [
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
  addAncestry,
];

/**
 * Messages learn an ancestor to jump to (those that are there already are walked through their parents), and the words
 * of each thread are counted apart from those of all others.
 */
function addAncestry(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE messages ADD COLUMN jump TEXT;
    ALTER TABLE plans DROP COLUMN reach;
    ALTER TABLE compacted ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
    DROP TABLE recall;
    CREATE VIRTUAL TABLE recall USING fts5(words, content = '', tokenize = 'ascii');
    CREATE VIRTUAL TABLE recall_words USING fts5vocab(recall, instance);`);
  const rows = database.prepare(
    `SELECT c.tenant, c.thread, c.id, m.number, m.message
     FROM compacted c CROSS JOIN messages m ON m.tenant = c.tenant AND m.thread = c.thread AND m.id = c.id`,
  );
  const count = database.prepare(
    'UPDATE compacted SET words = ? WHERE tenant = ? AND thread = ? AND id = ?',
  );
  const index = database.prepare('INSERT INTO recall (rowid, words) VALUES (?, ?)');
  for (const row of rows.all() as unknown as readonly CompactedRow[]) {
    const { tenant, thread, message } = row;
    count.run(wordCount(message), tenant, thread, row.id);
    index.run(row.number, indexedWords({ tenant, thread }, message));
  }
}

interface CompactedRow {
  readonly tenant: string;
  readonly thread: ThreadId;
  readonly id: string;
  readonly number: number;
  readonly message: string;
}

/** Refuses what is another program's, or of a newer Bobbin; and what would have to be made or changed, where asked to. */
export function assertOurs(database: DatabaseSync, path: string, existing: boolean): void {
  const tables = valueOf(database, 'SELECT count(*) AS value FROM sqlite_schema');
  const owner = valueOf(database, 'SELECT application_id AS value FROM pragma_application_id');
  const version = schemaVersion(database);
  if (tables > 0 && owner !== APPLICATION_ID)
    throw new StoreError('damaged', `${path} is another program's database`);
  if (version > MIGRATIONS.length)
    throw new StoreError(
      'from-the-future',
      `${path} has schema ${version}; this Bobbin knows schemas up to ${MIGRATIONS.length}: update it`,
    );
  if (existing && tables === 0) throw new StoreError('unavailable', `${path}: there is no store`);
  if (existing && version < MIGRATIONS.length)
    throw new StoreError(
      'unavailable',
      `${path} has schema ${version}; bring it to schema ${MIGRATIONS.length} first (bobbin store migrate)`,
    );
}

/** Brings a database to the newest schema. Several processes may open the same new file at once. */
export function migrate(database: DatabaseSync, path: string): void {
  if (schemaVersion(database) === MIGRATIONS.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    assertOurs(database, path, false);
    for (const step of MIGRATIONS.slice(schemaVersion(database)))
      if (typeof step === 'string') database.exec(step);
      else step(database);
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
  return valueOf(database, 'SELECT user_version AS value FROM pragma_user_version');
}

function valueOf(database: DatabaseSync, sql: string): number {
  return Number(database.prepare(sql).get()?.['value'] ?? 0);
}
