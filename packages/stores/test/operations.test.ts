import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MessageId, Store, ThreadId } from '@bobbin/core';
import { queryWords, spanOf, type ArtifactId, type Span } from '@bobbin/core/internal';
import { folderBlobs, liveArtifacts, sqliteStore } from '@bobbin/stores';
import { storeSuite, type StoreUnderTest } from '@bobbin/stores/conformance';
import { postgresStore } from '@bobbin/stores/postgres';
import { isSoak } from '@bobbin/testing/volume';
import postgres from 'postgres';
import { allNodes } from '../src/conformance/everything.ts';
import { dropPlan, freshKey, talk, warning } from '../src/conformance/sample.ts';
import { startPostgres } from './postgres-server.ts';
import { newDatabase } from './shared-postgres.ts';

async function openInPartitions(): Promise<StoreUnderTest> {
  const url = await newDatabase();
  const store = await postgresStore(url, { partitions: 4 });
  return {
    store,
    reopen: () => postgresStore(url),
    async close() {
      // Tenants of fixed names, enough of them that each partition has one.
      for (let i = 0; i < 32; i++)
        await store.append({ tenant: `tenant-${i}`, thread: 'one' as ThreadId }, talk(1));
      const sql = postgres(url, { max: 1 });
      const used = await sql`SELECT count(DISTINCT tableoid) AS parts FROM bobbin.messages`;
      await sql.end();
      await store.close();
      assert.equal(Number(used[0]?.['parts']), 4, 'rows are in every partition');
    },
  };
}

if (isSoak()) storeSuite('postgres, in 4 partitions', openInPartitions);

test('postgres, in 4 partitions, does all that a store does', async () => {
  const under = await openInPartitions();
  await useAll(under.store);
  await under.close();
});

/** All that a store does, but for erasure. */
async function useAll(store: Store): Promise<void> {
  const key = freshKey('least', 'least');
  const path = talk(3, 'rare');
  await store.append(key, path.slice(0, 2));
  await store.append(key, path, { expectedHead: path[1]?.id as MessageId });
  assert.equal(await store.commit(key, dropPlan(key, path, 4), 0, [warning('a')]), true);
  await store.record(key, [warning('b')]);
  for (let i = 0; i < 2; i++)
    await store.keepVectors(key, 'e', [{ id: path[0]?.id as MessageId, vector: [i, 1] }]);
  assert.equal((await store.search(key, queryWords('rare'), 10)).length, 4);
  assert.equal((await store.searchTenant('least', queryWords('rare'), 10)).length, 4);
  assert.equal((await store.nearest(key, 'e', [1, 1], 10)).length, 1);
  assert.equal((await store.unembedded(key, 'e', 10)).length, 3);
  assert.equal((await store.window(key))?.version, 1);
  assert.equal((await store.events(key)).length, 2);
  assert.equal((await store.turns(key, path[5]?.id as MessageId)).length, 3);
  assert.equal((await store.heads(key)).length, 1);
  assert.equal((await store.threads('least', 10)).length, 1);
  assert.equal((await store.plan(key, 1))?.version, 1);
  assert.deepEqual(await allNodes(store, key), path);
  assert.equal((await liveArtifacts(store, 'least')).size, 0);
}

/** As in docs/stores.md. */
const GRANTS = `
  GRANT USAGE ON SCHEMA bobbin TO app;
  GRANT SELECT ON bobbin.schema TO app;
  GRANT SELECT, INSERT ON bobbin.messages, bobbin.plans, bobbin.events, bobbin.recall TO app;
  GRANT SELECT, INSERT, UPDATE ON bobbin.threads, bobbin.vectors TO app;`;

test('the grants of the docs are enough, each of them is needed, and erasing and moving need one more each', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  await (await postgresStore(server.url())).close();
  const admin = postgres(server.url(), { max: 1, onnotice: () => undefined });
  await admin.unsafe('CREATE ROLE app LOGIN');
  await admin.unsafe(GRANTS);
  const url = server.url('postgres', 'app');
  const app = await postgresStore(url, { retryMs: 0 });
  await useAll(app);
  await assert.rejects(app.delete({ tenant: 'least' }), /permission denied for table threads/);
  for (const [, rights = '', tables = ''] of GRANTS.matchAll(/GRANT (.*) ON (bobbin\..*) TO app/g))
    for (const right of rights.split(', '))
      for (const table of tables.split(', ')) {
        await admin.unsafe(`REVOKE ${right} ON ${table} FROM app`);
        const without = async (): Promise<void> => {
          const store = await postgresStore(url, { retryMs: 0, connections: 2 });
          try {
            await useAll(store);
          } finally {
            await store.close();
          }
        };
        await assert.rejects(without(), /permission denied/, `${right} on ${table}`);
        await admin.unsafe(`GRANT ${right} ON ${table} TO app`);
        await admin`DELETE FROM bobbin.threads`;
        await admin`TRUNCATE bobbin.messages, bobbin.plans, bobbin.events, bobbin.recall, bobbin.vectors`;
      }
  await useAll(app);
  const [key] = (await app.threads('least', 1)).map(({ thread }) => ({ tenant: 'least', thread }));
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-cold-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const mover = await postgresStore(url, { retryMs: 0, cold: folderBlobs(folder) });
  const moving = (): Promise<number> => mover.moveCold(key ?? assert.fail());
  await assert.rejects(moving(), /permission denied for table messages/);
  await admin.unsafe('GRANT UPDATE ON bobbin.messages TO app');
  assert.equal(await moving(), 4);
  await mover.close();
  await admin.unsafe('GRANT DELETE ON ALL TABLES IN SCHEMA bobbin TO app');
  assert.equal((await app.delete({ tenant: 'least' })).length, 1);
  await app.close();
  await admin.end();
});

