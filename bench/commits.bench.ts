// Commits a second at 16 in flight on a disk that takes 2 ms to sync (commit_delay: the server sleeps before it does),
// beside commits as they were before: each in a transaction of its own, with its notification within. Both in turn, three
// times; ends with 1 where the median ratio is below 5.
import { existsSync } from 'node:fs';
import type { ThreadId } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { postgresStore } from '@bobbin/stores/postgres';
import { dropPlan, talk, warning } from '../packages/stores/src/conformance/sample.ts';
import { pool } from '../packages/stores/src/postgres/connection.ts';
import { startPostgres } from '../packages/stores/test/postgres-server.ts';

const IN_FLIGHT = 16;
const COMMITS = Number(process.env['BOBBIN_BENCH_COMMITS'] ?? 1_600);
/** On a busy machine a longer one shows better what waits for what. */
const SYNC_MS = Number(process.env['BOBBIN_BENCH_SYNC_MS'] ?? 2);
const ROUNDS = 3;
const path = talk(6);
const ids = path.slice(0, 4).map(({ id }) => id);
const keyOf = (lane: number): ThreadKey => ({ tenant: 'bench', thread: `t${lane}` as ThreadId });

/** As an event was reported before: within the transaction of its commit. */
const NOTIFY_WITHIN = `
  CREATE FUNCTION bobbin.notify_within() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('within', NEW.thread);
    RETURN NULL;
  END $$;
  CREATE TRIGGER notify_within AFTER INSERT ON bobbin.events FOR EACH ROW EXECUTE FUNCTION bobbin.notify_within();
  ALTER TABLE bobbin.events DISABLE TRIGGER notify_within`;

type Commit = (key: ThreadKey, version: number) => Promise<boolean>;

/** Commits in all lanes at once, after the first of each connection. */
async function rate(versions: number[], commit: Commit): Promise<number> {
  const lanes = async (each: number): Promise<void> => {
    await Promise.all(
      versions.map(async (_, lane) => {
        for (let i = 0; i < each; i++) {
          if (!(await commit(keyOf(lane), versions[lane] ?? 0)))
            throw new Error('a commit was lost');
          versions[lane] = (versions[lane] ?? 0) + 1;
        }
      }),
    );
  };
  await lanes(5);
  const started = performance.now();
  await lanes(COMMITS / IN_FLIGHT);
  return (COMMITS / (performance.now() - started)) * 1_000;
}

async function rateNow(url: string, versions: number[]): Promise<number> {
  const store = await postgresStore(url, { connections: IN_FLIGHT });
  const perSecond = await rate(versions, (key, version) =>
    store.commit(key, dropPlan(key, path, 4), version, [warning('bench')]),
  );
  await store.close();
  return perSecond;
}

async function rateBefore(url: string, versions: number[]): Promise<number> {
  const sql = pool(url, 15_000, { max: IN_FLIGHT, prepare: true });
  const ask = (query: string, values: readonly unknown[]): Promise<readonly { won?: boolean }[]> =>
    sql.unsafe(query, values as never[], { prepare: true });
  await sql.unsafe('ALTER TABLE bobbin.events ENABLE TRIGGER notify_within');
  const perSecond = await rate(versions, async ({ tenant, thread }, version) => {
    const plan = JSON.stringify(dropPlan({ tenant, thread }, path, 4));
    await ask('SELECT * FROM bobbin.not_indexed($1, $2, $3)', [
      [tenant],
      [thread],
      [`{${ids.join(',')}}`],
    ]);
    const values = [tenant, thread, version, path.at(-1)?.id, 4, [], [], plan];
    const [row] = await ask(
      'SELECT * FROM bobbin.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, NULL, true)',
      [...values, [JSON.stringify(warning('bench'))], [], [], []],
    );
    return row?.won === true;
  });
  await sql.unsafe('ALTER TABLE bobbin.events DISABLE TRIGGER notify_within');
  await sql.end();
  return perSecond;
}

// In memory where that is possible: the delay is to be the only time that a sync takes.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
const server = await startPostgres({
  settings: ['fsync=on', `commit_delay=${SYNC_MS * 1_000}`, 'commit_siblings=0'],
});
const store = await postgresStore(server.url());
const versions = Array.from({ length: IN_FLIGHT }, () => 0);
for (const lane of versions.keys()) await store.append(keyOf(lane), path);
await store.close();
const sql = server.sql();
await sql.unsafe(NOTIFY_WITHIN);
await sql.end();
const ratios: number[] = [];
for (let round = 1; round <= ROUNDS; round++) {
  const before = await rateBefore(server.url(), versions);
  const now = await rateNow(server.url(), versions);
  ratios.push(now / before);
  console.log(
    `commits/s with a sync of ${SYNC_MS} ms, ${IN_FLIGHT} in flight: ${now.toFixed(0)}; each alone with its notification ${before.toFixed(0)}; ${(now / before).toFixed(1)} times`,
  );
}
await server.stop();
const median = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
console.log(`median ${median.toFixed(1)} times (at least 5)`);
if (median < 5) process.exitCode = 1;
