import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  anyOf,
  ladder,
  memoryArtifacts,
  memoryStore,
  recursiveSummary,
  slidingWindow,
  textMessage,
  tokenCount,
  turnCount,
  turnWindow,
  type ArtifactStore,
  type Message,
  type Node,
  type Store,
  type ThreadId,
} from '@bobbin/core';
import { SessionService, sqliteStore } from '@bobbin/stores';
import { nodesOf, talk } from '../src/conformance/sample.ts';

const key = { tenant: 'default', thread: 's' as ThreadId };
const messages = (nodes: readonly Node[]): readonly Message[] =>
  nodes.map(({ message }) => message);
const always = (): boolean => true;

/** A store that says what was written to it. */
function watched(): { store: Store; commits: () => number } {
  const store = memoryStore();
  let commits = 0;
  return {
    store: {
      ...store,
      commit: (...given) => {
        commits += 1;
        return store.commit(...given);
      },
    },
    commits: () => commits,
  };
}

test('D1 the trigger first: where it does not fire nothing is asked and nothing is written', async () => {
  const { store, commits } = watched();
  const path = talk(5);
  await store.append(key, path);
  const service = new SessionService({ store });
  assert.deepEqual(await service.compact('s', turnCount(5), slidingWindow(2)), {
    eventsRemoved: 0,
    compactedEvents: messages(path),
    archivedEvents: [],
    tokensEstimatedSaved: 0,
  });
  assert.equal(commits(), 0);
});

test('D1 what is removed, kept and saved is told, and the log keeps all of it', async () => {
  const { store, commits } = watched();
  const path = talk(6);
  await store.append(key, path);
  const service = new SessionService({ store });
  const trigger = anyOf(turnCount(5), tokenCount(100_000));
  const result = await service.compact('s', trigger, turnWindow(2));
  assert.deepEqual(
    { ...result, tokensEstimatedSaved: result.tokensEstimatedSaved > 0 },
    {
      eventsRemoved: 8,
      compactedEvents: messages(path.slice(8)),
      archivedEvents: messages(path.slice(0, 8)),
      tokensEstimatedSaved: true,
    },
  );
  assert.deepEqual(await service.loadActiveMessages('s'), messages(path.slice(8)));
  assert.deepEqual(await store.path(key, path.at(-1)?.id as Node['id']), path);
  assert.equal(commits(), 1);
});

test('D1 a function is a trigger', async () => {
  const store = memoryStore();
  await store.append(key, talk(6));
  const service = new SessionService({ store });
  assert.equal(
    (await service.compact('s', (check) => check.turns === 7, slidingWindow(4))).eventsRemoved,
    0,
  );
  assert.equal((await service.compact('s', always, slidingWindow(4))).eventsRemoved, 8);
});

test('D2 a no-op writes nothing, and there is nothing to do in a session that is not there', async () => {
  const { store, commits } = watched();
  await store.append(key, talk(2));
  const service = new SessionService({ store });
  assert.equal((await service.compact('s', always, slidingWindow(10))).eventsRemoved, 0);
  assert.deepEqual(await service.compact('nobody', always, slidingWindow(10)), {
    eventsRemoved: 0,
    compactedEvents: [],
    archivedEvents: [],
    tokensEstimatedSaved: 0,
  });
  assert.deepEqual(await service.loadActiveMessages('nobody'), []);
  assert.equal(commits(), 0);
});

test('D2 of 64 compactions at once one wins, the others are silent no-ops, and no append is lost', async () => {
  const store = sqliteStore(':memory:');
  const path = talk(20);
  await store.append(key, path);
  const services = Array.from({ length: 64 }, () => new SessionService({ store }));
  const later = nodesOf([textMessage('user', 'said meanwhile')], path);
  const [results] = await Promise.all([
    Promise.all(services.map((service) => service.compact('s', always, slidingWindow(4)))),
    store.append(key, later),
  ]);
  assert.equal(results.filter(({ eventsRemoved }) => eventsRemoved > 0).length, 1);
  assert.equal((await store.window(key))?.version, 1);
  assert.deepEqual((await store.window(key))?.tail, [...path.slice(-4), ...later]);
  await store.close();
});

test('A12 D9 rounds chain over a store: each summary contains the one before it and says its round', async () => {
  const store = memoryStore();
  const service = new SessionService({ store, budget: { windowTokens: 100_000 } });
  const path: Node[] = [];
  for (let round = 1; round <= 4; round++) {
    const fresh = Array.from({ length: 12 }, (_, i) =>
      textMessage(
        i % 2 === 0 ? 'user' : 'assistant',
        `round ${round}: never touch /etc/round-${round}.conf, step ${i}. ${'And so it went on. '.repeat(8)}`,
      ),
    );
    const nodes = nodesOf(fresh, path);
    await store.append(key, nodes);
    path.push(...nodes);
    const result = await service.compact(
      's',
      always,
      recursiveSummary({ keepMessages: 4, overlapMessages: 1 }),
    );
    assert.ok(result.eventsRemoved > 0);
  }
  const rounds = (await store.events(key)).flatMap(({ event }) =>
    event.kind === 'summarized' ? [event.round] : [],
  );
  assert.deepEqual(rounds, [1, 2, 3, 4]);
  const shown = JSON.stringify(await service.loadActiveMessages('s'));
  for (let round = 1; round <= 4; round++)
    assert.ok(shown.includes(`/etc/round-${round}.conf`), `round ${round}`);
});

test('C11 where no artifacts are kept, nothing that is shown points to one', async () => {
  const output = Array.from({ length: 3_000 }, (_, i) => `row ${i}`).join('\n');
  const list: readonly Message[] = [
    textMessage('user', 'List it.'),
    { role: 'assistant', parts: [{ kind: 'call', callId: 'c', tool: 'list', args: '{}' }] },
    {
      role: 'tool',
      parts: [
        { kind: 'result', callId: 'c', tool: 'list', content: [{ kind: 'text', text: output }] },
      ],
    },
    textMessage('assistant', 'Listed.'),
  ];
  const shown = async (options: { artifacts?: ArtifactStore }): Promise<string> => {
    const store = memoryStore();
    await store.append(key, nodesOf(list));
    const service = new SessionService({ store, budget: { windowTokens: 8_000 }, ...options });
    await service.compact('s', always, ladder);
    return JSON.stringify(await service.loadActiveMessages('s'));
  };
  assert.match(await shown({ artifacts: memoryArtifacts() }), /artifact:[0-9a-f]{32}/);
  assert.doesNotMatch(await shown({}), /artifact:[0-9a-f]{32}/);
});