test('the artifacts that plans point to come in parts, all of them, on SQLite and PostgreSQL', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-live-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = talk(1);
  const span = spanOf(path.slice(0, 1)) as Span;
  for (const store of [
    sqliteStore(join(folder, 'a.db'), { sync: 'normal' }),
    await postgresStore(await newDatabase()),
  ]) {
    const all = new Set<ArtifactId>();
    const fill = async (thread: number): Promise<void> => {
      const key = { tenant: 'live', thread: `t${thread}` as ThreadId };
      await store.append(key, path);
      for (let version = 0; version < 110; version++) {
        const artifactId = String(thread * 1_000 + version).padStart(32, '0') as ArtifactId;
        const record = { kind: 'externalize', span, artifactId, summary: '', hint: '' } as const;
        const records = [{ ...record, kept: [], argsChars: 0 }];
        await store.commit(key, { ...dropPlan(key, path, 0), records }, version, []);
        all.add(artifactId);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, thread) => fill(thread)));
    const sizes: number[] = [];
    for await (const part of store.artifacts('live')) sizes.push(part.length);
    assert.deepEqual(sizes, [1_000, 1_000, 200]);
    assert.deepEqual(await liveArtifacts(store, 'live'), all);
    await store.close();
  }
});

test('the owner of the tables, whom row-level security binds, reads all rows for a backup as pg_dump does', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const admin = postgres(server.url(), { max: 1, onnotice: () => undefined });
  await admin.unsafe('CREATE ROLE keeper LOGIN; GRANT CREATE ON DATABASE postgres TO keeper');
  const url = server.url('postgres', 'keeper');
  const store = await postgresStore(url);
  for (const tenant of ['a', 'b', 'c'])
    await store.append({ tenant, thread: 't' as ThreadId }, talk(2));
  await store.close();
  // What `pg_dump --enable-row-security` sends, with PGOPTIONS='-c bobbin.all_tenants=on'.
  const dump = postgres(url, { max: 1, connection: { 'bobbin.all_tenants': 'on' } });
  await dump.unsafe('SET row_security = on');
  const rows = async (): Promise<number> => {
    const out = await dump.unsafe('COPY bobbin.messages TO STDOUT').readable();
    let text = '';
    for await (const chunk of out) text += String(chunk);
    return text.trim().split('\n').length;
  };
  assert.equal(await rows(), 12);
  await dump.end();
  const plain = postgres(url, { max: 1 });
  assert.equal((await plain`SELECT 1 FROM bobbin.messages`).length, 0, 'without it, none');
  await assert.rejects(
    plain.begin(async (sql) => {
      await sql`SET LOCAL bobbin.all_tenants = 'on'`;
      await sql`DELETE FROM bobbin.messages RETURNING 1`.then((gone) =>
        assert.equal(gone.length, 0),
      );
      await sql`INSERT INTO bobbin.events VALUES ('a', 't', 9, 0, '{}')`;
    }),
    /row-level security/,
  );
  await plain.end();
  await admin.end();
});

test('a replica answers what may be a moment old, and takes over as the server', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const replica = await server.replica();
  t.after(() => replica.stop());
  const store = await postgresStore(server.url(), { replicaUrl: replica.url(), retryMs: 5_000 });
  const key = freshKey('replicated', 'acme');
  const path = talk(3, 'rare');
  await store.append(key, path);
  await store.commit(key, dropPlan(key, path, 4), 0, []);
  const sql = postgres(replica.url(), { max: 1 });
  // Until the replica has caught up, it has no plan, or not even the table.
  const caughtUp = (): Promise<boolean> =>
    sql`SELECT 1 FROM bobbin.plans`.then(
      ({ length }) => length > 0,
      () => false,
    );
  while (!(await caughtUp())) await new Promise((resolve) => setTimeout(resolve, 20));
  await sql`SELECT pg_wal_replay_pause()`;
  const longer = talk(5, 'rare');
  await store.append(key, longer);
  assert.deepEqual(await allNodes(store, key), path, 'from the replica');
  assert.equal((await store.searchTenant('acme', queryWords('rare'), 10)).length, 4);
  assert.equal((await store.path(key, longer.at(-1)?.id as MessageId)).length, 10);
  await sql`SELECT pg_wal_replay_resume()`;
  await store.close();

  const { port } = new URL(server.url());
  const { port: other } = new URL(replica.url());
  const both = await postgresStore(
    `postgres://postgres@127.0.0.1:${port},127.0.0.1:${other}/postgres?target_session_attrs=primary`,
  );
  await both.append(key, path);
  await server.halt();
  await sql`SELECT pg_promote()`;
  await sql.end();
  await both.append(key, talk(7, 'rare'));
  assert.deepEqual(await allNodes(both, key), talk(7, 'rare'));
  await both.close();
});
