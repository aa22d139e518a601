import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
  closeSync,
  writeFileSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { textMessage, type MessageId, type ThreadId } from '@bobbin/core';
import type { ArtifactId } from '@bobbin/core/internal';
import {
  folderArtifacts,
  jsonlStore,
  s3Artifacts,
  sqliteStore,
  StoreError,
  verifyStore,
  type StoreProblem,
} from '@bobbin/stores';
import { postgresStore } from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { allNodes } from '../src/conformance/everything.ts';
import { dropPlan, freshKey, nodesOf, talk, warning } from '../src/conformance/sample.ts';
import { bulkText } from './bulk-text.ts';
import { startPostgres } from './postgres-server.ts';
import { startS3 } from './s3-server.ts';
import { openStore, type StoreKind } from './store-place.ts';
import { startWriter } from './writer.ts';

const root = mkdtempSync(join(tmpdir(), 'bobbin-faults-'));
after(() => {
  rmSync(root, { recursive: true, force: true });
});

function isProblem(problem: StoreProblem, expected: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.problem, problem);
    assert.match(error.message, expected);
    return true;
  };
}

/** After a disk was full: all that was acknowledged is there, and nothing else; and there is space again. */
async function assertWhole(
  kind: StoreKind,
  place: string,
  said: string,
  expected: RegExp,
): Promise<void> {
  const [, acknowledged, problem, message] = /^failed (\d+) (\S+) (.*)$/.exec(said) ?? [];
  assert.equal(problem, 'unavailable', said);
  assert.match(message ?? '', expected);
  const count = Number(acknowledged);
  assert.ok(count > 10, said);
  const key = { tenant: 'full', thread: 'full' as ThreadId };
  const path = nodesOf(
    Array.from({ length: count + 1 }, (_, i) => textMessage('user', bulkText(i))),
  );
  const store = await openStore(kind, place);
  assert.deepEqual(await allNodes(store, key), path.slice(0, count));
  await store.append(key, path.slice(count));
  assert.deepEqual(await store.path(key, path.at(-1)?.id as MessageId), path);
  assert.deepEqual((await verifyStore(store, ['full'])).problems, []);
  await store.close();
}

for (const [kind, expected] of [
  ['sqlite', /full\.sqlite: (disk I\/O error|database or disk is full)/],
  ['jsonl', /full\.jsonl: EFBIG/],
] as const) {
  test(`${kind}: a full disk is a clear error, nothing is lost and nothing half-written`, async () => {
    const place = join(root, `full.${kind}`);
    const writer = startWriter(['fill', kind, place, 'full'], 300);
    const said = await writer.heard('failed');
    await writer.ended;
    await assertWhole(kind, place, said, expected);
  });
}

test('postgres: a full disk is a clear error, nothing is lost and nothing half-written', async (t) => {
  const server = await startPostgres({ fileLimitKb: 2_048 });
  t.after(() => server.stop());
  const writer = startWriter(['fill', 'postgres', server.url(), 'full']);
  const said = await writer.heard('failed');
  await writer.ended;
  const [, acknowledged, problem, message] = /^failed (\d+) (\S+) (.*)$/.exec(said) ?? [];
  assert.equal(problem, 'unavailable', said);
  assert.match(message ?? '', /could not extend file/);
  const store = await postgresStore(server.url());
  const key = { tenant: 'full', thread: 'full' as ThreadId };
  assert.equal((await allNodes(store, key)).length, Number(acknowledged));
  assert.deepEqual((await verifyStore(store, ['full'])).problems, []);
  await store.close();
});

test('artifacts: a full disk leaves no half of a file', async () => {
  const place = join(root, 'full-artifacts');
  const writer = startWriter(['artifacts', '-', place], 1_000);
  const said = await writer.heard('failed');
  await writer.ended;
  assert.match(said, /^failed unavailable .*EFBIG/);
  const artifacts = folderArtifacts(place);
  assert.equal(
    await artifacts.get((writer.lines[0] ?? '').replace('put ', '') as ArtifactId, {
      tenant: 'full',
    }),
    'small',
  );
  assert.deepEqual(await artifacts.verify('full'), []);
  assert.deepEqual(await artifacts.sweep('full', () => true, 0), {
    kept: 1,
    removed: 0,
    problems: [],
  });
});

for (const kind of ['sqlite', 'jsonl'] as const) {
  test(`${kind}: a read-only folder is a clear error, and nothing in it changes`, async () => {
    const folder = join(root, `read-only-${kind}`);
    mkdirSync(folder);
    chmodSync(root, 0o755);
    const place = kind === 'sqlite' ? join(folder, 'threads.db') : folder;
    const key = { tenant: 'full', thread: 'kept' as ThreadId };
    const store = await openStore(kind, place);
    await store.append(key, talk(3));
    await store.close();
    chmodSync(folder, 0o555);
    if (kind === 'jsonl') chmodSync(join(folder, 'full'), 0o555);
    const writer = startWriter(['read-only', kind, place, 'kept']);
    await writer.ended;
    const failure = writer.lines.at(-1) ?? '';
    assert.match(
      failure,
      kind === 'sqlite'
        ? /^(open|append) unavailable .*threads\.db: /
        : /^append unavailable .*kept\.jsonl: /,
    );
    if (kind === 'jsonl') assert.ok(writer.lines.includes('read done'));
    chmodSync(folder, 0o755);
    const again = await openStore(kind, place);
    assert.deepEqual((await again.window(key))?.tail, talk(3));
    await again.close();
  });
}

