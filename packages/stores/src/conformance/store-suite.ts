import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import {
  createBobbin,
  memoryStore,
  queryWords,
  textMessage,
  type Message,
  type MessageId,
  type Node,
  type Store,
  type ThreadId,
} from '@bobbin/core';
import { allNodes, everything } from './everything.ts';
import { dropPlan, freshKey, nodesOf, seeded, talk, warning } from './sample.ts';

/** How the suite gets at a store. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Opens what the store has kept once more, as another process would. */
  reopen(): Promise<Store>;
  close(): Promise<void>;
}

/** What every store must do. Call it in a test file of `node:test`; one store serves all the tests. */
export function storeSuite(name: string, open: () => Promise<StoreUnderTest>): void {
  suite(`${name} store`, () => {
    let under: StoreUnderTest;
    before(async () => {
      under = await open();
    });
    after(() => under.close());
    const store = (): Store => under.store;
    threadTests(store);
    planTests(store);
    recallTests(store);
    isolationTests(store);
    modelTests(store);
    doorTests(
      () => under.store,
      () => under.reopen(),
    );
  });
}

function threadTests(store: () => Store): void {
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
    const names = ['a', 'b', 'c/d', 'É'] as ThreadId[];
    for (const thread of names.toReversed()) await store().append({ tenant, thread }, talk(1));
    const first = await store().threads(tenant, 3);
    const rest = await store().threads(tenant, 3, first.at(-1)?.thread);
    const entry = { head: talk(1)[1]?.id, length: 2, version: 0 };
    assert.deepEqual(
      [...first, ...rest],
      names.map((thread) => ({ thread, ...entry })),
    );
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
}

function planTests(store: () => Store): void {
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

  test('B15 a fork before a compaction does not know it, one behind it does', async () => {
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

function recallTests(store: () => Store): void {
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
    assert.deepEqual(await ask('kv_rotation.yaml'), [1, 3]);
    assert.deepEqual(await ask('when does the staging password rotate'), [0]);
    assert.deepEqual(await ask('连接池'), [2]);
    assert.deepEqual(await ask('" OR * NEAR( ) : { } ^ AND NOT scope'), []);
    assert.deepEqual(await ask(''), []);
    const [best] = await store().search(key, ['fridays', 'password'], 1);
    assert.deepEqual(best?.node, path[0]);
  });

  test('C26 a message is found once, however many plans name it', async () => {
    const key = freshKey('once');
    const path = talk(4, 'bobbin');
    await store().append(key, path);
    for (const [i, start] of [2, 4, 6].entries())
      await store().commit(key, dropPlan(key, path, start), i, []);
    const found = await store().search(key, ['bobbin'], 100);
    assert.deepEqual(
      found.map(({ node }) => node.index).toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5],
    );
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
}

function isolationTests(store: () => Store): void {
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
    assert.deepEqual(await store().search(thief, ['rare'], 10), []);
    assert.deepEqual((await store().window(thief))?.tail, talk(1, 'other'));
  });
}

function modelTests(store: () => Store): void {
  const first = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
  for (let seed = first; seed < first + 3; seed++) {
    test(`any use gives what the memory store gives (SEED=${seed})`, async () => {
      const random = seeded(seed);
      const model = memoryStore();
      const key = freshKey('model');
      const heads: Node[][] = [];
      for (let step = 0; step < 30; step++) {
        const both = async <T>(use: (each: Store) => Promise<T>): Promise<void> =>
          assert.deepEqual(await use(store()), await use(model), `step ${step}`);
        const path = heads[random(heads.length)] ?? [];
        switch (random(6)) {
          case 0:
          case 1:
          case 2: {
            const kept = random(4) === 0 ? path.slice(0, random(path.length + 1)) : path;
            const grown = [...kept, ...nodesOf(randomMessages(random), kept)];
            heads.push(grown);
            const resent = random(kept.length + 1);
            await both((each) => each.append(key, grown.slice(resent)));
            break;
          }
          case 3:
          case 4: {
            const start = random(path.length + 1);
            const plan = dropPlan(
              key,
              path,
              start,
              path.slice(0, start).filter(() => random(4) === 0),
            );
            const version = (await model.window(key))?.version ?? 0;
            const expected = Math.max(0, version - Number(random(4) === 0));
            await both((each) => each.commit(key, plan, expected, [warning(`${step}`)]));
            break;
          }
          case 5: {
            await both((each) => each.record(key, [warning(`alone ${step}`)]));
            const vector = [random(10) + 1, random(10)];
            const vectors = path.slice(0, 3).map(({ id }) => ({ id, vector }));
            await both((each) => each.keepVectors(key, 'e', vectors));
          }
        }
        const ends = heads.map((nodes) => nodes.at(-1)?.id).filter((id) => id !== undefined);
        await both((each) => everything(each, key, ends.slice(-4)));
      }
    });
  }
}

function doorTests(store: () => Store, reopen: () => Promise<Store>): void {
  test('A12 B9 C1 a long conversation, opened again, goes on and shows every past prompt', async () => {
    const { thread: name, tenant } = freshKey('door');
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

/** What every call gives for a thread that is not there. */
const ABSENT = {
  entry: undefined,
  latest: undefined,
  otherHeads: [] as MessageId[],
  window: undefined,
  nodes: [] as Node[],
  plans: [undefined, undefined],
  paths: [{ window: undefined, path: [] as Node[], end: [] as Node[], turns: [] as Node[] }],
  events: [] as unknown[],
  laterEvents: [] as unknown[],
  found: [] as MessageId[],
  unembedded: [] as MessageId[],
  nearest: [] as MessageId[],
};

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

function randomMessages(random: (below: number) => number): readonly Message[] {
  return Array.from({ length: 1 + random(4) }, () =>
    textMessage(
      random(2) === 0 ? 'user' : 'assistant',
      `${['spool', 'rare', 'needle', 'thread'][random(4)]} ${random(1000)}`,
    ),
  );
}
