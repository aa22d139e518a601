import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type MessageId, type Store, type ThreadId } from '@bobbin/core';
import { queryWords, type ThreadKey } from '@bobbin/core/internal';
import { ABSENT, everything } from './everything.ts';
import { dropPlan, freshKey, nodesOf, talk, warning } from './sample.ts';

/** Erasure: nothing of it can be read or found afterwards. */
export function erasureTests(store: () => Store, reopen: () => Promise<Store>): void {
  const path = talk(4, 'rare');
  const heads = path.map(({ id }) => id);
  const nothing = { ...ABSENT, paths: heads.map(() => ABSENT.paths[0]) };
  const fill = async (key: ThreadKey): Promise<void> => {
    await store().append(key, path);
    await store().commit(key, dropPlan(key, path, 6, path.slice(0, 1)), 0, [warning('rare')]);
    await store().record(key, [warning('alone')]);
    await store().keepVectors(key, 'e', [{ id: heads[1] as MessageId, vector: [1, 1] }]);
  };
  const found = async (tenant: string): Promise<readonly ThreadId[]> =>
    (await store().searchTenant(tenant, queryWords('rare'), 100)).map(({ thread }) => thread);

  test('an erased thread is absent in every call, and the others are as they were', async () => {
    const tenant = `erased-${crypto.randomUUID()}`;
    const [gone, kept] = [freshKey('gone', tenant), freshKey('kept', tenant)];
    for (const key of [gone, kept]) await fill(key);
    const before = await everything(store(), kept, heads);
    assert.deepEqual(await store().delete({ tenant, threads: [gone.thread] }), [gone.thread]);
    const other = await reopen();
    for (const each of [store(), other]) {
      assert.deepEqual(await everything(each, gone, heads), nothing);
      assert.deepEqual(await everything(each, kept, heads), before);
    }
    await other.close();
    assert.deepEqual(new Set(await found(tenant)), new Set([kept.thread]));
    assert.deepEqual(await store().delete({ tenant, threads: [gone.thread] }), []);
  });

  test('an erased thread takes nothing that follows what is gone, and begins anew', async () => {
    const key = freshKey('again');
    await fill(key);
    await store().delete({ tenant: key.tenant, threads: [key.thread] });
    const more = nodesOf([textMessage('user', 'and then?')], path);
    await assert.rejects(store().append(key, more), RangeError);
    assert.equal(await store().commit(key, dropPlan(key, path, 4), 1, []), false);
    await store().append(key, path);
    assert.deepEqual(await store().window(key), {
      carried: [],
      tail: path,
      current: undefined,
      version: 0,
    });
    assert.deepEqual(await store().events(key), []);
    assert.deepEqual(await store().search(key, queryWords('rare'), 10), []);
    await store().commit(key, dropPlan(key, path, 2), 0, []);
    assert.equal((await store().search(key, queryWords('rare'), 10)).length, 2);
    assert.deepEqual(await store().nearest(key, 'e', [1, 1], 10), []);
  });

  test('a thread that is erased while a large plan of it is committed keeps nothing of the plan', async () => {
    const key = freshKey('meanwhile');
    const long = talk(400, 'rare');
    await store().append(key, long);
    const committing = store().commit(key, dropPlan(key, long, 700), 0, []);
    await store().delete({ tenant: key.tenant, threads: [key.thread] });
    await committing;
    assert.equal(await store().window(key), undefined);
    await store().append(key, path);
    assert.deepEqual(await store().search(key, queryWords('rare'), 1_000), []);
    assert.equal(await store().commit(key, dropPlan(key, path, 2), 0, []), true);
    assert.equal((await store().search(key, queryWords('rare'), 1_000)).length, 2);
  });

  test('an erased tenant has no thread, and other tenants keep theirs', async () => {
    const [tenant, other] = [`a-${crypto.randomUUID()}`, `b-${crypto.randomUUID()}`];
    const keys = [freshKey('x', tenant), freshKey('y', tenant)];
    const theirs = freshKey('x', other);
    for (const key of [...keys, theirs]) await fill(key);
    const before = await everything(store(), theirs, heads);
    assert.deepEqual(
      new Set(await store().delete({ tenant })),
      new Set(keys.map(({ thread }) => thread)),
    );
    assert.deepEqual(await store().threads(tenant, 10), []);
    assert.ok(!(await store().tenants()).includes(tenant));
    assert.deepEqual(await found(tenant), []);
    for (const key of keys) assert.deepEqual(await everything(store(), key, heads), nothing);
    assert.deepEqual(await everything(store(), theirs, heads), before);
  });

  test('a retention age erases what was not written to since, and nothing else', async () => {
    const tenant = `old-${crypto.randomUUID()}`;
    const [old, young] = [freshKey('old', tenant), freshKey('young', tenant)];
    await fill(old);
    const [entry] = await store().threads(tenant, 1);
    const limit = (entry?.changedAt ?? 0) + 1;
    while (Date.now() <= limit + 5) await new Promise((resolve) => setTimeout(resolve, 5));
    await fill(young);
    assert.deepEqual(await store().delete({ tenant }, { unchangedSince: 0 }), []);
    assert.deepEqual(await store().delete({ tenant }, { unchangedSince: limit }), [old.thread]);
    assert.deepEqual(
      (await store().threads(tenant, 10)).map(({ thread }) => thread),
      [young.thread],
    );
  });
}
