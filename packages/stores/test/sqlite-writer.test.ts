import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type { MessageId, ThreadId } from '@bobbin/core';
import { sqliteStore } from '@bobbin/stores';
import { talk, warning } from '../src/conformance/sample.ts';
import { Database } from '../src/sqlite/database.ts';
import { LogWatch } from '../src/sqlite/log-watch.ts';

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

function transactions(t: TestContext, database: Database): () => number {
  const run = t.mock.method(database, 'run');
  return () => run.mock.calls.filter(({ arguments: [sql] }) => sql === 'COMMIT').length;
}

async function writeTimes(database: Database, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await database.atomically(() => i);
}

test('a caller that writes again and again leaves time for other work', async (t) => {
  const database = new Database(newFile(t), {});
  t.after(() => database.close());
  let [time, turns, isOver] = [0, 0, false];
  t.mock.method(performance, 'now', () => (time += 1));
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await writeTimes(database, 1_000);
  isOver = true;
  // Each write looks at the clock twice, and a turn is 10 ms long.
  assert.ok(turns >= 150 && turns <= 400, `${turns} turns of the event loop`);
});

test('several callers that write again and again share transactions', async (t) => {
  const database = new Database(newFile(t), {});
  t.after(() => database.close());
  const committed = transactions(t, database);
  const later = async (): Promise<void> => {
    for (let i = 0; i < 100; i++) {
      await database.atomically(() => i);
      for (let hop = 0; hop < 20; hop++) await Promise.resolve();
    }
  };
  await Promise.all([writeTimes(database, 100), writeTimes(database, 100), later()]);
  assert.ok(committed() <= 110, `${committed()} transactions`);
});

test('callers in one turn of the event loop share a transaction', async (t) => {
  const database = new Database(newFile(t), {});
  t.after(() => database.close());
  await writeTimes(database, 2);
  const committed = transactions(t, database);
  const writes = [1, 2, 3].map(
    (n) =>
      new Promise<number>((resolve) => {
        setTimeout(() => resolve(database.atomically(() => n)), 1);
      }),
  );
  // The timers are due together.
  const until = performance.now() + 5;
  while (performance.now() < until);
  // A busy machine may stop for longer than a turn lasts: the clock does not go on.
  t.mock.method(performance, 'now', () => until);
  assert.deepEqual(await Promise.all(writes), [1, 2, 3]);
  assert.equal(committed(), 1);
});

test('a read that is locked out waits, and only it', async (t) => {
  const database = new Database(newFile(t), {});
  t.after(() => database.close());
  const waits = (): unknown => database.get('PRAGMA busy_timeout');
  // oxlint-disable-next-line typescript/unbound-method -- called with its object below
  const { all } = StatementSync.prototype;
  const waited: unknown[] = [];
  t.mock.method(StatementSync.prototype, 'all', function (this: StatementSync) {
    waited.push(waits());
    // SQLITE_BUSY_RECOVERY: another process repairs the log after a crash.
    if (waited.length === 1) throw Object.assign(new Error('database is locked'), { errcode: 261 });
    return all.call(this, {});
  });
  const answer = database.all('SELECT 1 AS one').map((row) => ({ ...(row as object) }));
  assert.deepEqual(answer, [{ one: 1 }]);
  waited.push(waits());
  assert.deepEqual(
    waited.map((row) => ({ ...(row as object) })),
    [{ timeout: 0 }, { timeout: 30_000 }, { timeout: 0 }],
  );
});

