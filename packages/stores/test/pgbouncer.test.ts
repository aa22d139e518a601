import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createBobbin, textMessage, type ThreadId } from '@bobbin/core';
import { storeSuite } from '@bobbin/stores/conformance';
import { isSoak } from '@bobbin/testing/volume';
import { compactionQueue, postgresStore, type ThreadNews } from '@bobbin/stores/postgres';
import { dropPlan, freshKey, talk, warning } from '../src/conformance/sample.ts';
import { pgbouncers, startPgbouncer } from './pgbouncer.ts';
import { until } from './waits.ts';
import { startPostgres } from './postgres-server.ts';

const found = pgbouncers();
if (found.length === 0)
  test('through pgbouncer', {
    skip: 'pgbouncer is not installed (Debian: apt-get install pgbouncer, or BOBBIN_PGBOUNCER=PATH)',
  });

/** How statements are prepared in the whole suite, which only the soak runs. */
function preparing(canPrepare: boolean): readonly (undefined | 'always')[] {
  if (!isSoak()) return [];
  return canPrepare ? [undefined, 'always'] : [undefined];
}

for (const pgbouncer of found) {
  const name = `pgbouncer ${pgbouncer.version}, transaction mode`;
  const canPrepare = Number(pgbouncer.version.split('.')[1]) >= 21;
  for (const prepare of preparing(canPrepare))
    storeSuite(`${name}, prepare ${prepare ?? 'by default'}`, async () => {
      const server = await startPostgres();
      const settings = canPrepare ? ['max_prepared_statements = 100'] : [];
      const bouncer = await startPgbouncer(pgbouncer, server.url(), settings);
      const options = prepare === undefined ? {} : { prepare };
      const store = await postgresStore(bouncer.url, options);
      return {
        store,
        reopen: () => postgresStore(bouncer.url, options),
        async close() {
          await store.close();
          await bouncer.stop();
          await server.stop();
        },
      };
    });

  suite(name, () => {
    test('C20 events are reported, also to a watcher that has no address of the server itself', async (t) => {
      const server = await startPostgres();
      t.after(() => server.stop());
      const bouncer = await startPgbouncer(pgbouncer, server.url());
      t.after(() => bouncer.stop());
      const store = await postgresStore(bouncer.url);
      const direct = await postgresStore(bouncer.url, { directUrl: server.url() });
      const key = freshKey('watched', 'watch');
      const path = talk(3);
      await store.append(key, path);
      for (const watcher of [store, direct]) {
        const news: ThreadNews[] = [];
        const stop = await watcher.watch('watch', (each) => news.push(each));
        const before = (await store.events(key)).length;
        const version = (await store.window(key))?.version ?? 0;
        await store.append(key, path);
        await store.commit(key, dropPlan(key, path, 2), version, [warning('a'), warning('b')]);
        await until(() => news.length > 0);
        await store.record(key, [warning('c')]);
        await until(() => news.length > 1);
        await stop();
        assert.deepEqual(
          news,
          [2, 3].map((more) => ({ kind: 'events', thread: key.thread, sequence: before + more })),
        );
      }
      await direct.close();
      await store.close();
    });

    test('compactions run in the background, and the worker lives through a restart of the server', async (t) => {
      const server = await startPostgres();
      t.after(() => server.stop());
      const bouncer = await startPgbouncer(pgbouncer, server.url());
      t.after(() => bouncer.stop());
      const store = await postgresStore(bouncer.url);
      const queue = await compactionQueue(bouncer.url);
      const done: ThreadId[] = [];
      const stop = await queue.work(
        async ({ tenant, thread }) => {
          await (await createBobbin({ store, tenant, window: 2_000 }).thread(thread)).compact();
          done.push(thread);
        },
        () => undefined,
        { pollMs: 50 },
      );
      for (const round of [1, 2]) {
        const thread = await createBobbin({ store, window: 200_000 }).thread(`long-${round}`);
        for (let i = 0; i < 12; i++)
          await thread.append(
            textMessage('user', `${i} ${'word '.repeat(100)}`),
            textMessage('assistant', 'ok'),
          );
        await queue.add(thread.key);
        await until(() => done.length === round);
        assert.equal((await store.window(thread.key))?.version, 1);
        if (round === 1) await server.restart('fast');
      }
      await stop();
      await queue.close();
      await store.close();
    });
  });
}
