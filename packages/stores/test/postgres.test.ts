import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createBobbin, textMessage, type ThreadId, type ThreadKey } from '@bobbin/core';
import {
  compactionQueue,
  postgresStore,
  type PostgresStore,
  type ThreadNews,
} from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { everything } from '../src/conformance/everything.ts';
import { dropPlan, freshKey, talk, warning } from '../src/conformance/sample.ts';
import { startPostgres, type PostgresServer } from './postgres-server.ts';

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
  for (const key of keys) {
    await app.append(key, path);
    assert.equal(await app.commit(key, dropPlan(key, path, 4), 0, [warning(key.tenant)]), true);
    await app.keepVectors(
      key,
      'e',
      path.map(({ id }) => ({ id, vector: [1, 2] })),
    );
  }
  const heads = path.map(({ id }) => id);
  for (const key of keys)
    assert.deepEqual(await everything(app, key, heads), await everything(store, key, heads));
  assert.deepEqual(await app.tenants(), [], 'only a role that may see all rows sees all tenants');
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
    const stolen = sql.begin(async (transaction) => {
      await transaction`SELECT bobbin.act_for('acme')`;
      return transaction.unsafe(`UPDATE bobbin.${table} SET tenant = 'zen'`);
    });
    await assert.rejects(stolen, /row-level security|violates|duplicate/, table);
  }
  await sql.end();
});

test('C20 events are told to every process that watches their tenant, and to no other', async () => {
  const other = await postgresStore(server.url(), { connections: 2 });
  const key = freshKey('watched', 'watch');
  const news: ThreadNews[] = [];
  const stop = await other.watch('watch', (each) => news.push(each));
  const foreign: ThreadNews[] = [];
  const stopForeign = await other.watch('elsewhere', (each) => foreign.push(each));
  const path = talk(3);
  await store.append(key, path);
  await store.commit(key, dropPlan(key, path, 2), 0, [warning('a'), warning('b')]);
  await store.record(key, [warning('c')]);
  while (news.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(news, [
    { thread: key.thread, sequence: 2 },
    { thread: key.thread, sequence: 3 },
  ]);
  await stop();
  await stopForeign();
  await store.record(key, [warning('unheard')]);
  assert.deepEqual([news.length, foreign.length], [2, 0]);
  await other.close();
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
  let failures = 1;
  const stop = await queue.work(async (asked) => {
    if (failures-- > 0) throw new Error('the first attempt fails');
    await (await bobbin.thread(asked.thread)).compact();
    done.push(asked);
  });
  while (done.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await stop();
  await queue.close();
  assert.deepEqual(done, [key]);
  assert.equal((await store.window(key))?.version, 1);
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
