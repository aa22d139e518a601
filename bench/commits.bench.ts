// Commits a second at 16 in flight on a disk that takes 2 ms to sync (commit_delay: the server sleeps before it does),
// beside commits as they were before: each in a transaction of its own, with its notification within. Both in turn, three
// times; ends with 1 where the median ratio is below 5. What other processes take of the processors makes work slower and
// a sleep not: before each turn that is measured, and the sync is made as much longer.
import { existsSync } from 'node:fs';
import type { ThreadId } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { postgresStore } from '@bobbin/stores/postgres';
import { dropPlan, talk, warning } from '../packages/stores/src/conformance/sample.ts';
import { pool } from '../packages/stores/src/postgres/connection.ts';
import { startPostgres } from '../packages/stores/test/postgres-server.ts';

const IN_FLIGHT = 16;
const COMMITS = Number(process.env['BOBBIN_BENCH_COMMITS'] ?? 1_600);
const SYNC_MS = 2;
const ROUNDS = 3;
const path = talk(6);
const ids = path.slice(0, 4).map(({ id }) => id);
const keyOf = (lane: number): ThreadKey => ({ tenant: 'bench', thread: `t${lane}` as ThreadId });

/** As a plan was committed before: alone, and with its event reported within its transaction. */
const COMMIT_BEFORE = `
  CREATE FUNCTION bobbin.commit_before(
    p_tenant text, p_thread text, p_expected int, p_head text, p_reach int, p_carried text[], p_plan text, p_event text
  ) RETURNS bool LANGUAGE plpgsql AS $$
  DECLARE last int;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    UPDATE bobbin.threads SET version = version + 1, events = events + 1
    WHERE tenant = p_tenant AND thread = p_thread AND version = p_expected RETURNING events INTO last;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO bobbin.plans (tenant, thread, version, head, reach, carried, artifacts, plan)
    VALUES (p_tenant, p_thread, p_expected + 1, p_head, p_reach, p_carried, '{}', p_plan);
    INSERT INTO bobbin.events (tenant, thread, sequence, version, event)
    VALUES (p_tenant, p_thread, last, p_expected + 1, p_event);
    PERFORM pg_notify('before', p_thread);
    RETURN true;
  END $$`;

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

/** How many times as long as its processor time some work takes here: 1 on a machine that does nothing else. */
function slowdown(): number {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const workedMs = (): number => {
    const { user, system } = process.cpuUsage(cpu);
    return (user + system) / 1_000;
  };
  while (workedMs() < 300);
  return Math.max(1, (performance.now() - started) / workedMs());
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
  const perSecond = await rate(versions, async ({ tenant, thread }, version) => {
    const plan = JSON.stringify(dropPlan({ tenant, thread }, path, 4));
    await ask('SELECT * FROM bobbin.not_indexed($1, $2, $3)', [
      [tenant],
      [thread],
      [`{${ids.join(',')}}`],
    ]);
    const event = JSON.stringify(warning('bench'));
    const [row] = await ask('SELECT bobbin.commit_before($1, $2, $3, $4, $5, $6, $7, $8) AS won', [
      tenant,
      thread,
      version,
      path.at(-1)?.id,
      4,
      [],
      plan,
      event,
    ]);
    return row?.won === true;
  });
  await sql.end();
  return perSecond;
}

// In memory where that is possible: the delay is to be the only time that a sync takes.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
const server = await startPostgres({
  settings: ['fsync=on', 'commit_siblings=0'],
});
const store = await postgresStore(server.url());
const versions = Array.from({ length: IN_FLIGHT }, () => 0);
for (const lane of versions.keys()) await store.append(keyOf(lane), path);
await store.close();
const sql = server.sql();
await sql.unsafe(COMMIT_BEFORE);
const ratios: number[] = [];
for (let round = 1; round <= ROUNDS; round++) {
  const syncMs = SYNC_MS * slowdown();
  await sql.unsafe(`ALTER SYSTEM SET commit_delay = ${Math.round(syncMs * 1_000)}`);
  await sql.unsafe('SELECT pg_reload_conf()');
  const before = await rateBefore(server.url(), versions);
  const now = await rateNow(server.url(), versions);
  ratios.push(now / before);
  console.log(
    `commits/s with a sync of ${SYNC_MS} ms (${syncMs.toFixed(1)} on this machine as busy as it is), ${IN_FLIGHT} in flight: ${now.toFixed(0)}; each alone with its notification ${before.toFixed(0)}; ${(now / before).toFixed(1)} times`,
  );
}
await sql.end();
await server.stop();
const median = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
console.log(`median ${median.toFixed(1)} times (at least 5)`);
if (median < 5) process.exitCode = 1;
