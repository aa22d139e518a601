import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type Message, type MessageId, type Store, type ThreadId } from '@bobbin/core';
import { jsonText, type Json, type Node } from '@bobbin/core/internal';
import { ABSENT, allNodes, everything } from './everything.ts';
import { dropPlan, freshKey, nodesOf, talk, warning } from './sample.ts';

/** Messages, forks and lists of threads. */
export function threadTests(store: () => Store): void {
  test('C1 what is appended comes back whole, in order', async () => {
    const key = freshKey('whole');
    const nodes = nodesOf(ODD_MESSAGES);
    await store().append(key, nodes);
    assert.deepEqual(await store().window(key), {
      carried: [],
      tail: nodes,
      current: undefined,
      version: 0,
    });
    assert.deepEqual(await allNodes(store(), key), nodes);
  });

  test('a message nested deeper than the stack comes back whole', async () => {
    const key = freshKey('deep');
    const value = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as Json;
    const nodes = nodesOf([{ role: 'user', parts: [{ kind: 'opaque', type: 'dream', value }] }]);
    await store().append(key, nodes);
    const [read] = await allNodes(store(), key);
    assert.equal(jsonText(read), jsonText(nodes[0]));
  });

  test('C15 appending again changes nothing but the head', async () => {
    const key = freshKey('again');
    const nodes = talk(3);
    await store().append(key, nodes);
    await store().append(key, nodes);
    await store().append(key, nodes.slice(0, 2));
    await store().append(key, []);
    assert.deepEqual(await allNodes(store(), key), nodes);
    assert.deepEqual((await store().window(key))?.tail, nodes.slice(0, 2));
    assert.deepEqual(await store().heads(key), [nodes[1]?.id, nodes[5]?.id]);
  });

  test('C1 forks share their prefix and keep their own ends', async () => {
    const key = freshKey('fork');
    const trunk = talk(3);
    const fork = nodesOf([textMessage('user', 'or else?')], trunk.slice(0, 2));
    await store().append(key, trunk);
    await store().append(key, fork);
    const [end] = fork as [Node];
    assert.deepEqual(await store().path(key, end.id), [...trunk.slice(0, 2), end]);
    assert.deepEqual(await store().path(key, trunk.at(-1)?.id as MessageId, 4), trunk.slice(4));
    assert.deepEqual(await store().heads(key), [end.id, trunk.at(-1)?.id]);
    assert.equal((await allNodes(store(), key)).length, trunk.length + 1);
  });

  test('some messages are read by their ids, in the order that was asked for', async () => {
    const key = freshKey('some');
    const path = talk(3);
    await store().append(key, path);
    const asked = [path[4], path[0], path[2]] as Node[];
    const ids = asked.map(({ id }) => id);
    assert.deepEqual(await store().messages(key, ids), asked);
    assert.deepEqual(await store().messages(key, ['0'.repeat(32) as MessageId, ...ids]), asked);
    assert.deepEqual(await store().messages(key, []), []);
    assert.deepEqual(await store().messages(freshKey('other'), ids), []);
  });

  test('C1 a message whose parent is not there is refused, and leaves no trace', async () => {
    const key = freshKey('orphan');
    const path = talk(3);
    await assert.rejects(store().append(key, path.slice(2)), RangeError);
    assert.equal(await store().window(key), undefined);
    await store().append(key, path.slice(0, 2));
    await assert.rejects(store().append(key, path.slice(3)), RangeError);
    await assert.rejects(store().append(key, [path[5] as Node, path[2] as Node]), RangeError);
    assert.deepEqual(await allNodes(store(), key), path.slice(0, 2));
    await store().append(key, path);
    assert.deepEqual(await allNodes(store(), key), path);
  });

  test('B15 all user messages are listed, also those before a compaction', async () => {
    const key = freshKey('turns');
    const path = talk(5);
    await store().append(key, path);
    await store().commit(key, dropPlan(key, path, 8), 0, []);
    assert.deepEqual(
      await store().turns(key, path.at(-1)?.id as MessageId),
      path.filter((_, i) => i % 2 === 0),
    );
  });

  test('a thread that is not there is absent everywhere', async () => {
    const key = freshKey('nowhere');
    assert.equal(await store().commit(key, dropPlan(key, talk(1), 1), 0, [warning('x')]), false);
    await store().record(key, [warning('lost')]);
    assert.deepEqual(await everything(store(), key, ['0'.repeat(32) as MessageId]), ABSENT);
  });

  test('threads are listed by name, page by page', async () => {
    const tenant = `lister-${crypto.randomUUID()}`;
    const names = ['', 'a', 'b', 'c/d', 'É'] as ThreadId[];
    for (const thread of names.toReversed()) await store().append({ tenant, thread }, talk(1));
    const first = await store().threads(tenant, 3);
    const rest = await store().threads(tenant, 3, first.at(-1)?.thread);
    const entry = { head: talk(1)[1]?.id, length: 2, version: 0 };
    assert.deepEqual(
      [...first, ...rest].map((each) => ({ ...each, changedAt: 0 })),
      names.map((thread) => ({ thread, ...entry, changedAt: 0 })),
    );
    for (const { changedAt } of first)
      assert.ok(Math.abs(changedAt - Date.now()) < 60_000, `changed at ${changedAt}`);
  });

  test('an operator sees every tenant once', async () => {
    const tenant = `seen-${crypto.randomUUID()}`;
    for (const name of ['x', 'y'])
      await store().append({ tenant, thread: name as ThreadId }, talk(1));
    assert.equal((await store().tenants()).filter((name) => name === tenant).length, 1);
  });

  test('any name of a tenant and a thread is a name', async () => {
    const unique = crypto.randomUUID();
    const names = [
      '',
      '..',
      '../x',
      'a/b',
      'A/B',
      'a\\b',
      "'; --",
      '"',
      '%',
      'x'.repeat(300),
      '\u{1f9f5}',
      ' ',
    ];
    const keys = names.flatMap((thread) => [
      { tenant: `t${unique}`, thread: thread as ThreadId },
      { tenant: `t${unique}${thread}`, thread: 'same' as ThreadId },
    ]);
    for (const [i, key] of keys.entries()) await store().append(key, talk(1, `topic ${i}`));
    for (const [i, key] of keys.entries())
      assert.deepEqual((await store().window(key))?.tail, talk(1, `topic ${i}`), `key ${i}`);
  });

  test('C22 a name that some store could not distinguish from another is refused', async () => {
    const tenant = `t${crypto.randomUUID()}`;
    await store().append({ tenant: `${tenant}\ufffd`, thread: '\ufffd' as ThreadId }, talk(1));
    for (const part of ['\ud800', '\udc01', 'nul \0']) {
      for (const key of [
        { tenant: tenant + part, thread: '\ufffd' as ThreadId },
        { tenant: `${tenant}\ufffd`, thread: part as ThreadId },
      ]) {
        await assert.rejects(store().append(key, talk(1)), RangeError);
        await assert.rejects(store().window(key), RangeError);
        await assert.rejects(store().commit(key, dropPlan(key, talk(1), 1), 0, []), RangeError);
      }
    }
  });
}

/** Contents that are easy to spoil: control characters, halves of pairs, key order, nested and empty values. */
const ODD_MESSAGES: readonly Message[] = [
  textMessage('system', ''),
  {
    ...textMessage('user', 'nul \u0000, half \ud83d, \u2028 line, "quotes", \\ and \n'),
    extra: { b: 1, a: [null, {}] },
  },
  {
    role: 'assistant',
    parts: [
      { kind: 'reasoning', text: 'hm', signature: 's1g' },
      { kind: 'call', callId: 'c1', tool: 'read', args: '{"path": "a.ts", "n": 1e400}' },
      { kind: 'opaque', type: 'x', value: [1.5, -0.1, 1e21, true] },
    ],
    meta: {
      time: 5,
      usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
    },
    original: { z: 1, a: { '10': 'x', '9': 'y' } },
  },
  {
    role: 'tool',
    parts: [
      {
        kind: 'result',
        callId: 'c1',
        content: [
          { kind: 'text', text: '\u{1f9f5}'.repeat(3_000) },
          { kind: 'image', source: `data:image/png;base64,${'A'.repeat(5_000)}` },
        ],
        keyFields: { id: 7 },
      },
    ],
  },
  textMessage('user', `a line of ${'x'.repeat(200_000)}`),
];
