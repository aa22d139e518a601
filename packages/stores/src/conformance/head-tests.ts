import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type MessageId, type Store } from '@bobbin/core';
import type { Node } from '@bobbin/core/internal';
import { allNodes } from './everything.ts';
import { freshKey, nodesOf, talk } from './sample.ts';

/** An append that expects a head: one line of history without a lock of the host's own. */
export function headTests(store: () => Store): void {
  test('C15 an append that expects another head writes nothing, and says which head there is', async () => {
    const key = freshKey('expected');
    const path = talk(2);
    const [one, other] = ['one', 'other'].map((text) => nodesOf([textMessage('user', text)], path));
    const expectedHead = last(path);
    assert.deepEqual(await store().append(key, path, { expectedHead }), {
      kind: 'conflict',
      head: null,
    });
    assert.equal(await store().window(key), undefined);
    assert.deepEqual(await store().append(key, path, { expectedHead: null }), { kind: 'appended' });
    assert.deepEqual(await store().append(key, one ?? [], { expectedHead }), { kind: 'appended' });
    assert.deepEqual(await store().append(key, other ?? [], { expectedHead }), {
      kind: 'conflict',
      head: last(one ?? []),
    });
    assert.deepEqual(await store().append(key, talk(1, 'else'), { expectedHead: null }), {
      kind: 'conflict',
      head: last(one ?? []),
    });
    assert.deepEqual(await allNodes(store(), key), [...path, ...(one ?? [])]);
  });

  test('C15 an append that is repeated is no conflict, also where it was broken off', async () => {
    const key = freshKey('repeated');
    const path = talk(2);
    const more = nodesOf(
      Array.from({ length: 1_200 }, (_, i) => textMessage('user', `message ${i}`)),
      path,
    );
    await store().append(key, path);
    const expectedHead = last(path);
    await store().append(key, more.slice(0, 700), { expectedHead });
    for (let i = 0; i < 2; i++)
      assert.deepEqual(await store().append(key, more, { expectedHead }), { kind: 'appended' });
    assert.deepEqual(await store().path(key, last(more)), [...path, ...more]);
    assert.deepEqual(await store().heads(key), [last(more)]);
  });

  test('C15 of 16 writers that expect one head exactly one wins, at the beginning of a thread too', async () => {
    const key = freshKey('line');
    const line: Node[] = [];
    for (let round = 0; round < 5; round++) {
      const expectedHead = line.at(-1)?.id ?? null;
      const offers = Array.from({ length: 16 }, (_, i) =>
        nodesOf([textMessage('user', `round ${round} of writer ${i}`)], line),
      );
      const results = await Promise.all(
        offers.map((offer) => store().append(key, offer, { expectedHead })),
      );
      const winners = offers.filter((_, i) => results[i]?.kind === 'appended');
      assert.equal(winners.length, 1, `round ${round}`);
      const head = last(winners[0] ?? []);
      assert.deepEqual(
        results.filter(({ kind }) => kind === 'conflict'),
        Array.from({ length: 15 }, () => ({ kind: 'conflict', head })),
      );
      line.push(...(winners[0] ?? []));
    }
    assert.deepEqual(await allNodes(store(), key), line);
  });
}

function last(nodes: readonly Node[]): MessageId {
  return nodes.at(-1)?.id as MessageId;
}
