// Writes a fixture of the present version of every format. To be run once, when a version is new:
// node --conditions=@bobbin/source packages/stores/test/write-fixtures.ts
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { jsonlStore, SESSION_FORMAT, sqliteStore } from '@bobbin/stores';
import { postgresStore } from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { MIGRATIONS } from '../src/postgres/schema.ts';
import { fill } from './fixture.ts';
import { startPostgres } from './postgres-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'bobbin-fixtures-'));
const fixtures = join(import.meta.dirname, 'fixtures');

/** A released format never changes: what is there stays. */
function keep(name: string, write: (path: string) => void): void {
  const path = join(fixtures, name);
  if (!existsSync(path)) write(path);
}

async function writeJsonl(): Promise<void> {
  const store = jsonlStore(folder);
  await fill(store);
  const file = join(folder, 'fixture', 'kept%20for%20ever.jsonl');
  keep(`session-v${SESSION_FORMAT}.jsonl`, (path) => copyFileSync(file, path));
}

async function writeSqlite(): Promise<void> {
  const file = join(folder, 'threads.db');
  const store = sqliteStore(file);
  await fill(store);
  await store.close();
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = DELETE; VACUUM');
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  database.close();
  keep(`sqlite-v${version}.db`, (path) => copyFileSync(file, path));
}

/** The schema as its migrations made it, and the rows. */
async function writePostgres(): Promise<void> {
  const server = await startPostgres();
  const store = await postgresStore(server.url());
  await fill(store);
  await store.close();
  const sql = postgres(server.url(), { max: 1 });
  const inserts = ['schema', 'threads', 'messages', 'plans', 'events', 'recall', 'vectors'].map(
    (table) =>
      sql.unsafe(
        `SELECT format('INSERT INTO bobbin.${table} SELECT * FROM json_populate_recordset(NULL::bobbin.${table}, %L);',
        json_agg(t)) AS text FROM bobbin.${table} t`,
      ),
  );
  const rows = (await Promise.all(inserts)).map(([row]) => String(row?.['text']));
  await sql.end();
  await server.stop();
  const schema = ['CREATE SCHEMA bobbin;', 'CREATE TABLE bobbin.schema (version int NOT NULL);'];
  keep(`postgres-v${MIGRATIONS.length}.sql`, (path) =>
    writeFileSync(path, [...schema, ...MIGRATIONS, ...rows, ''].join('\n')),
  );
}

await writeJsonl();
await writeSqlite();
await writePostgres();
rmSync(folder, { recursive: true });
