import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { textMessage, type MessageId, type ThreadId } from '@bobbin/core';
import { queryWords, type Node, type ThreadKey } from '@bobbin/core/internal';
import { postgresStore, type PostgresStore } from '@bobbin/stores/postgres';
import { dropPlan, nodesOf } from '../src/conformance/sample.ts';
import { startPostgres, type PostgresServer } from './postgres-server.ts';

const SIZES = [400, 4_000] as const;
let server: PostgresServer;
let store: PostgresStore;
const paths = new Map<number, readonly Node[]>();
const keyOf = (size: number): ThreadKey => ({ tenant: 'acme', thread: `t${size}` as ThreadId });

/** Threads of ten times the size, in tables of which the server knows nothing yet. */
before(async () => {
  server = await startPostgres({ settings: ['fsync=off', 'autovacuum=off'] });
  store = await postgresStore(server.url());
  for (const size of SIZES) {
    const path = nodesOf(
      Array.from({ length: size }, (_, i) =>
        textMessage(i % 2 === 0 ? 'user' : 'assistant', `error ${i % 97} in a module`),
      ),
    );
    paths.set(size, path);
    for (let i = 0; i < size; i += 400) await store.append(keyOf(size), path.slice(i, i + 400));
  }
});
after(async () => {
  await store.close();
  await server.stop();
});

async function leastMs(calls: number, call: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < calls; i++) {
    const started = performance.now();
    await call();
    least = Math.min(least, performance.now() - started);
  }
  return least;
}

test('E12 no call grows with the square of a thread, also where the server has no statistics', async () => {
  const calls: Record<string, (key: ThreadKey, path: readonly Node[]) => Promise<unknown>> = {
    commit: async (key, path) => {
      const version = (await store.window(key))?.version ?? 0;
      const plan = { ...dropPlan(key, path, path.length), head: path[1]?.id as MessageId };
      assert.equal(await store.commit(key, plan, version, []), true);
    },
    window: (key) => store.window(key),
    path: (key, path) => store.path(key, path.at(-1)?.id as MessageId),
    heads: (key) => store.heads(key),
    search: (key, path) => store.search(key, queryWords('error 42'), 20, path.at(-1)?.id),
    unembedded: (key) => store.unembedded(key, 'e', 10_000),
    keepVectors: (key, path) =>
      store.keepVectors(
        key,
        'e',
        path.map(({ id }, i) => ({ id, vector: [1, i] })),
      ),
    nearest: (key, path) => store.nearest(key, 'e', [0, 1], 20, path.at(-1)?.id),
  };
  const grown: string[] = [];
  for (const [name, call] of Object.entries(calls)) {
    const times: number[] = [];
    for (const size of SIZES)
      times.push(await leastMs(3, () => call(keyOf(size), paths.get(size) ?? [])));
    const [small = 0, large = 0] = times;
    // Ten times the messages: a square would be a hundred times the work.
    if (large > 35 * (small + 2))
      grown.push(`${name}: ${small.toFixed(1)} to ${large.toFixed(1)} ms`);
  }
  assert.deepEqual(grown, []);
});
