import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Database } from '../src/sqlite/database.ts';

function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-sqlite-writer-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'a.db');
}

test('a caller that writes again as soon as it may begins one transaction for each write', async (t) => {
  const database = new Database(newFile(t), {});
  t.after(() => database.close());
  const run = t.mock.method(database, 'run');
  const results: number[] = [];
  for (let i = 0; i < 300; i++) results.push(await database.atomically(() => i));
  // What a second writer would have scheduled has its turn.
  await new Promise(setImmediate);
  assert.deepEqual(
    results,
    Array.from({ length: 300 }, (_, i) => i),
  );
  const begun = run.mock.calls.filter(({ arguments: [sql] }) => sql === 'BEGIN IMMEDIATE');
  assert.equal(begun.length, 300);
});
