import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { volume } from '@bobbin/testing/volume';
import { killWriters } from './crash.ts';
import { newDatabase } from './shared-postgres.ts';

const KILLS = volume(2, 200);

test('C1 a writer killed at any moment loses nothing: sqlite and jsonl', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-crash-'));
  t.diagnostic(`sqlite: ${await killWriters('sqlite', join(folder, 'threads.db'), KILLS)}`);
  t.diagnostic(`jsonl: ${await killWriters('jsonl', join(folder, 'sessions'), KILLS)}`);
  rmSync(folder, { recursive: true });
});

test('C1 a writer killed at any moment loses nothing: postgres', async (t) => {
  t.diagnostic(`postgres: ${await killWriters('postgres', await newDatabase(), KILLS)}`);
});
