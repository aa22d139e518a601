import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { textMessage, type MessageId, type Store, type ThreadId } from '@bobbin/core';
import type { Node, ThreadKey } from '@bobbin/core/internal';
import { sqliteStore } from '@bobbin/stores';
import { dropPlan, nodesOf } from '../src/conformance/sample.ts';

const root = mkdtempSync(join(tmpdir(), 'bobbin-sqlite-cost-'));
after(() => rmSync(root, { recursive: true }));
let files = 0;
const newFile = (): string => join(root, `${files++}.db`);

/** The least time of some calls: what else the machine does only adds to it. */
async function leastMs(calls: number, call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const started = performance.now();
    await call();
    times.push(performance.now() - started);
  }
  return Math.min(...times);
}

async function cpuMs(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The least processor time of each of two calls, taken in turn: what else the machine does changes neither. */
async function leastCpuMs(
  calls: number,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<readonly [number, number]> {
  let least: readonly [number, number] = [Infinity, Infinity];
  for (let i = 0; i < calls; i++)
    least = [Math.min(least[0], await cpuMs(first)), Math.min(least[1], await cpuMs(second))];
  return least;
}

const LONG = nodesOf(
  Array.from({ length: 6_000 }, (_, i) =>
    textMessage(i % 2 === 0 ? 'user' : 'assistant', `${i} a line as people write them`),
  ),
);

async function longThread(): Promise<{ store: Store; key: ThreadKey }> {
  const store = sqliteStore(newFile(), { sync: 'normal' });
  const key = { tenant: 'acme', thread: 'long' as ThreadId };
  for (let i = 0; i < LONG.length; i += 500) await store.append(key, LONG.slice(i, i + 500));
  return { store, key };
}

/** A plan that shows the last messages of a path. */
function lastOf(key: ThreadKey, path: readonly Node[]) {
  const end = path.slice(-60);
  return { ...dropPlan(key, end, path.length - 20), threadVersion: path.length };
}

test('E12 a window costs what it shows, also where other forks were compacted since', async () => {
  const { store, key } = await longThread();
  await store.commit(key, lastOf(key, LONG), 0, []);
  const before = await leastMs(41, () => store.window(key));
  const fork = nodesOf([textMessage('user', 'or else')], LONG.slice(0, 3_001));
  await store.append(key, fork);
  for (let i = 1; i <= 20; i++)
    await store.commit(key, lastOf(key, [...LONG.slice(2_900, 3_001), ...fork]), i, []);
  await store.append(key, LONG.slice(-1));
  const window = await store.window(key);
  assert.deepEqual([window?.tail.length, window?.current?.version, window?.version], [20, 1, 21]);
  const later = await leastMs(41, () => store.window(key));
  assert.ok(later < 25 * before, `${before} ms before, ${later} ms after the fork`);
  await store.close();
});

test('E12 reading all messages of a thread in parts costs about what reading its path at once does', async () => {
  const { store, key } = await longThread();
  const all = async (): Promise<number> => {
    let count = 0;
    for await (const nodes of store.nodes(key)) count += nodes.length;
    return count;
  };
  assert.equal(await all(), LONG.length);
  const path = (): Promise<unknown> => store.path(key, LONG.at(-1)?.id as MessageId);
  const [inParts, atOnce] = await leastCpuMs(9, all, path);
  assert.ok(inParts < 5 * atOnce, `at once ${atOnce} ms, in parts ${inParts} ms`);
  await store.close();
});
