import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import {
  createBobbin,
  memoryStore,
  textMessage,
  type MessageId,
  type Store,
  type ThreadId,
} from '@bobbin/core';
import type { Node } from '@bobbin/core/internal';
import { copyStore, jsonlStore, sqliteStore, verifyStore } from '@bobbin/stores';
import { postgresStore } from '@bobbin/stores/postgres';
import { everything } from '../src/conformance/everything.ts';
import { dropPlan, nodesOf, talk, warning } from '../src/conformance/sample.ts';
import { newDatabase } from './shared-postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'bobbin-copy-'));
after(() => rmSync(folder, { recursive: true }));

const key = { tenant: 'acme', thread: 'talk' as ThreadId };
const path = talk(8, 'rare');
const fork = nodesOf([textMessage('user', 'or else?')], path.slice(0, 6));
const heads = [path.at(-1)?.id, fork.at(-1)?.id] as MessageId[];

async function filled(store: Store): Promise<Store> {
  await store.append(key, path);
  await store.append(key, fork);
  await store.record(key, [warning('before')]);
  await store.commit(key, dropPlan(key, path, 4), 0, [warning('first')]);
  await store.commit(key, dropPlan(key, path, 6), 1, []);
  await store.record(key, [warning('between')]);
  await store.commit(key, dropPlan(key, path, 8), 2, [warning('third'), warning('more')]);
  await store.record(key, [warning('after')]);
  const thread = await createBobbin({ store, tenant: 'zen', window: 2_000 }).thread('engine');
  for (let i = 0; i < 20; i++)
    await thread.append(
      textMessage('user', `${i} ${'word '.repeat(80)}`),
      textMessage('assistant', 'ok'),
    );
  await thread.compact();
  return store;
}

test('C1 a copy from store to store to store is the same in everything, and every hash is verified', async () => {
  const origin = await filled(memoryStore());
  const engine = { tenant: 'zen', thread: 'engine' as ThreadId };
  const expected = [await everything(origin, key, heads), await everything(origin, engine, [])];
  const chain = [
    sqliteStore(join(folder, 'a.db'), { sync: 'normal' }),
    jsonlStore(join(folder, 'b'), { sync: 'normal' }),
    await postgresStore(await newDatabase()),
    memoryStore(),
  ];
  let from = origin;
  for (const to of chain) {
    assert.deepEqual(await copyStore(from, to), {
      threads: 2,
      messages: 57,
      plans: 4,
      problems: [],
    });
    assert.deepEqual(
      [await everything(to, key, heads), await everything(to, engine, [])],
      expected,
    );
    from = to;
  }
  assert.deepEqual(
    await copyStore(origin, chain[1] as Store),
    { threads: 2, messages: 57, plans: 4, problems: [] },
    'again',
  );
  assert.deepEqual(
    [
      await everything(chain[1] as Store, key, heads),
      await everything(chain[1] as Store, engine, []),
    ],
    expected,
  );
  for (const store of chain) await store.close();
});

test('a copy goes on where it broke off, also after what was said since', async () => {
  const origin = await filled(memoryStore());
  const copy = memoryStore();
  await copy.append(key, path.slice(0, 5));
  await copy.record(key, [warning('before')]);
  await copy.commit(key, dropPlan(key, path, 4), 0, [warning('first')]);
  await copyStore(origin, copy, ['acme']);
  assert.deepEqual(await everything(copy, key, heads), await everything(origin, key, heads));
  assert.deepEqual(await copy.tenants(), ['acme']);
  await origin.commit(key, dropPlan(key, path, 10), 3, [warning('fourth')]);
  await copyStore(origin, copy, ['acme']);
  assert.deepEqual(await everything(copy, key, heads), await everything(origin, key, heads));
});

