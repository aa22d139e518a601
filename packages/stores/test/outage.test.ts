import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { textMessage, type MessageId } from '@bobbin/core';
import type { Node, ThreadKey } from '@bobbin/core/internal';
import { StoreError } from '@bobbin/stores';
import { compactionQueue, postgresStore } from '@bobbin/stores/postgres';
import { dropPlan, freshKey, nodesOf, talk, warning } from '../src/conformance/sample.ts';
import { startPostgres } from './postgres-server.ts';

/** A line to a server that can fall silent: it takes everything and passes nothing on. */
async function silentLine(
  to: string,
): Promise<{ url: string; silence(): void; speak(): void; close(): void }> {
  const { port: target } = new URL(to);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((from) => {
    const out = connect(Number(target), '127.0.0.1');
    for (const [a, b] of [
      [from, out],
      [out, from],
    ] as const) {
      sockets.add(a);
      a.on('data', (bytes) => {
        if (!isSilent) b.write(bytes);
      });
      a.on('close', () => b.destroy());
      a.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: to.replace(`:${target}`, `:${port}`),
    silence: () => {
      isSilent = true;
    },
    speak: () => {
      isSilent = false;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('a silent network is a clear error within the time that was set, and is forgotten when it is over', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const line = await silentLine(server.url());
  t.after(() => line.close());
  const store = await postgresStore(line.url, { timeoutMs: 700, retryMs: 300, connections: 3 });
  const key = freshKey('silent');
  const path = talk(2);
  await store.append(key, path);
  line.silence();
  const started = performance.now();
  const calls = [
    store.append(key, nodesOf([textMessage('user', 'lost?')], path)),
    store.window(key),
    store.commit(key, dropPlan(key, path, 2), 0, []),
    // More than there are connections: these wait for one.
    ...Array.from({ length: 6 }, () => store.events(key)),
  ];
  for (const outcome of await Promise.allSettled(calls)) {
    assert.equal(outcome.status, 'rejected');
    assert.ok(outcome.reason instanceof StoreError && outcome.reason.problem === 'unavailable');
  }
  assert.ok(performance.now() - started < 15_000, `${performance.now() - started} ms`);
  line.speak();
  assert.deepEqual((await store.window(key))?.tail.slice(0, 4), path);
  await store.close();
});

test('writers wait for a server that restarts or crashes: 0 fail, 0 acknowledged appends are lost', async (t) => {
  const server = await startPostgres({ settings: ['fsync=on'] });
  t.after(() => server.stop());
  const store = await postgresStore(server.url(), { connections: 4 });
  const done = new AbortController();
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    const key = freshKey(`writer-${writer}`);
    const line: Node[] = [];
    while (!done.signal.aborted) {
      const next = nodesOf([textMessage('user', `message ${line.length}`)], line);
      await store.append(key, next);
      line.push(...next);
    }
    return { key, line };
  });
  for (const how of ['fast', 'crash'] as const) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await server.restart(how, 800);
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  done.abort();
  let acknowledged = 0;
  for (const { key, line } of await Promise.all(writers)) {
    assert.deepEqual(await store.path(key, line.at(-1)?.id as MessageId), line);
    acknowledged += line.length;
  }
  t.diagnostic(`${acknowledged} acknowledged, 0 lost`);
  await store.close();
});

test('a commit waits too where it cannot have reached the server', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const store = await postgresStore(server.url(), { connections: 1 });
  const key = freshKey('commit');
  const path = talk(2);
  await store.append(key, path);
  const restarting = server.restart('fast', 600);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(await store.commit(key, dropPlan(key, path, 2), 0, [warning('x')]), true);
  await restarting;
  await store.close();
});

test('too many clients are waited for', async (t) => {
  const server = await startPostgres({ settings: ['fsync=off', 'max_connections=12'] });
  t.after(() => server.stop());
  const stores = await Promise.all(
    Array.from({ length: 4 }, () => postgresStore(server.url(), { connections: 10 })),
  );
  const appends = stores.flatMap((store, i) =>
    Array.from({ length: 30 }, (_, n) => store.append(freshKey(`${i}-${n}`), talk(1))),
  );
  await Promise.all(appends);
  await Promise.all(stores.map((store) => store.close()));
});

test('17 a server that is gone is a clear error within the time that was set', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const store = await postgresStore(server.url(), { timeoutMs: 700, retryMs: 500 });
  const key = freshKey('gone');
  const path = talk(2);
  await store.append(key, path);
  await server.halt();
  const started = performance.now();
  const calls = [
    store.append(key, nodesOf([textMessage('user', 'lost?')], path)),
    store.window(key),
    store.commit(key, dropPlan(key, path, 2), 0, []),
  ];
  for (const outcome of await Promise.allSettled(calls)) {
    assert.equal(outcome.status, 'rejected');
    assert.ok(outcome.reason instanceof StoreError && outcome.reason.problem === 'unavailable');
    assert.match(outcome.reason.message, /^postgres: .*ECONNREFUSED/);
  }
  assert.ok(performance.now() - started < 15_000, `${performance.now() - started} ms`);
  await store.close();
});

test('17 of two hosts the one that answers is taken, and the other after a failure: store and queue', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const { port } = new URL(server.url());
  const url = `postgres://postgres@127.0.0.1:1,127.0.0.1:${port}/postgres`;
  const store = await postgresStore(url);
  const queue = await compactionQueue(url);
  const key = freshKey('two hosts');
  await store.append(key, talk(1));
  await server.restart('fast');
  assert.equal((await store.window(key))?.tail.length, 2);
  const done = Promise.withResolvers<ThreadKey>();
  const stop = await queue.work(
    async (job) => done.resolve(job),
    (error) => done.reject(error),
    { pollMs: 20 },
  );
  await queue.add(key);
  assert.deepEqual(await done.promise, key);
  await stop();
  await queue.close();
  await store.close();
});
