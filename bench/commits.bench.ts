// Commits a second at 16 in flight on a disk that takes 2 ms to sync (commit_delay: the server sleeps before it does),
// beside commits with the notification in the transaction, as it was. Ends with 1 below 5 times those.
import { existsSync } from 'node:fs';
import type { ThreadId } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { postgresStore } from '@bobbin/stores/postgres';
import { dropPlan, talk, warning } from '../packages/stores/src/conformance/sample.ts';
import { startPostgres } from '../packages/stores/test/postgres-server.ts';

const IN_FLIGHT = 16;
const COMMITS = Number(process.env['BOBBIN_BENCH_COMMITS'] ?? 1_600);
/** On a busy machine a longer one shows better what waits for what. */
const SYNC_MS = Number(process.env['BOBBIN_BENCH_SYNC_MS'] ?? 2);
const path = talk(6);
const keyOf = (lane: number): ThreadKey => ({ tenant: 'bench', thread: `t${lane}` as ThreadId });

/** As an event was reported before: within the transaction of its commit. */
const NOTIFY_WITHIN = `
  CREATE FUNCTION bobbin.notify_within() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('within', NEW.thread);
    RETURN NULL;
  END $$;
  CREATE TRIGGER notify_within AFTER INSERT ON bobbin.events FOR EACH ROW EXECUTE FUNCTION bobbin.notify_within()`;

async function rate(url: string): Promise<number> {
  const store = await postgresStore(url, { connections: IN_FLIGHT });
  const versions = await Promise.all(
    Array.from({ length: IN_FLIGHT }, async (_, lane) => {
      await store.append(keyOf(lane), path);
      return (await store.window(keyOf(lane)))?.version ?? 0;
    }),
  );
  const started = performance.now();
  await Promise.all(
    versions.map(async (version, lane) => {
      const plan = dropPlan(keyOf(lane), path, 4);
      for (let i = 0; i < COMMITS / IN_FLIGHT; i++)
        if (!(await store.commit(keyOf(lane), plan, version + i, [warning('bench')])))
          throw new Error('a commit was lost');
    }),
  );
  const perSecond = (COMMITS / (performance.now() - started)) * 1_000;
  await store.close();
  return perSecond;
}

// In memory where that is possible: the delay is to be the only time that a sync takes.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
const server = await startPostgres({
  settings: ['fsync=on', `commit_delay=${SYNC_MS * 1_000}`, 'commit_siblings=0'],
});
await rate(server.url());
const after = await rate(server.url());
const sql = server.sql();
await sql.unsafe(NOTIFY_WITHIN);
const within = await rate(server.url());
await sql.end();
await server.stop();
console.log(
  `commits/s with a sync of ${SYNC_MS} ms, ${IN_FLIGHT} in flight: ${after.toFixed(0)}; with the notification in the commit ${within.toFixed(0)}; ${(after / within).toFixed(1)} times (at least 5)`,
);
if (after < 5 * within) process.exitCode = 1;
