import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { memoryStore, type Store } from '@bobbin/core';
import { jsonlStore, sqliteStore, StoreError } from '@bobbin/stores';
import { postgresStore } from '@bobbin/stores/postgres';
import postgres, { type Sql } from 'postgres';
import { migrate, MIGRATIONS, type MigrationOptions } from '../src/postgres/schema/schema.ts';
import { migrate as migrateSqlite, THREADS } from '../src/sqlite/schema.ts';
import { assertFilled, fill } from './fixture.ts';
import { newDatabase } from './shared-postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'bobbin-migration-'));
after(() => rmSync(folder, { recursive: true }));

test('a session file of format 1 is read as it was written, and can be written to', async () => {
  mkdirSync(join(folder, 'fixture'));
  copyFileSync(
    join(import.meta.dirname, 'fixtures', 'session-v1.jsonl'),
    join(folder, 'fixture', 'kept%20for%20ever.jsonl'),
  );
  const store = jsonlStore(folder);
  await assertFilled(store, memoryStore());
  await fill(store);
  await store.close();
});

/** A schema to come: the present one and one step more. */
const NEXT: MigrationOptions = {
  partitions: 0,
  patienceMs: 20_000,
  migrations: [...MIGRATIONS, () => 'ALTER TABLE bobbin.messages ADD COLUMN later int'],
};

async function columns(sql: Sql): Promise<readonly unknown[]> {
  return sql`SELECT 1 FROM information_schema.columns WHERE table_name = 'messages' AND column_name = 'later'`;
}

test('a newer schema is made from the present one, once, and what is there stays', async () => {
  const url = await newDatabase();
  const store = await postgresStore(url);
  await fill(store);
  const sql = postgres(url, { max: 4, onnotice: () => undefined });
  await Promise.all(Array.from({ length: 4 }, () => migrate(sql, NEXT)));
  await assertFilled(store, memoryStore());
  assert.equal((await columns(sql)).length, 1);
  await assert.rejects(
    postgresStore(url),
    future(/the database has schema 2 of Bobbin; .* up to 1/),
  );
  await sql.end();
  await store.close();

  const path = join(folder, 'grown.db');
  const small = sqliteStore(path);
  await fill(small);
  const raw = new DatabaseSync(path);
  const later = 'ALTER TABLE messages ADD COLUMN later INTEGER';
  migrateSqlite(raw, path, { ...THREADS, migrations: [...THREADS.migrations, later] });
  raw.close();
  await assertFilled(small, memoryStore());
  await small.close();
  assert.throws(() => sqliteStore(path), future(/grown\.db has schema 2; this Bobbin knows/));
});

test(
  'a migration gives way to traffic while a long reader holds a table, and is made after it',
  { timeout: 60_000 },
  async () => {
    const url = await newDatabase();
    const store = await postgresStore(url);
    await fill(store);
    const sql = postgres(url, { max: 3, onnotice: () => undefined });
    const reader = await sql.reserve();
    await reader`BEGIN`;
    await reader`SELECT count(*) FROM bobbin.messages`;
    const migrating = migrate(sql, NEXT);
    // Without giving way, the first call after the migration asks for its lock would wait for the reader for ever.
    for (const end = performance.now() + 1_500; performance.now() < end; await setTimeout(20))
      await store.window({ tenant: 'fixture', thread: 'kept for ever' as never });
    assert.equal((await columns(sql)).length, 0);
    await reader`COMMIT`;
    reader.release();
    await migrating;
    assert.equal((await columns(sql)).length, 1);
    await sql.end();
    await store.close();
  },
);

test('a schema from the future is refused, and nothing in it changes', async () => {
  const path = join(folder, 'future.db');
  await sqliteStore(path).close();
  const raw = new DatabaseSync(path);
  raw.exec('PRAGMA user_version = 99; CREATE TABLE later (x)');
  raw.close();
  assert.throws(() => sqliteStore(path), future(/future\.db has schema 99; this Bobbin knows/));

  const url = await newDatabase();
  await (await postgresStore(url)).close();
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
    assert.ok(error instanceof StoreError && error.problem === 'from-the-future', String(error));
    assert.match(error.message, expected);
    return true;
  };
}

test('many processes may make the schema at once', async () => {
  const url = await newDatabase();
  const stores = await Promise.all(
    Array.from({ length: 8 }, () => postgresStore(url, { connections: 1 })),
  );
  await fill(stores[0] as Store);
  await assertFilled(stores[7] as Store, memoryStore());
  await Promise.all(stores.map((store) => store.close()));
});

test('a database of another program is not touched', () => {
  const path = join(folder, 'other.db');
  const raw = new DatabaseSync(path);
  raw.exec('CREATE TABLE theirs (x)');
  raw.close();
  assert.throws(() => sqliteStore(path), /other\.db is another program's database$/);
});
