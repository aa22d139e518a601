import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { ThreadId } from '@bobbin/core';
import { StoreError } from '@bobbin/stores';
import { postgresStore, type PostgresStore, type ThreadNews } from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { dropPlan, freshKey, talk, warning } from '../src/conformance/sample.ts';
import { newDatabase } from './shared-postgres.ts';
import { blocked, until } from './waits.ts';

suite('connections of PostgreSQL', () => {
  let url: string;
  let store: PostgresStore;
  before(async () => {
    url = await newDatabase();
    store = await postgresStore(url);
  });
  after(() => store.close());

  test('C20 events are reported to every process that watches their tenant, and to no other', async () => {
    const other = await postgresStore(url, { connections: 2 });
    const key = freshKey('watched', 'watch');
    const long = { tenant: 'watch', thread: 'x'.repeat(2_000) as ThreadId };
    const news: ThreadNews[] = [];
    const stop = await other.watch('watch', (each) => news.push(each));
    const foreign: ThreadNews[] = [];
    const stopForeign = await other.watch('elsewhere', (each) => foreign.push(each));
    const path = talk(3);
    await store.append(key, path);
    await store.commit(key, dropPlan(key, path, 2), 0, [warning('a'), warning('b')]);
    await store.record(key, [warning('c')]);
    await store.append(long, path);
    await store.record(long, [warning('too long a name for a message')]);
    await until(() => news.length >= 3);
    assert.deepEqual(news, [
      { kind: 'events', thread: key.thread, sequence: 2 },
      { kind: 'events', thread: key.thread, sequence: 3 },
      { kind: 'missed' },
    ]);
    await stop();
    await stopForeign();
    await store.record(key, [warning('unheard')]);
    assert.deepEqual([news.length, foreign.length], [3, 0]);
    await other.close();
  });

  test('C20 after a lost connection a watcher hears that it may have missed something', async () => {
    const other = await postgresStore(url, { connections: 2 });
    const key = freshKey('lost', 'lost');
    await store.append(key, talk(1));
    const news: ThreadNews[] = [];
    const stop = await other.watch('lost', (each) => news.push(each));
    const sql = postgres(url, { max: 1 });
    for (let lost = 1; lost <= 2; lost++) {
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`;
      await until(() => news.filter(({ kind }) => kind === 'missed').length === lost);
      await store.record(key, [warning(`after ${lost}`)]);
      await until(() => news.length === 2 * lost);
      assert.deepEqual(news.slice(-2), [
        { kind: 'missed' },
        { kind: 'events', thread: key.thread, sequence: lost },
      ]);
    }
    await stop();
    await store.record(key, [warning('unheard')]);
    await sql.end();
    await other.close();
    assert.equal(news.length, 4);
  });

  test('a store whose connection is lost while it opens is opened or refused, and never hangs', async () => {
    const unsteady = await newDatabase();
    const admin = postgres(url, { max: 1 });
    let dropped = 0;
    const done = new AbortController();
    const dropping = (async () => {
      while (!done.signal.aborted) {
        const ended = await admin`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${new URL(unsteady).pathname.slice(1)}`;
        dropped += ended.length;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      }
    })();
    const outcomes: unknown[] = [];
    for (let i = 0; i < 16; i++)
      outcomes.push(
        await settled(postgresStore(unsteady, { existing: i % 2 === 1, retryMs: 500 })),
      );
    done.abort();
    await dropping;
    await admin.end();
    assert.ok(dropped > 4, String(dropped));
    assert.deepEqual(
      outcomes.filter((each) => each !== 'opened' && each !== 'unavailable'),
      [],
    );
  });

  test('what comes after a lost connection is written, and the store closes at once', async () => {
    const RETRY_MS = 300;
    const one = await postgresStore(url, { connections: 1, retryMs: RETRY_MS });
    const key = freshKey('after', 'after');
    await one.append(key, talk(1));
    const sql = postgres(url, { max: 1 });
    for (const message of ['written', undefined]) {
      const held = await sql.reserve();
      await held`BEGIN`;
      await held`LOCK TABLE bobbin.messages IN ACCESS EXCLUSIVE MODE`;
      const refused = assert.rejects(one.window(key), StoreError);
      await blocked(held);
      // So late that the reading is not tried again: what comes next is the first to use the place of the connection.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      await held`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      await refused;
      if (message !== undefined) await one.record(key, [warning(message)]);
      await held`COMMIT`;
      held.release();
    }
    await sql.end();
    assert.equal((await store.events(key)).length, 1);
    assert.equal(await inTime(one.close()), 'done');
  });
});

/** Far more than it needs, and less than a wait for an answer that never comes. */
function inTime(work: Promise<unknown>): Promise<unknown> {
  const late = new Promise((resolve) => setTimeout(resolve, 4_000, 'hangs').unref());
  return Promise.race([work.then(() => 'done'), late]);
}

async function settled(opening: Promise<PostgresStore>): Promise<unknown> {
  let outcome: unknown = 'opened';
  const closed = opening.then(
    (opened) => opened.close(),
    (error: unknown) => {
      outcome = error instanceof StoreError ? error.problem : error;
    },
  );
  const end = await inTime(closed);
  return end === 'done' ? outcome : end;
}