test('a copy onto a thread that went on, or another way, is refused and changes nothing', async () => {
  const more = nodesOf([textMessage('user', 'said there')], path);
  const later = dropPlan(key, path, 10);
  const ways: [string, (copy: Store) => Promise<unknown>, RegExp][] = [
    ['a newer head', (copy) => copy.append(key, more), /which has message [0-9a-f]{32}$/],
    ['a newer plan', (copy) => copy.commit(key, later, 3, []), /which has plan 4$/],
    ['a newer event', (copy) => copy.record(key, [warning('own')]), /which has another event 7$/],
  ];
  for (const [name, goOn, expected] of ways) {
    const origin = await filled(memoryStore());
    const copy = memoryStore();
    await copyStore(origin, copy, ['acme']);
    await goOn(copy);
    await origin.record(key, [warning('later')]);
    const ends = [...heads, ...more.map(({ id }) => id)];
    const unchanged = await everything(copy, key, ends);
    await origin.append({ ...key, thread: 'another' as ThreadId }, talk(1));
    const { problems, ...count } = await copyStore(origin, copy, ['acme']);
    assert.match(problems.map(({ problem }) => problem).join(), expected, name);
    assert.deepEqual(count, { threads: 1, messages: 2, plans: 0 }, 'the others are copied');
    assert.deepEqual(await everything(copy, key, ends), unchanged, name);
  }
  const copy = memoryStore();
  await copy.append(key, path);
  await copy.commit(key, dropPlan(key, path, 2), 0, []);
  const { problems } = await copyStore(await filled(memoryStore()), copy, ['acme']);
  assert.deepEqual(problems, [
    {
      tenant: 'acme',
      thread: 'talk',
      problem:
        'thread talk of acme is not copied: it went on in the other store, which has another plan 1',
    },
  ]);
});

test('what is counted as copied is what was there to copy', async () => {
  const copy = memoryStore();
  await copy.append({ tenant: 'acme', thread: 'own' as ThreadId }, talk(3));
  assert.deepEqual(await copyStore(await filled(memoryStore()), copy, ['acme']), {
    threads: 1,
    messages: 17,
    plans: 3,
    problems: [],
  });
});

test('a message that the copy does not keep is reported', async () => {
  const copy = memoryStore();
  const forgetful = {
    ...copy,
    append: (to: typeof key, nodes: readonly Node[]) =>
      copy.append(
        to,
        nodes.filter(({ id }) => id !== fork.at(-1)?.id || nodes.length === 1),
      ),
  };
  const origin = memoryStore();
  await origin.append(key, path);
  await origin.append(key, fork);
  await origin.append(key, path);
  const { problems } = await copyStore(origin, forgetful);
  assert.deepEqual(
    problems.map(({ problem }) => problem),
    [`message ${fork.at(-1)?.id} was not copied`],
  );
});

test('a thread that is compacted while it is copied is copied as it was, and wholly the next time', async () => {
  const origin = await filled(memoryStore());
  const copy = memoryStore();
  const late = dropPlan(key, path, 10);
  let compacted = false;
  const busy = {
    ...origin,
    events: async (of: typeof key, from?: number) => {
      if (!compacted) await origin.commit(key, late, 3, [warning('fourth')]);
      compacted = true;
      return origin.events(of, from);
    },
  };
  assert.deepEqual((await copyStore(busy, copy, ['acme'])).problems, []);
  assert.equal((await copy.window(key))?.version, 3);
  await copyStore(origin, copy, ['acme']);
  assert.deepEqual(await everything(copy, key, heads), await everything(origin, key, heads));
});

test('C1 a verification finds one changed letter, a missing message and a wrong place', async () => {
  const jsonl = join(folder, 'c');
  await filled(jsonlStore(jsonl));
  const file = join(jsonl, 'acme', 'talk.jsonl');
  writeFileSync(file, readFileSync(file, 'utf8').replace('question 2', 'question 7'));
  const { problems } = await verifyStore(jsonlStore(jsonl));
  assert.equal(problems.length, 1);
  assert.match(
    problems[0]?.problem ?? '',
    new RegExp(`^message ${path[2]?.id} is not what was appended: its hash is`),
  );

  const db = join(folder, 'd.db');
  const store = await filled(sqliteStore(db));
  const database = new DatabaseSync(db);
  database.exec(
    `DELETE FROM messages WHERE id = '${path[3]?.id}'; UPDATE messages SET turn = 9 WHERE id = '${path[9]?.id}'`,
  );
  database.close();
  assert.deepEqual(
    (await verifyStore(store)).problems.map(({ problem }) =>
      problem.replace(/[0-9a-f]{32}/g, 'ID'),
    ),
    [
      'message ID has no parent ID',
      'message ID is at index 9 of turn 9, not 9 of 5',
      'message ID is at index 10 of turn 6, not 10 of 10',
      'plan 1 names message ID, which is not there',
      'plan 2 names message ID, which is not there',
      'plan 3 names message ID, which is not there',
    ],
  );
  await store.close();
});
