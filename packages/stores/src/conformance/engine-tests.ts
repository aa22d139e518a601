import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, textMessage, type MessageId, type Store } from '@bobbin/core';
import { everything } from './everything.ts';
import { dropPlan, freshKey, talk, warning } from './sample.ts';

/** The engine over a store, and a store that is opened twice. */
export function engineTests(store: () => Store, reopen: () => Promise<Store>): void {
  test('A12 B9 C1 a long conversation, opened again, goes on and shows every past prompt', async () => {
    const { thread: name, tenant } = freshKey('engine');
    const options = { window: 3_000, tenant } as const;
    const thread = await createBobbin({ ...options, store: store() }).thread(name);
    const shown = new Map<number, string>();
    for (let turn = 1; turn <= 40; turn++) {
      await thread.append(
        textMessage('user', `Turn ${turn}: keep port 80${turn} open. ${'wind '.repeat(60)}`),
        textMessage('assistant', `Done with src/part-${turn}.ts. ${'thread '.repeat(60)}`),
      );
      const { version } = await thread.prompt();
      shown.set(version, JSON.stringify(await thread.promptAt(version)));
    }
    assert.ok(shown.size > 3, `${shown.size} versions`);
    const other = await reopen();
    const resumed = await createBobbin({ ...options, store: other }).thread(name);
    assert.deepEqual(resumed.plan, thread.plan);
    assert.ok((resumed.at(0) === undefined) === thread.plan.start > 0, 'loads what is shown only');
    const last = [...shown.keys()].at(-1) as number;
    assert.equal(JSON.stringify(await resumed.promptAt(last)), shown.get(last));
    for (const version of shown.keys())
      assert.deepEqual(
        await other.plan({ tenant, thread: name }, version),
        await store().plan({ tenant, thread: name }, version),
      );
    const rounds = (await store().events({ tenant, thread: name })).flatMap(({ event }) =>
      event.kind === 'summarized' ? [event.round] : [],
    );
    assert.deepEqual(
      rounds,
      rounds.map((_, i) => i + 1),
    );
    await other.close();
  });

  test('what one opening of a store writes, the other sees', async () => {
    const key = freshKey('shared');
    const path = talk(6);
    const other = await reopen();
    await store().append(key, path.slice(0, 6));
    await other.append(key, path.slice(6));
    assert.deepEqual((await store().window(key))?.tail, path);
    assert.equal(await other.commit(key, dropPlan(key, path, 4), 0, [warning('other')]), true);
    assert.equal(await store().commit(key, dropPlan(key, path, 6), 0, [warning('late')]), false);
    const heads = [path.at(-1)?.id as MessageId];
    assert.deepEqual(await everything(store(), key, heads), await everything(other, key, heads));
    await other.close();
  });
}
