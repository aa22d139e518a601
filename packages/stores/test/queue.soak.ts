import { test } from 'node:test';
import { startPostgres } from './postgres-server.ts';
import { loseServersAndHosts } from './queue-loop.ts';

const ROUNDS = Number(process.env['BOBBIN_SOAK_ROUNDS'] ?? 60);

test('12 hosts work the queue while servers and hosts are lost', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  t.diagnostic(
    await loseServersAndHosts(server, { rounds: ROUNDS, hosts: 12, threads: 40, leaseMs: 5_000 }),
  );
});
