import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryStore, type Store, type ThreadId } from '@bobbin/core';
import { routingStore, sqliteStore } from '@bobbin/stores';
import { storeSuite } from '@bobbin/stores/conformance';
import { volume } from '@bobbin/testing/volume';
import { talk } from '../src/conformance/sample.ts';

storeSuite(
  'routing, over three SQLite files',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bobbin-routing-'));
    const open = (): Store =>
      routingStore([0, 1, 2].map((i) => sqliteStore(join(folder, `${i}.db`), { sync: 'normal' })));
    const store = open();
    return {
      store,
      reopen: async () => open(),
      async close() {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
  { randomRuns: volume(1, 10) },
);

test('tenants are spread over all stores, and few of them move to a new one', async () => {
  const tenants = Array.from({ length: 300 }, (_, i) => `tenant-${i}`);
  const placed = async (count: number): Promise<readonly number[]> => {
    const stores = Array.from({ length: count }, () => memoryStore());
    const store = routingStore(stores);
    for (const tenant of tenants) await store.append({ tenant, thread: 't' as ThreadId }, talk(1));
    const lists = await Promise.all(stores.map((each) => each.tenants()));
    return tenants.map((tenant) => lists.findIndex((list) => list.includes(tenant)));
  };
  const [three, four] = [await placed(3), await placed(4)];
  for (const place of [0, 1, 2]) {
    const share = three.filter((each) => each === place).length / tenants.length;
    assert.ok(share > 0.2 && share < 0.47, `${share}`);
  }
  const moved = tenants.filter((_, i) => three[i] !== four[i]);
  assert.ok(moved.length > 0.15 * tenants.length && moved.length < 0.35 * tenants.length);
  assert.ok(tenants.every((_, i) => three[i] === four[i] || four[i] === 3));
});
