import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresStore } from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { jumpPosition } from '../src/sqlite/ancestry.ts';
import { startPostgres } from './postgres-server.ts';

test('E12 any ancestor is met in a number of steps that grows with the logarithm of the way', () => {
  for (const from of [100, 10_000, 1_000_000]) {
    for (let target = 0; target < from; target += Math.ceil(from / 997)) {
      let steps = 0;
      for (let at: number = from; at > target; steps++)
        at = jumpPosition(at) >= target ? jumpPosition(at) : at - 1;
      assert.ok(steps <= 3 * Math.log2(from), `from ${from} to ${target} in ${steps}`);
    }
  }
});

test('E12 PostgreSQL jumps to where SQLite does', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  await (await postgresStore(server.url())).close();
  const sql = postgres(server.url(), { max: 1 });
  const rows =
    await sql`SELECT bobbin.jump_position(i) AS position FROM generate_series(0, 3000) AS i ORDER BY i`;
  await sql.end();
  assert.deepEqual(
    rows.map((row) => row['position'] as number),
    Array.from({ length: 3_001 }, (_, i) => jumpPosition(i)),
  );
});
