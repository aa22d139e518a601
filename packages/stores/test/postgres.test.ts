import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createBobbin, textMessage, type ThreadId } from '@bobbin/core';
import { queryWords, type ThreadKey } from '@bobbin/core/internal';
import { compactionQueue, postgresStore, type PostgresStore } from '@bobbin/stores/postgres';
import { StoreError, verifyStore } from '@bobbin/stores';
import postgres from 'postgres';
import { everything } from '../src/conformance/everything.ts';
import { arrayText } from '../src/postgres/array-type.ts';
import { pool } from '../src/postgres/connection.ts';
import { dropPlan, freshKey, talk, warning } from '../src/conformance/sample.ts';
import { startPostgres, type PostgresServer } from './postgres-server.ts';
import { blocked, until } from './waits.ts';

let server: PostgresServer;
let store: PostgresStore;
before(async () => {
  server = await startPostgres();
  store = await postgresStore(server.url());
});
after(async () => {
  await store.close();
  await server.stop();
});

test('C22 row-level security keeps tenants apart, also where a query forgets to ask for one', async () => {
  const owner = postgres(server.url(), { max: 1 });
  await owner.unsafe(`
    CREATE ROLE app LOGIN;
    GRANT USAGE ON SCHEMA bobbin TO app;
    GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA bobbin TO app;`);
  await owner.end();
  const path = talk(3, 'rare');
  const keys = ['acme', 'zen'].map((tenant) => ({ tenant, thread: 't' as ThreadId }));
  const app = await postgresStore(server.url('postgres', 'app'));
  for (const key of keys) await app.append(key, path);
  // More at once than go alone: those of several tenants go together.
  const commits = Array.from({ length: 3 }, () => keys).flatMap((each) =>
    each.map((key) => app.commit(key, dropPlan(key, path, 4), 0, [warning(key.tenant)])),
  );
  assert.equal((await Promise.all(commits)).filter((won) => won).length, 2);
  for (const key of keys) {
    await app.keepVectors(
      key,
      'e',
      path.map(({ id }) => ({ id, vector: [1, 2] })),
    );
  }
  const heads = path.map(({ id }) => id);
  for (const key of keys)
    assert.deepEqual(await everything(app, key, heads), await everything(store, key, heads));
  await assert.rejects(app.tenants(), (error: unknown) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.match(error.message, /row-level security shows role app one tenant at a time/);
    return true;
  });
  await assert.rejects(verifyStore(app), StoreError);
  assert.equal((await verifyStore(app, ['acme'])).threads, 1);
  await app.close();

  const sql = postgres(server.url('postgres', 'app'), { max: 1 });
  for (const table of ['threads', 'messages', 'plans', 'events', 'recall', 'vectors']) {
    assert.equal((await sql.unsafe(`SELECT 1 FROM bobbin.${table}`)).length, 0, table);
    const seen = await sql.begin(async (transaction) => {
      await transaction`SELECT bobbin.act_for('acme')`;
      return transaction.unsafe(`SELECT DISTINCT tenant FROM bobbin.${table}`);
    });
    assert.deepEqual(
      seen.map((row) => row['tenant'] as string),
      ['acme'],
      table,
    );
    // Both ways of giving a row to another tenant: `nobody` has none that it could collide with.
    for (const theft of [
      `UPDATE bobbin.${table} SET tenant = 'nobody'`,
      `INSERT INTO bobbin.${table} SELECT (json_populate_record(t, '{"tenant":"nobody"}')).* FROM bobbin.${table} t`,
    ]) {
      const stolen = sql.begin(async (transaction) => {
        await transaction`SELECT bobbin.act_for('acme')`;
        return transaction.unsafe(theft);
      });
      await assert.rejects(stolen, /violates row-level security policy/, `${table}: ${theft}`);
    }
  }
  await sql.end();
});

test('C15 a window is of one moment, also if something is committed while it is read', async () => {
  const key = freshKey('torn');
  const path = talk(4);
  await store.append(key, path.slice(0, 4));
  const unchanged = await store.window(key);
  const other = postgres(server.url(), { max: 1 });
  const held = await other.reserve();
  await held`BEGIN`;
  await held`LOCK TABLE bobbin.plans IN ACCESS EXCLUSIVE MODE`;
  const reading = store.window(key);
  await blocked(held);
  // What another process appends and commits between the reading of the head and that of the plan.
  const plan = dropPlan(key, path, 6);
  await held`UPDATE bobbin.threads SET head = ${path[3]?.id ?? ''}, version = 1 WHERE thread = ${key.thread}`;
  await held`INSERT INTO bobbin.plans (tenant, thread, version, head, reach, carried, artifacts, plan)
    VALUES (${key.tenant}, ${key.thread}, 1, ${path[3]?.id ?? ''}, 2, '{}', '{}', ${JSON.stringify(plan)})`;
  await held`COMMIT`;
  held.release();
  assert.deepEqual(await reading, unchanged);
  await other.end();
});