/** What became of some writes, in words. */
async function outcomes(writes: readonly Promise<unknown>[]): Promise<readonly string[]> {
  const settled = await Promise.allSettled(writes);
  return settled.map((one) =>
    one.status === 'fulfilled' ? String(one.value) : String(one.reason).replace(/\S*\//, ''),
  );
}

test('each write waits for a lock for as long as it may itself', async (t) => {
  const path = newFile(t);
  const database = new Database(path, {});
  t.after(() => database.close());
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  const now = performance.now.bind(performance);
  let passed = 0;
  t.mock.method(performance, 'now', () => now() + passed);
  other.exec('BEGIN IMMEDIATE');
  const first = database.atomically(() => 'first');
  await new Promise((resolve) => setTimeout(resolve, 50));
  passed = 25_000;
  const second = database.atomically(() => 'second');
  passed = 31_000;
  assert.deepEqual(await outcomes([first]), ['StoreError: a.db: database is locked']);
  other.exec('COMMIT');
  assert.deepEqual(await outcomes([second]), ['second']);
});

test('a warning that throws after a commit fails no write', async (t) => {
  const database = new Database(newFile(t), {});
  t.after(() => database.close());
  t.mock.method(LogWatch.prototype, 'look', () => {
    throw new Error('the warning throws');
  });
  const warn = t.mock.method(console, 'warn', () => undefined);
  // The first write takes more than a turn: the second one waits for the next transaction.
  const slow = database.atomically(() => {
    const until = performance.now() + 20;
    while (performance.now() < until);
    return 'slow';
  });
  const next = database.atomically(() => 'next');
  assert.deepEqual(await outcomes([slow, next]), ['slow', 'next']);
  assert.equal(warn.mock.callCount(), 2);
  assert.match(
    String(warn.mock.calls[0]?.arguments[0]),
    /^bobbin: .*a\.db: the length of the log is unknown: the warning throws$/,
  );
});

test('a rollback that fails rejects the writes of its transaction, and no other', async (t) => {
  const database = new Database(newFile(t), {});
  t.after(() => database.close());
  const failed = { COMMIT: 0, ROLLBACK: 0 };
  const failOnce = (sql: string): void => {
    if ((sql === 'COMMIT' || sql === 'ROLLBACK') && failed[sql]++ === 0)
      throw new Error(`${sql} fails`);
  };
  const run = database.run.bind(database);
  // oxlint-disable-next-line typescript/unbound-method -- called with its object below
  const { exec } = DatabaseSync.prototype;
  t.mock.method(database, 'run', (sql: string) => {
    failOnce(sql);
    return run(sql);
  });
  t.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
    failOnce(sql);
    exec.call(this, sql);
  });
  const slow = database.atomically(() => {
    const until = performance.now() + 20;
    while (performance.now() < until);
  });
  const next = database.atomically(() => 'next');
  assert.deepEqual(await outcomes([slow, next]), ['Error: COMMIT fails', 'next']);
  assert.deepEqual(failed, { COMMIT: 2, ROLLBACK: 2 });
});

test('what waits when a store is closed is written; what comes later is refused', async (t) => {
  const path = newFile(t);
  const [key, nodes] = [{ tenant: 'acme', thread: 'a' as ThreadId }, talk(2)];
  const store = sqliteStore(path);
  const waiting = [0, 1, 2, 3].map((i) => store.append(key, nodes.slice(i, i + 1)));
  const closed = [store.close(), store.close()];
  const late = outcomes([store.record(key, [warning('late')])]);
  assert.deepEqual(
    await Promise.all(waiting),
    nodes.map(() => ({ kind: 'appended' })),
  );
  assert.deepEqual(await late, ['StoreError: a.db: the store is closed']);
  await Promise.all(closed);
  assert.deepEqual(await outcomes([store.heads(key), store.append(key, nodes)]), [
    'StoreError: a.db: the store is closed',
    'StoreError: a.db: the store is closed',
  ]);
  const again = sqliteStore(path);
  t.after(() => again.close());
  assert.deepEqual(await again.path(key, nodes.at(-1)?.id as MessageId), nodes);
});

test('a message that was rolled back is not taken for one that is there', async (t) => {
  const [key, nodes] = [{ tenant: 'acme', thread: 'a' as ThreadId }, talk(6)];
  const store = sqliteStore(newFile(t));
  t.after(() => store.close());
  await store.append(key, nodes.slice(0, 1));
  // oxlint-disable-next-line typescript/unbound-method -- called with its object below
  const { run } = Database.prototype;
  const failing = t.mock.method(
    Database.prototype,
    'run',
    function (this: Database, ...args: Parameters<Database['run']>) {
      if (args[0] === 'COMMIT') throw new Error('COMMIT fails');
      return run.apply(this, args);
    },
  );
  // Time does not pass, so that all of it is one transaction: to append a message, the store looks for the rows of its ancestors.
  const clock = t.mock.method(performance, 'now', () => 0);
  const writes = nodes.slice(1).map((node) => store.append(key, [node]));
  assert.deepEqual(
    await outcomes(writes),
    writes.map(() => 'Error: COMMIT fails'),
  );
  failing.mock.restore();
  clock.mock.restore();
  const windows = await Promise.all(nodes.map(({ id }) => store.window(key, id)));
  assert.deepEqual(
    windows.map((window) => window?.tail.length),
    nodes.map((_, i) => (i === 0 ? 1 : undefined)),
  );
});
