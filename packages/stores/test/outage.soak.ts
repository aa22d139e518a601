import { test } from 'node:test';
import { postgresStore } from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { writeThrough } from './outage-loop.ts';
import { startPostgres } from './postgres-server.ts';

const ROUNDS = Number(process.env['BOBBIN_SOAK_ROUNDS'] ?? 60);

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

test('restarts and crashes of the server lose no acknowledged append', async (t) => {
  const server = await startPostgres({ settings: ['fsync=on'] });
  t.after(() => server.stop());
  const store = await postgresStore(server.url(), { connections: 8, retryMs: 60_000 });
  const figures = await writeThrough(store, 8, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await pause(500);
      await server.restart(round % 2 === 0 ? 'fast' : 'crash', 300);
    }
    await pause(500);
    return ROUNDS;
  });
  t.diagnostic(figures);
  await store.close();
});

test('failovers to a synchronous replica lose no acknowledged append', async (t) => {
  let losses = 0;
  for (let round = 0; round < Math.ceil(ROUNDS / 10); round++) {
    const server = await startPostgres({ settings: ['fsync=on'] });
    const replica = await server.replica();
    const admin = postgres(server.url(), { max: 1 });
    await admin`ALTER SYSTEM SET synchronous_standby_names = '*'`;
    await admin`SELECT pg_reload_conf()`;
    await admin.end();
    const hosts = [server, replica].map((each) => `127.0.0.1:${new URL(each.url()).port}`);
    const store = await postgresStore(
      `postgres://postgres@${hosts.join(',')}/postgres?target_session_attrs=primary`,
      { connections: 8, retryMs: 60_000 },
    );
    const figures = await writeThrough(store, 8, async () => {
      await pause(1_000);
      await server.halt();
      const sql = postgres(replica.url(), { max: 1 });
      await sql`ALTER SYSTEM SET synchronous_standby_names = ''`;
      await sql`SELECT pg_promote()`;
      await sql`SELECT pg_reload_conf()`;
      await sql.end();
      await pause(1_000);
      return (losses += 1);
    });
    t.diagnostic(figures);
    await store.close();
    await replica.stop();
    await server.stop();
  }
});