test(
  'C15 of commits that go together each wins or fails alone, and none waits for another',
  { timeout: 30_000 },
  async () => {
    const path = talk(4, 'rare');
    const keys = Array.from({ length: 40 }, (_, i) => freshKey(`together-${i}`, `tenant ${i % 3}`));
    for (const key of keys) await store.append(key, path);
    const [locked, refused, late] = keys.slice(10) as [ThreadKey, ThreadKey, ThreadKey];
    const sql = server.sql();
    await sql.unsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON bobbin.plans FOR EACH ROW
      WHEN (NEW.thread = '${refused.thread}') EXECUTE FUNCTION refuse()`);
    const held = await sql.reserve();
    await held`BEGIN`;
    await held`SELECT 1 FROM bobbin.threads WHERE thread = ${locked.thread} FOR UPDATE`;
    const outcomes = new Map<ThreadKey, unknown>();
    const committing = keys.map(async (key) => {
      const version = key === late ? 7 : 0;
      const outcome = store.commit(key, dropPlan(key, path, 4), version, [warning(key.thread)]);
      outcomes.set(key, await outcome.catch((error: unknown) => String(error)));
    });
    await until(() => outcomes.size >= keys.length - 1);
    assert.equal(outcomes.has(locked), false);
    await held`COMMIT`;
    held.release();
    await Promise.all(committing);
    await sql.unsafe('DROP FUNCTION refuse CASCADE');
    await sql.end();
    for (const key of keys) {
      const failed = key === refused ? 'StoreError: postgres: not this one' : false;
      const won = key !== refused && key !== late;
      assert.equal(outcomes.get(key), won || failed, key.thread);
      assert.equal((await store.window(key))?.version, Number(won));
      assert.deepEqual(
        (await store.events(key)).map(({ sequence, event }) => [sequence, event]),
        won ? [[1, warning(key.thread)]] : [],
      );
    }
  },
);

test('C26 a commit asks for new messages alone, and a thread that another process began anew is searchable', async () => {
  const other = await postgresStore(server.url(), { connections: 2 });
  const path = talk(6, 'rare');
  const key = freshKey('anew', 'anew');
  const found = async (): Promise<readonly number[]> =>
    (await store.search(key, queryWords('rare'), 100))
      .map(({ node }) => node.index)
      .toSorted((a, b) => a - b);
  await store.append(key, path);
  await store.commit(key, dropPlan(key, path, 3), 0, []);
  await store.commit(key, dropPlan(key, path, 4), 1, []);
  assert.deepEqual(await found(), [0, 1, 2, 3]);
  await other.delete({ tenant: key.tenant });
  await other.append(key, path);
  // The same version, of other messages.
  await other.commit(key, dropPlan(key, path, 1), 0, []);
  await other.commit(key, dropPlan(key, path, 2), 1, []);
  assert.equal(await store.commit(key, dropPlan(key, path, 5), 2, []), true);
  assert.deepEqual(await found(), [0, 1, 2, 3, 4]);
  await other.close();
});

test('17 words of messages that were erased before they could be indexed are not kept', async () => {
  const key = freshKey('too-late');
  const path = talk(2, 'late');
  await store.append(key, path.slice(0, 2));
  const sql = server.sql();
  const late = path.slice(0, 3);
  const [row] = await sql.unsafe(
    'SELECT bobbin.add_words($1, $2, $3::text[], $4::int[], $5::text[]) AS searchable',
    [
      key.tenant,
      key.thread,
      late.map(({ id }) => id),
      late.map(() => 1),
      late.map(() => "'late'"),
    ] as never[],
  );
  assert.equal(row?.['searchable'], 2);
  const kept = await sql.unsafe('SELECT id FROM bobbin.recall WHERE thread = $1 ORDER BY id', [
    key.thread,
  ]);
  await sql.end();
  assert.deepEqual(
    kept.map(({ id }) => id as string),
    late
      .slice(0, 2)
      .map(({ id }) => id as string)
      .toSorted(),
  );
});

test('a store that must be there is not made, and an older one is not changed', async () => {
  const admin = postgres(server.url(), { max: 1 });
  await admin.unsafe('CREATE DATABASE empty');
  await admin.end();
  const url = server.url('empty');
  const open = (): Promise<unknown> => postgresStore(url, { existing: true });
  await assert.rejects(open(), /there is no store in the database/);
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  assert.equal((await sql`SELECT 1 FROM pg_namespace WHERE nspname = 'bobbin'`).length, 0);
  await sql.unsafe('CREATE SCHEMA bobbin; CREATE TABLE bobbin.schema (version int NOT NULL)');
  await sql`INSERT INTO bobbin.schema VALUES (0)`;
  await assert.rejects(open(), /there is no store in the database/);
  assert.equal((await sql`SELECT 1 FROM pg_tables WHERE schemaname = 'bobbin'`).length, 1);
  await sql.end();
});

test('compactions run in the background, once for all that ask before it begins', async () => {
  const queue = await compactionQueue(server.url());
  const bobbin = createBobbin({ store, tenant: 'jobs', window: 2_000 });
  const key: ThreadKey = { tenant: 'jobs', thread: 'long' as ThreadId };
  const thread = await bobbin.thread(key.thread);
  for (let i = 0; i < 12; i++)
    await thread.append(
      textMessage('user', `${i} ${'word '.repeat(100)}`),
      textMessage('assistant', 'ok'),
    );
  for (let i = 0; i < 5; i++) await queue.add(key);
  const done: ThreadKey[] = [];
  const reported: unknown[] = [];
  let failures = 1;
  const stop = await queue.work(
    async (asked) => {
      if (failures-- > 0) throw new Error('the first attempt fails');
      await (await bobbin.thread(asked.thread)).compact();
      done.push(asked);
    },
    (error, asked) => reported.push([String(error), asked]),
  );
  await until(() => done.length > 0);
  await stop();
  await queue.close();
  assert.deepEqual(done, [key]);
  assert.deepEqual(reported, [['Error: the first attempt fails', key]]);
  assert.equal((await store.window(key))?.version, 1);
});

test('the snippet of the docs opens, watches, queues, and lets the process end', async (t) => {
  const page = readFileSync(new URL('../../../docs/stores.md', import.meta.url), 'utf8');
  const code = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
    .map(([, each = '']) => each)
    .find((each) => each.includes('postgresStore(url)'));
  // Beside the packages, so that their names resolve as they do for a user.
  const folder = mkdtempSync(join(import.meta.dirname, '.snippet-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'serve.ts');
  // The worker must use the tenant of the job.
  for (const tenant of ['default', 'acme']) {
    const itsOwn = code?.replace(
      'createBobbin({ store })',
      `createBobbin({ store, tenant: '${tenant}' })`,
    );
    writeFileSync(file, `${itsOwn}\nawait serve(${JSON.stringify(server.url())});\n`);
    const { status, stderr } = spawnSync(process.execPath, ['--conditions=@bobbin/source', file], {
      encoding: 'utf8',
      timeout: 30_000,
    });
    assert.deepEqual([status, stderr], [0, '']);
    const key = { tenant, thread: 'support-42' as ThreadId };
    assert.equal((await store.window(key))?.version, 1);
  }
});

test('17 any text comes back from an array, also one that the driver serializes twice', async () => {
  const texts = [
    '',
    'plain',
    'a,b',
    '{}',
    '"',
    String.raw`\\`,
    "it's",
    'NULL',
    ' x ',
    'tab\t',
    'line\n',
    '\u0001',
    '数据',
    '😀',
  ];
  const sql = pool(server.url(), 15_000, { max: 1, prepare: true });
  for (const given of [texts, arrayText(texts)]) {
    const rows = await sql.unsafe('SELECT each FROM unnest($1::text[]) AS each', [
      given,
    ] as never[]);
    assert.deepEqual(
      rows.map(({ each }) => each as string),
      texts,
    );
  }
  const empty = await sql.unsafe('SELECT cardinality($1::text[]) AS size', [[null]] as never[]);
  assert.deepEqual(empty[0]?.['size'], 1);
  await sql.end();
});

test('17 nothing notifies within a transaction that writes: all commits of the server would wait for each other', async () => {
  const sql = server.sql();
  const notifying = await sql.unsafe(
    `SELECT proname FROM pg_proc WHERE pronamespace = 'bobbin'::regnamespace AND prosrc ~* 'notify'`,
  );
  const triggers = await sql.unsafe(
    `SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN (
       SELECT oid FROM pg_class WHERE relnamespace = 'bobbin'::regnamespace)`,
  );
  await sql.end();
  assert.deepEqual([[...notifying], [...triggers]], [[], []]);
});

test('C15 64 compactions at once, of one thread from many openings: one commit', async () => {
  const key = freshKey('crowd', 'crowd');
  const filler = await createBobbin({ store, tenant: key.tenant, window: 4_000 }).thread(
    key.thread,
  );
  for (let i = 0; i < 10; i++)
    await filler.append(
      textMessage('user', `${i} ${'word '.repeat(100)}`),
      textMessage('assistant', 'ok'),
    );
  const handles = await Promise.all(
    Array.from({ length: 64 }, () =>
      createBobbin({ store, tenant: key.tenant, window: 4_000 }).thread(key.thread),
    ),
  );
  const fitted = await Promise.all(handles.map((handle) => handle.compact()));
  assert.equal((await store.window(key))?.version, 1);
  assert.deepEqual(new Set(fitted.map(({ version }) => version)), new Set([1]));
  assert.equal(new Set(fitted.map(({ plan }) => JSON.stringify(plan))).size, 1);
});
