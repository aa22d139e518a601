import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { killWriters } from './crash.ts';
import { startPostgres } from './postgres-server.ts';

const KILLS = Number(process.env['BOBBIN_SOAK_KILLS'] ?? 200);

test('C1 a writer killed at any moment loses nothing: sqlite and jsonl', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-crash-'));
  t.diagnostic(`sqlite: ${await killWriters('sqlite', join(folder, 'threads.db'), KILLS)}`);
  t.diagnostic(`jsonl: ${await killWriters('jsonl', join(folder, 'sessions'), KILLS)}`);
  rmSync(folder, { recursive: true });
});

test('C1 a writer killed at any moment loses nothing: postgres', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  t.diagnostic(`postgres: ${await killWriters('postgres', server.url(), KILLS)}`);
});
