import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type MessageId, type Store } from '@bobbin/core';
import { queryWords, type Node } from '@bobbin/core/internal';
import { dropPlan, freshKey, nodesOf, talk } from './sample.ts';

/** The recall index. */
export function recallTests(store: () => Store): void {
  test('C26 what was compacted is found, and nothing else', async () => {
    const key = freshKey('recall');
    const path = nodesOf([
      textMessage('user', 'The staging password rotates on Fridays.'),
      textMessage('assistant', 'Noted: rotation on Fridays, in vault/kv_rotation.yaml.'),
      textMessage('user', '数据库的连接池大小是四十二。'),
      textMessage('assistant', "it's 100% done; see src/vault/Rotation.ts"),
      textMessage('user', 'What about the vault now?'),
    ]);
    await store().append(key, path);
    const ask = async (question: string): Promise<readonly number[]> =>
      (await store().search(key, queryWords(question), 10))
        .map(({ node }) => node.index)
        .toSorted((a, b) => a - b);
    assert.deepEqual(await ask('vault'), []);
    await store().commit(key, dropPlan(key, path, 4), 0, []);
    assert.deepEqual(await ask('where is the vault?'), [1, 3]);
    assert.deepEqual(await ask('kv_rotation.yaml'), [0, 1, 3]);
    assert.deepEqual(await ask('when does the staging password expire'), [0]);
    assert.deepEqual(await ask('连接池'), [2]);
    assert.deepEqual(await ask('" OR * NEAR( ) : { } ^ AND NOT scope'), []);
    assert.deepEqual(await ask(''), []);
    assert.deepEqual(await store().search(key, ["it's", "'", String.raw`\'`, '"', '%'], 10), []);
    const [best] = await store().search(key, queryWords('fridays password'), 1);
    assert.deepEqual(best?.node, path[0]);
  });

  test('C26 a message is found once, however many plans name it', async () => {
    const key = freshKey('once');
    const path = talk(4, 'bobbin');
    await store().append(key, path);
    for (const [i, start] of [2, 4, 6].entries())
      await store().commit(key, dropPlan(key, path, start), i, []);
    const found = await store().search(key, queryWords('bobbin'), 100);
    assert.deepEqual(
      found.map(({ node }) => node.index).toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5],
    );
  });

  test('17 a plan of very many messages makes each of them searchable, once', async () => {
    const key = freshKey('many');
    const path = talk(400, 'loom');
    const compacted = path.slice(0, 700).map(({ index }) => index);
    const found = async (): Promise<readonly number[]> =>
      (await store().search(key, queryWords('loom'), 1_000))
        .map(({ node }) => node.index)
        .toSorted((a, b) => a - b);
    await store().append(key, path);
    assert.equal(await store().commit(key, dropPlan(key, path, 700), 0, []), true);
    assert.deepEqual(await found(), compacted);
    assert.equal(await store().commit(key, dropPlan(key, path, 700), 1, []), true);
    assert.deepEqual(await found(), compacted);
  });

  test('C26 vectors of compacted messages find the nearest', async () => {
    const key = freshKey('vectors');
    const path = talk(3);
    await store().append(key, path);
    await store().commit(key, dropPlan(key, path, 4), 0, []);
    const fresh = await store().unembedded(key, 'tiny', 3);
    assert.equal(fresh.length, 3);
    await store().keepVectors(
      key,
      'tiny',
      path.map(({ id }, i) => ({ id, vector: [Math.cos(i), Math.sin(i)] })),
    );
    assert.deepEqual(await store().unembedded(key, 'tiny', 10), []);
    assert.equal((await store().unembedded(key, 'other', 10)).length, 4);
    const near = await store().nearest(key, 'tiny', [Math.cos(2.1), Math.sin(2.1)], 2);
    assert.deepEqual(
      near.map(({ node }) => node),
      [path[2], path[3]],
    );
    assert.deepEqual(await store().nearest(key, 'other', [1, 2], 5), []);
  });

  test('C26 what another fork said is not found on the path to a head', async () => {
    const key = freshKey('forks');
    const trunk = nodesOf([
      textMessage('user', 'Name the launch.'),
      textMessage('assistant', 'A codename is wanted.'),
    ]);
    const one = nodesOf([textMessage('user', 'The codename is FALCON.')], trunk);
    const other = nodesOf([textMessage('user', 'No codename yet.')], trunk);
    for (const [i, fork] of [one, other].entries()) {
      await store().append(key, [...trunk, ...fork]);
      await store().commit(key, dropPlan(key, [...trunk, ...fork], 3), i, []);
    }
    await store().keepVectors(
      key,
      'e',
      [...trunk, ...one, ...other].map(({ id }, i) => ({ id, vector: [1, i] })),
    );
    const shown = async (head?: Node): Promise<readonly (readonly Node[])[]> =>
      (
        await Promise.all([
          store().search(key, queryWords('codename'), 10, head?.id),
          store().nearest(key, 'e', [0, 1], 2, head?.id),
        ])
      ).map((found) => byId(...found.map(({ node }) => node)));
    const [first, codename] = trunk as [Node, Node];
    const [a, b] = [...one, ...other] as [Node, Node];
    assert.deepEqual(await shown(a), [byId(codename, a), byId(codename, a)]);
    assert.deepEqual(await shown(b), [byId(codename, b), byId(codename, b)]);
    assert.deepEqual(await shown(codename), [[codename], byId(first, codename)]);
    assert.deepEqual(await shown(), [byId(codename, a, b), byId(a, b)]);
    assert.deepEqual(
      await store().search(key, queryWords('codename'), 10, 'f'.repeat(32) as MessageId),
      [],
    );
  });
}

function byId(...nodes: readonly Node[]): readonly Node[] {
  return nodes.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
