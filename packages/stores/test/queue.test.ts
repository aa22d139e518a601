import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ThreadId } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { StoreError } from '@bobbin/stores';
import { compactionQueue } from '@bobbin/stores/postgres';
import { volume } from '@bobbin/testing/volume';
import postgres from 'postgres';
import { until } from './waits.ts';
import { startPostgres, type PostgresServer } from './postgres-server.ts';
import { loseServersAndHosts } from './queue-loop.ts';
import { startProcess } from './writer.ts';

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

const keyOf = (thread: string): ThreadKey => ({ tenant: 'jobs', thread: thread as ThreadId });

test('jobs of one thread are done one after the other, and once more where it was asked for meanwhile', async () => {
  const queue = await compactionQueue(server.url());
  const [hot, cold] = [keyOf('hot'), keyOf('x'.repeat(600))];
  for (let i = 0; i < 5; i++) await queue.add(hot);
  await queue.add(cold);
  const done: string[] = [];
  let [atOnce, most] = [0, 0];
  const gate = Promise.withResolvers<void>();
  const stops = await Promise.all(
    [1, 2, 3].map(() =>
      queue.work(
        async ({ thread }) => {
          if (thread === hot.thread) most = Math.max(most, (atOnce += 1));
          if (thread === hot.thread) await gate.promise;
          if (thread === hot.thread) atOnce -= 1;
          done.push(thread);
        },
        (error) => assert.fail(String(error)),
        { concurrency: 4, pollMs: 20 },
      ),
    ),
  );
  await until(() => atOnce === 1 && done.length === 1);
  for (let i = 0; i < 3; i++) await queue.add(hot);
  await new Promise((resolve) => setTimeout(resolve, 200));
  gate.resolve();
  await until(() => done.length === 3);
  await Promise.all(stops.map((stop) => stop()));
  await queue.close();
  assert.deepEqual([done, most], [[cold.thread, hot.thread, hot.thread], 1]);
  const sql = postgres(server.url(), { max: 1 });
  assert.equal((await sql`SELECT 1 FROM bobbin_jobs.jobs`).length, 0, 'nothing is left');
  await sql.end();
});

test(
  'a job of a process that was killed is done by another one when its lease is over',
  { timeout: 60_000 },
  async () => {
    const queue = await compactionQueue(server.url());
    const host = startProcess('queue-host.ts', [server.url(), '1000']);
    await host.heard('ready');
    await queue.add(keyOf('left'));
    await host.heard('begin');
    host.process.kill('SIGKILL');
    await host.ended;
    const done: string[] = [];
    const stop = await queue.work(
      async ({ thread }) => done.push(thread),
      (error) => assert.fail(String(error)),
      { pollMs: 20 },
    );
    await until(() => done.length === 1);
    await stop();
    await queue.close();
  },
);

test('a job that has gone to another process is aborted in the first', async () => {
  const queue = await compactionQueue(server.url());
  await queue.add(keyOf('stalled'));
  const begun = Promise.withResolvers<AbortSignal>();
  const stop = await queue.work(
    (_, signal) => {
      begun.resolve(signal);
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
    () => undefined,
    { leaseMs: 300 },
  );
  const signal = await begun.promise;
  const sql = postgres(server.url(), { max: 1 });
  await sql`UPDATE bobbin_jobs.jobs SET token = 'another'`;
  await until(() => signal.aborted);
  await sql`DELETE FROM bobbin_jobs.jobs`;
  await sql.end();
  await stop();
  await queue.close();
});

test('a role that may not make the queue learns what it needs; with that it may', async () => {
  const admin = postgres(server.url(), { max: 1, onnotice: () => undefined });
  await admin.unsafe('CREATE DATABASE queued');
  await admin.unsafe('CREATE ROLE worker LOGIN');
  const url = server.url('queued', 'worker');
  await assert.rejects(compactionQueue(url), (error: unknown) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.match(error.message, /permission denied for database .*or have CREATE on the database/);
    return true;
  });
  await admin.unsafe('GRANT CREATE ON DATABASE queued TO worker');
  const queue = await compactionQueue(url);
  await queue.add({ tenant: 'a', thread: 't' as ThreadId });
  await queue.close();
  await admin.end();
});

/** The first loss restarts the server, the second crashes it, the third kills a host. */
const ROUNDS = volume(2, 3);

test(`hosts lose no job while servers and hosts are lost, ${ROUNDS} in all`, async (t) => {
  const figures = await loseServersAndHosts(server, {
    rounds: ROUNDS,
    hosts: volume(2, 3),
    threads: 6,
    leaseMs: 2_000,
  });
  t.diagnostic(figures);
});
