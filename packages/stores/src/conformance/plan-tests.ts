import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type Message, type MessageId, type Store } from '@bobbin/core';
import type { Node } from '@bobbin/core/internal';
import { everything } from './everything.ts';
import { dropPlan, freshKey, nodesOf, talk, warning } from './sample.ts';

/** Windows, commits and events. */
export function planTests(store: () => Store): void {
  test('E12 a window is what the plan carries and the path from its start on', async () => {
    const key = freshKey('window');
    const path = talk(20);
    const carried = [path[0] as Node, path[5] as Node];
    const plan = dropPlan(key, path.slice(0, 36), 30, carried);
    await store().append(key, path);
    assert.equal(await store().commit(key, plan, 0, []), true);
    assert.deepEqual(await store().window(key), {
      carried,
      tail: path.slice(30),
      current: { plan, version: 1 },
      version: 1,
    });
    const all = dropPlan(key, path, path.length);
    assert.equal(await store().commit(key, all, 1, []), true);
    assert.deepEqual(await store().window(key), {
      carried: [],
      tail: [],
      current: { plan: all, version: 2 },
      version: 2,
    });
  });

  test('C15 of 64 concurrent commits one wins, with its events and none of the others', async () => {
    const key = freshKey('race');
    const path = talk(4);
    await store().append(key, path);
    const plans = Array.from({ length: 64 }, (_, i) => ({
      ...dropPlan(key, path, 4),
      createdAt: i,
    }));
    const won = await Promise.all(
      plans.map((plan) => store().commit(key, plan, 0, [warning(`by ${plan.createdAt}`)])),
    );
    assert.equal(won.filter(Boolean).length, 1);
    const winner = won.indexOf(true);
    assert.deepEqual(await store().plan(key, 1), { plan: plans[winner], version: 1 });
    assert.equal(await store().plan(key, 2), undefined);
    assert.deepEqual(await store().events(key), [
      { sequence: 1, version: 1, event: warning(`by ${winner}`) },
    ]);
  });

  test('C15 a commit of an old version, or of one to come, changes nothing', async () => {
    const key = freshKey('stale');
    const path = talk(4);
    await store().append(key, path);
    assert.equal(await store().commit(key, dropPlan(key, path, 2), 0, []), true);
    const untouched = await everything(store(), key, [path.at(-1)?.id as MessageId]);
    assert.equal(await store().commit(key, dropPlan(key, path, 4), 0, [warning('a')]), false);
    assert.equal(await store().commit(key, dropPlan(key, path, 4), 2, [warning('b')]), false);
    assert.deepEqual(await everything(store(), key, [path.at(-1)?.id as MessageId]), untouched);
  });

  test('C1 every plan that ever was can be read', async () => {
    const key = freshKey('history');
    const path = talk(6);
    await store().append(key, path);
    const plans = [2, 4, 8].map((start) => dropPlan(key, path, start));
    for (const [i, plan] of plans.entries()) await store().commit(key, plan, i, [warning(`${i}`)]);
    await store().record(key, [warning('alone')]);
    for (const [i, plan] of plans.entries())
      assert.deepEqual(await store().plan(key, i + 1), { plan, version: i + 1 });
    assert.deepEqual(await store().events(key, 1), [
      { sequence: 2, version: 2, event: warning('1') },
      { sequence: 3, version: 3, event: warning('2') },
      { sequence: 4, version: 0, event: warning('alone') },
    ]);
  });

  test('B15 a fork before a compaction does not know it, one after it does', async () => {
    const key = freshKey('branch');
    const path = talk(6);
    const early = nodesOf([textMessage('user', 'early')], path.slice(0, 4));
    const late = nodesOf([textMessage('user', 'late')], path);
    const plan = dropPlan(key, path, 8);
    await store().append(key, path);
    await store().commit(key, plan, 0, []);
    await store().append(key, early);
    assert.deepEqual(await store().window(key), {
      carried: [],
      tail: [...path.slice(0, 4), ...early],
      current: undefined,
      version: 1,
    });
    await store().append(key, late);
    assert.deepEqual(await store().window(key), {
      carried: [],
      tail: [...path.slice(8), ...late],
      current: { plan, version: 1 },
      version: 1,
    });
  });

  test('E12 each head knows the newest plan of its own path, whichever fork was compacted since', async () => {
    const key = freshKey('forks');
    const trunk = talk(40);
    const fork = [
      ...trunk.slice(0, 30),
      ...nodesOf(messagesOf(talk(20, 'fork')), trunk.slice(0, 30)),
    ];
    const twig = [...fork.slice(0, 50), ...nodesOf(messagesOf(talk(5, 'twig')), fork.slice(0, 50))];
    const made: [readonly Node[], number][] = [
      [trunk.slice(0, 20), 10],
      [trunk, 70],
      [fork.slice(0, 40), 33],
      [fork, 60],
      [trunk.slice(0, 25), 12],
      [twig, 52],
    ];
    for (const path of [trunk, fork, twig]) await store().append(key, path);
    const plans = made.map(([path, start]) => dropPlan(key, path, start, path.slice(3, 5)));
    for (const [i, plan] of plans.entries()) await store().commit(key, plan, i, []);
    const expected: [readonly Node[], number][] = [
      [trunk, 5],
      [fork, 5],
      [twig, 6],
      [trunk.slice(0, 24), 1],
      [trunk.slice(0, 19), 0],
      [fork.slice(0, 33), 5],
    ];
    for (const [path, version] of expected) {
      const plan = plans[version - 1];
      assert.deepEqual(
        await store().window(key, path.at(-1)?.id as MessageId),
        {
          carried: plan === undefined ? [] : path.slice(3, 5),
          tail: path.slice(plan?.start ?? 0),
          current: plan && { plan, version },
          version: plans.length,
        },
        `version ${version}`,
      );
    }
  });

  test('0 of 800 concurrent appends are lost', async () => {
    const key = freshKey('crowd');
    const trunk = talk(1);
    await store().append(key, trunk);
    const forks = Array.from({ length: 8 }, (_, writer) =>
      nodesOf(
        Array.from({ length: 100 }, (_each, i) => textMessage('user', `writer ${writer}, ${i}`)),
        trunk,
      ),
    );
    await Promise.all(
      forks.map(async (fork) => {
        for (let i = 0; i < fork.length; i += 10) await store().append(key, fork.slice(i, i + 10));
      }),
    );
    for (const fork of forks)
      assert.deepEqual(await store().path(key, fork.at(-1)?.id as MessageId), [...trunk, ...fork]);
  });
}

function messagesOf(nodes: readonly Node[]): readonly Message[] {
  return nodes.map(({ message }) => message);
}