test('sqlite: a damaged file is a clear error, and is not overwritten', async () => {
  const path = join(root, 'damaged.db');
  const key = freshKey('damaged');
  const store = sqliteStore(path);
  for (let i = 0; i < 40; i++) await store.append(key, talk(20, `${i} ${'y'.repeat(200)}`));
  await store.close();
  const file = openSync(path, 'r+');
  for (let page = 3; page < statSync(path).size / 4096; page += 1)
    writeSync(file, Buffer.alloc(300, 0x5a), 0, 300, page * 4096);
  closeSync(file);
  const before = readFileSync(path);
  const damaged = sqliteStore(path);
  await assert.rejects(damaged.window(key), isProblem('damaged', /damaged\.db/));
  await assert.rejects(damaged.append(key, talk(2)), isProblem('damaged', /damaged\.db/));
  await damaged.close();
  assert.ok(readFileSync(path).equals(before));

  const noise = join(root, 'noise.db');
  writeFileSync(
    noise,
    'this is no database at all, but a longer text than its header would be '.repeat(10),
  );
  assert.throws(
    () => sqliteStore(noise),
    isProblem('damaged', /noise\.db: file is not a database/),
  );
  assert.throws(
    () => sqliteStore(join(root, 'no', 'such', 'folder.db')),
    isProblem('unavailable', /folder\.db: unable to open/),
  );
});

test('postgres: a connection lost in mid-transaction writes nothing, and the next call has a new one', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const store = await postgresStore(server.url(), { connections: 1 });
  const other = postgres(server.url(), { max: 1 });
  const key = freshKey('lost');
  const path = talk(3);
  await store.append(key, path);
  /** Lets some work wait for a lock, and cuts its connection there. */
  const cut = async (work: () => Promise<unknown>): Promise<unknown> => {
    const held = await other.reserve();
    await held`BEGIN`;
    await held`SELECT 1 FROM bobbin.threads FOR UPDATE`;
    const outcome = work().catch((error: unknown) => error);
    await untilBlocked(held);
    await held`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await held`ROLLBACK`;
    held.release();
    const result = await outcome;
    // The pool learns of its lost connection with the next call, which is tried again where that is safe.
    await store.window(key);
    return result;
  };
  const lost = isProblem('unavailable', /terminat|CONNECTION/);
  assert.ok(lost(await cut(() => store.commit(key, dropPlan(key, path, 2), 0, [warning('x')]))));
  assert.ok(lost(await cut(() => store.record(key, [warning('x')]))));
  assert.deepEqual((await store.window(key))?.tail, path);
  assert.equal((await store.window(key))?.version, 0);
  assert.deepEqual(await store.events(key), []);
  const more = nodesOf([textMessage('user', 'more')], path);
  assert.deepEqual(await cut(() => store.append(key, more)), { kind: 'appended' }, 'tried again');
  assert.deepEqual(await allNodes(store, key), [...path, ...more]);
  assert.equal(await store.commit(key, dropPlan(key, path, 2), 0, [warning('at last')]), true);
  await other.end();
  await store.close();
});

async function untilBlocked(sql: postgres.ReservedSql): Promise<void> {
  for (;;) {
    const rows =
      await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('postgres: a server that is gone is a clear error', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const store = await postgresStore(server.url(), { retryMs: 200 });
  const key = freshKey('gone');
  await store.append(key, talk(1));
  await server.stop();
  await assert.rejects(store.append(key, talk(2)), isProblem('unavailable', /^postgres: /));
  const once = { retryMs: 0 };
  await assert.rejects(postgresStore(server.url(), once), isProblem('unavailable', /ECONNREFUSED/));
  await store.close();
});

test('s3: a server that is gone, a bucket that is not there and a wrong secret are clear errors', async () => {
  const s3 = await startS3();
  const about = {
    tenant: 'a',
    thread: 't' as ThreadId,
    createdAt: 0,
    mediaType: 'text/plain',
    sensitivity: 'internal',
  } as const;
  await assert.rejects(
    s3Artifacts({ ...s3.options, bucket: 'nowhere' }).put('x', about),
    isProblem('unavailable', /nowhere.*404 NoSuchBucket/),
  );
  await assert.rejects(
    s3Artifacts({ ...s3.options, accessKeyId: 'nobody' }).put('x', about),
    isProblem('unavailable', /403 InvalidAccessKeyId/),
  );
  await s3.stop();
  await assert.rejects(
    s3Artifacts(s3.options).put('x', about),
    isProblem('unavailable', /fetch failed/),
  );
});

test('jsonl: a folder that is a file is a clear error', async () => {
  const path = join(root, 'a-file');
  writeFileSync(path, '');
  await assert.rejects(
    jsonlStore(path).append(freshKey('x'), talk(1)),
    isProblem('unavailable', /a-file/),
  );
});
