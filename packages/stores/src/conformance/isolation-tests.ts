import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageId, Store } from '@bobbin/core';
import { queryWords } from '@bobbin/core/internal';
import { ABSENT, everything } from './everything.ts';
import { dropPlan, freshKey, talk, warning } from './sample.ts';

/** Tenants never meet. */
export function isolationTests(store: () => Store): void {
  test("C22 another tenant's ids are absent in every call", async () => {
    const key = freshKey('secret', 'owner');
    const path = talk(4, 'rare');
    const heads = path.map(({ id }) => id);
    await store().append(key, path);
    await store().commit(key, dropPlan(key, path, 4), 0, [warning('secret')]);
    await store().keepVectors(key, 'e', [{ id: heads[0] as MessageId, vector: [1, 1] }]);
    const mine = await everything(store(), key, heads);
    const thief = { ...key, tenant: 'thief' };
    const absent = await everything(store(), thief, heads);
    assert.deepEqual(absent, { ...ABSENT, paths: heads.map(() => ABSENT.paths[0]) });
    assert.equal(await store().commit(thief, dropPlan(key, path, 6), 1, [warning('theft')]), false);
    await store().record(thief, [warning('theft')]);
    await store().keepVectors(thief, 'e', [{ id: heads[1] as MessageId, vector: [1, 1] }]);
    await store().append(thief, talk(1, 'other'));
    assert.deepEqual(await everything(store(), key, heads), mine);
    assert.deepEqual(await store().search(thief, queryWords('rare'), 10), []);
    assert.deepEqual((await store().window(thief))?.tail, talk(1, 'other'));
  });
}
