import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { textMessage, type ThreadId } from '@bobbin/core';
import { queryWords, type Node, type ThreadKey } from '@bobbin/core/internal';
import { sqliteStore, StoreError, verifyStore, type StoreProblem } from '@bobbin/stores';
import { dropPlan, nodesOf, talk, warning } from '../src/conformance/sample.ts';

const root = mkdtempSync(join(tmpdir(), 'bobbin-sqlite-faults-'));
after(() => rmSync(root, { recursive: true }));
let files = 0;
const newFile = (): string => join(root, `${files++}.db`);
const keyOf = (thread: string, tenant: string = 'acme'): ThreadKey => ({
  tenant,
  thread: thread as ThreadId,
});

function isProblem(problem: StoreProblem, expected: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.problem, problem);
    assert.match(error.message, expected);
    return true;
  };
}

/** Writes without the store's knowledge. */
function tamper(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

test("another program's database, and one from the future, keep every byte", async () => {
  for (const mode of ['delete', 'wal']) {
    const path = newFile();
    const theirs = new DatabaseSync(path);
    theirs.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE theirs (x)`);
    const left = readFileSync(path);
    for (const existing of [true, false])
      assert.throws(
        () => sqliteStore(path, { existing }),
        isProblem('damaged', /another program's database$/),
      );
    assert.deepEqual(readFileSync(path), left);
    theirs.close();
    const closed = readFileSync(path);
    assert.throws(() => sqliteStore(path), isProblem('damaged', /another program's database$/));
    assert.deepEqual(readFileSync(path), closed, mode);
  }
  const future = newFile();
  await sqliteStore(future).close();
  tamper(future, 'PRAGMA journal_mode = DELETE; PRAGMA user_version = 99; CREATE TABLE later (x)');
  const before = readFileSync(future);
  assert.throws(() => sqliteStore(future), isProblem('from-the-future', /has schema 99/));
  assert.deepEqual(readFileSync(future), before);
});

test('a store that must be there is not made, and an older one is not changed', async () => {
  const path = newFile();
  const absent = isProblem('unavailable', /there is no store$/);
  assert.throws(() => sqliteStore(path, { existing: true }), absent);
  assert.equal(existsSync(path), false);
  new DatabaseSync(path).close();
  assert.throws(() => sqliteStore(path, { existing: true }), absent);
  const old = newFile();
  await sqliteStore(old).close();
  tamper(old, 'PRAGMA journal_mode = DELETE; PRAGMA user_version = 0');
  const before = readFileSync(old);
  assert.throws(
    () => sqliteStore(old, { existing: true }),
    isProblem('unavailable', /\.db has schema 0; bring it to schema 1/),
  );
  assert.deepEqual(readFileSync(old), before);
  assert.deepEqual(
    readdirSync(root).filter((name) => name.startsWith(basename(old))),
    [basename(old)],
  );
});

test('a spoiled plan or event is a clear error, and hides nothing else from a verification', async () => {
  const path = newFile();
  const store = sqliteStore(path);
  for (const name of ['events', 'message', 'plans', 'whole']) {
    const key = keyOf(name);
    await store.append(key, talk(4));
    await store.commit(key, dropPlan(key, talk(4), 2), 0, [warning('a')]);
    await store.commit(key, dropPlan(key, talk(4), 4), 1, [warning('b')]);
  }
  tamper(
    path,
    `UPDATE events SET event = '{' WHERE thread = 'events' AND sequence = 2;
     UPDATE messages SET message = '{' WHERE thread = 'message' AND position = 3;
     UPDATE plans SET plan = '{"format":1}' WHERE thread = 'plans' AND version = 2;
     UPDATE plans SET plan = replace(plan, '"format":1', '"format":7') WHERE thread = 'plans' AND version = 1`,
  );
  await assert.rejects(
    store.events(keyOf('events')),
    isProblem('damaged', /\.db, thread events: event 2 is no event$/),
  );
  await assert.rejects(
    store.window(keyOf('plans')),
    isProblem('damaged', /\.db, thread plans: plan 2 is no plan$/),
  );
  await assert.rejects(
    store.plan(keyOf('plans'), 1),
    isProblem('from-the-future', /thread plans: plan 1 has format 7/),
  );
  const { problems, ...counts } = await verifyStore(store);
  assert.deepEqual(counts, { threads: 4, messages: 24, plans: 8 });
  assert.deepEqual(
    problems.map(({ thread, problem }) => [
      thread,
      problem.replace(/^.*, thread \w+: /, '').replace(/[0-9a-f]{32}/, 'ID'),
    ]),
    [
      ['events', 'event 2 is no event'],
      ['message', 'message ID is no message'],
      ['plans', 'plan 1 has format 7; this Bobbin knows formats up to 1: update it'],
      ['plans', 'plan 2 is no plan'],
    ],
  );
  await store.close();
});

test('C26 a verification reports an index of words or a file that is damaged', async () => {
  for (const [damage, expected] of [
    [
      "UPDATE recall_data SET block = x'00112233445566778899' WHERE id > 10",
      /\.db: .*corruption|\.db: malformed inverted index/,
    ],
    ['DELETE FROM recall_data WHERE id > 10', /\.db: fts5: corruption found/],
    ['DROP TABLE recall_config', /\.db: vtable constructor failed: recall/],
    [
      `PRAGMA writable_schema = ON;
       UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'plans') WHERE name = 'vectors'`,
      /\.db: /,
    ],
  ] as const) {
    const path = newFile();
    const key = keyOf('t');
    const store = sqliteStore(path);
    await store.append(key, talk(4));
    await store.commit(key, dropPlan(key, talk(4), 4), 0, []);
    assert.deepEqual((await verifyStore(store)).problems, []);
    await store.close();
    const raw = new DatabaseSync(path, { defensive: false });
    raw.exec(damage);
    raw.close();
    const damaged = sqliteStore(path, { existing: true });
    const { problems, ...counts } = await verifyStore(damaged, ['acme']);
    await damaged.close();
    assert.deepEqual(counts, { threads: 1, messages: 8, plans: 1 }, damage);
    assert.ok(problems.length > 0, damage);
    for (const problem of problems) assert.deepEqual(Object.keys(problem), ['problem']);
    assert.match(problems[0]?.problem ?? '', expected);
  }
});

test('a verification of a file whose pages are damaged names the damage and ends', async () => {
  for (const from of [1, 2, 3, 5]) {
    const path = newFile();
    const store = sqliteStore(path);
    for (let i = 0; i < 20; i++) await store.append(keyOf(`t${i}`), talk(20, 'y'.repeat(200)));
    await store.close();
    const bytes = readFileSync(path);
    for (let page = from; page < bytes.length / 4_096; page += 3)
      bytes.fill(0x5a, page * 4_096, page * 4_096 + 300);
    writeFileSync(path, bytes);
    const damaged = sqliteStore(path);
    const { problems } = await verifyStore(damaged);
    assert.ok(problems.length > 0, `from page ${from}`);
    for (const { problem } of problems) assert.match(problem, /\.db|message|head/);
    await damaged.close();
  }
});

test('C26 what other tenants say changes neither order nor score of what is found', async () => {
  const store = sqliteStore(newFile(), { sync: 'normal' });
  const fill = async (tenant: string, text: (i: number) => string): Promise<void> => {
    const key = keyOf('t', tenant);
    const path = nodesOf(Array.from({ length: 12 }, (_, i) => textMessage('user', text(i))));
    await store.append(key, path);
    await store.commit(key, dropPlan(key, path, 12), 0, []);
  };
  await fill('me', (i) => `error ${i} in module ${i % 3} of the build`);
  const found = () => store.search(keyOf('t', 'me'), queryWords('error build module 7'), 20);
  const alone = await found();
  assert.equal(alone[0]?.node.index, 7);
  assert.equal(alone.length, 12);
  for (let i = 0; i < 30; i++) await fill(`other ${i}`, () => 'seven times 7 is an error 7 7 7');
  assert.deepEqual(await found(), alone);
  await store.close();
});

test('a process goes on with its other work while another one has the write lock', async () => {
  const path = newFile();
  const store = sqliteStore(path, { sync: 'normal' });
  const key = keyOf('waiting');
  await store.append(key, talk(1));
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const done: string[] = [];
  const waiting = Promise.all([
    store.append(key, talk(2)).then(() => done.push('append')),
    store.commit(key, dropPlan(key, talk(1), 1), 0, []).then(() => done.push('commit')),
  ]);
  let ticks = 0;
  for (const end = performance.now() + 400; performance.now() < end; ticks++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(done, []);
  assert.equal((await store.window(key))?.tail.length, 2, 'reads do not wait');
  other.exec('COMMIT');
  other.close();
  await waiting;
  // A wait of SQLite itself would have let the loop turn not once.
  assert.ok(ticks > 5, `${ticks} turns of the loop`);
  assert.equal((await store.window(key))?.version, 1);
  await store.close();
});

test('a process that writes without a pause still does its other work', async () => {
  const store = sqliteStore(newFile(), { sync: 'normal' });
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 1);
  let end = talk(1);
  for (const until = performance.now() + 400; performance.now() < until;) {
    await store.append(keyOf('busy'), end);
    end = nodesOf([textMessage('user', 'more')], end.slice(-1));
  }
  clearInterval(counting);
  assert.ok(turns > 5, `${turns} turns of the loop`);
  await store.close();
});

test('a process goes on with its other work while an erasure waits for a reader', async () => {
  const path = newFile();
  const store = sqliteStore(path, { sync: 'normal' });
  const key = keyOf('erased');
  await store.append(key, talk(1));
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM messages').get();
  let isDone = false;
  const erasing = store.delete({ tenant: key.tenant, threads: [key.thread] }).then((erased) => {
    isDone = true;
    return erased;
  });
  let ticks = 0;
  for (const end = performance.now() + 400; performance.now() < end; ticks++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([isDone, ticks > 5], [false, true], `${ticks} turns of the loop`);
  reader.exec('COMMIT');
  reader.close();
  assert.deepEqual(await erasing, [key.thread]);
  await store.close();
});

test('a reading of the store that is never finished does not make the log long', async () => {
  const path = newFile();
  const [store, other] = [sqliteStore(path, { sync: 'normal' }), sqliteStore(path)];
  const key = keyOf('unfinished');
  let end = nodesOf(Array.from({ length: 1_200 }, (_, i) => textMessage('user', `${i}`)));
  await store.append(key, end);
  await store.commit(key, dropPlan(key, end, 600), 0, []);
  const readings = [other.nodes(key), other.artifacts(key.tenant)];
  for (const reading of readings) await reading[Symbol.asyncIterator]().next();
  for (let i = 0; i < 2_000; i++) {
    end = nodesOf([textMessage('user', `${i} ${'x'.repeat(8_000)}`)], end.slice(-1));
    await store.append(key, end);
  }
  const logBytes = statSync(`${path}-wal`).size;
  // The log is put into the file each 1 000 pages of 4 096 bytes.
  assert.ok(logBytes < 3 * 4_096_000, `${logBytes} bytes after more than 16 000 000 were written`);
  await store.close();
  await other.close();
});

test('17 a log that a reader makes long is reported with what to do, and cut when the reader is done', async () => {
  const path = newFile();
  const warnings: string[] = [];
  const onWarning = (message: string): unknown => warnings.push(message);
  const store = sqliteStore(path, { sync: 'normal', onWarning });
  const key = keyOf('log');
  await store.append(key, talk(1));
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM messages').get();
  const text = 'x'.repeat(200_000);
  let end = talk(1);
  for (let i = 0; i < 450; i++) {
    const more = nodesOf([textMessage('user', `${i} ${text}`)], end);
    await store.append(key, more);
    end = more;
  }
  const logBytes = (): number => statSync(`${path}-wal`).size;
  assert.ok(logBytes() > 70_000_000, `${logBytes()} bytes`);
  assert.equal(warnings.length, 1, warnings.join('\n'));
  assert.match(
    warnings[0] ?? '',
    /-wal\) has grown to \d+ MB, because another connection .* End it/,
  );
  reader.exec('COMMIT');
  reader.close();
  for (let i = 0; i < 3; i++) {
    const more = nodesOf([textMessage('user', `after ${i}`)], end);
    await store.append(key, more);
    end = more;
  }
  assert.ok(logBytes() <= 67_108_864, `${logBytes()} bytes`);
  await store.close();
});

test('writes that share a commit fail alone', async () => {
  const store = sqliteStore(newFile());
  const [first, second] = talk(2);
  const written = await Promise.allSettled([
    store.append(keyOf('a'), [first as Node]),
    // Its parent is not there.
    store.append(keyOf('b'), [second as Node]),
    store.append(keyOf('c'), [first as Node, second as Node]),
  ]);
  assert.deepEqual(
    written.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const heads = await Promise.all(['a', 'b', 'c'].map((thread) => store.heads(keyOf(thread))));
  assert.deepEqual(heads, [[first?.id], [], [second?.id]]);
  await store.close();
});
