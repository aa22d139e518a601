import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { memoryStore, type Store } from '@bobbin/core';
import { jsonlStore, sqliteStore, StoreError } from '@bobbin/stores';
import { postgresStore } from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { assertFilled, fill } from './fixture.ts';
import { startPostgres, type PostgresServer } from './postgres-server.ts';

const fixtures = join(import.meta.dirname, 'fixtures');
const folder = mkdtempSync(join(tmpdir(), 'bobbin-migration-'));
let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** A database with what a fixture holds. */
async function restored(fixture: string, name: string): Promise<string> {
  const admin = postgres(server.url(), { max: 1 });
  await admin.unsafe(`CREATE DATABASE ${name}`);
  await admin.end();
  const sql = postgres(server.url(name), { max: 1, onnotice: () => undefined });
  await sql.unsafe(readFileSync(join(fixtures, fixture), 'utf8'));
  await sql.end();
  return server.url(name);
}

async function openFixture(fixture: string): Promise<Store> {
  const name = fixture.replace(/\W/g, '_');
  if (fixture.endsWith('.sql')) return postgresStore(await restored(fixture, name));
  const place = join(folder, name);
  mkdirSync(join(place, 'fixture'), { recursive: true });
  if (fixture.endsWith('.db')) {
    copyFileSync(join(fixtures, fixture), join(place, fixture));
    return sqliteStore(join(place, fixture));
  }
  copyFileSync(join(fixtures, fixture), join(place, 'fixture', 'kept%20for%20ever.jsonl'));
  return jsonlStore(place);
}

for (const fixture of readdirSync(fixtures)) {
  test(`${fixture} is read as it was written, and can be written to`, async () => {
    const store = await openFixture(fixture);
    await assertFilled(store, memoryStore());
    await fill(store);
    await store.close();
  });
}

test('a schema from the future is refused, and nothing in it changes', async () => {
  const path = join(folder, 'future.db');
  await sqliteStore(path).close();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 99; CREATE TABLE later (x)');
  database.close();
  assert.throws(() => sqliteStore(path), future(/future\.db has schema 99; this Bobbin knows/));

  const url = await restored('postgres-v1.sql', 'future');
  const sql = postgres(url, { max: 1 });
  await sql`UPDATE bobbin.schema SET version = 99`;
  await assert.rejects(postgresStore(url), future(/the database has schema 99 of Bobbin/));
  assert.deepEqual(
    (await sql`SELECT version FROM bobbin.schema`).map((row) => ({ ...row })),
    [{ version: 99 }],
  );
  await sql.end();
});

function future(expected: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreError && error.problem === 'from-the-future');
    assert.match(error.message, expected);
    return true;
  };
}

test('many processes may make the schema at once', async () => {
  const admin = postgres(server.url(), { max: 1 });
  await admin.unsafe('CREATE DATABASE crowd');
  await admin.end();
  const stores = await Promise.all(
    Array.from({ length: 8 }, () => postgresStore(server.url('crowd'), { connections: 1 })),
  );
  await fill(stores[0] as Store);
  await assertFilled(stores[7] as Store, memoryStore());
  await Promise.all(stores.map((store) => store.close()));
});

test('a database of another program is not touched', () => {
  const path = join(folder, 'other.db');
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE theirs (x)');
  database.close();
  assert.throws(() => sqliteStore(path), /other\.db is another program's database$/);
});
