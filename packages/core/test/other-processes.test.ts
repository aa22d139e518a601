import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  memoryStore,
  textMessage,
  textOf,
  type Codec,
  type Role,
  type Store,
  type Usage,
} from '@bobbin/core';
import {
  chars4,
  Conversations,
  messagesOnly,
  sessionConfig,
  type StoredPlace,
} from '@bobbin/core/internal';

interface Said {
  readonly role: Role;
  readonly content: string;
  readonly marker?: string;
}

const said: Codec<Said> = {
  name: 'said',
  decode: (wire) =>
    wire.map((original) => ({ ...textMessage(original.role, original.content), original })),
  encode: (messages) =>
    messages.map(
      ({ original, role, parts: [part] }) =>
        (original as Said | undefined) ?? { role, content: part?.kind === 'text' ? part.text : '' },
    ),
};

const USAGE: Usage = { inputTokens: 900, outputTokens: 9, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** What a process has in memory over a store that it shares with others, and the place that it finds lists at. */
function processOver(store: Store, place?: StoredPlace): Conversations<Said> {
  const config = sessionConfig({
    codec: said,
    counter: chars4(),
    budget: messagesOnly(2_000),
    store,
  });
  return new Conversations(config, {
    tenant: 'default',
    habit: 'resends',
    locate: async (ids) => (place !== undefined && ids.includes(place.head) ? place : undefined),
  });
}

const turn = (i: number): Said[] => [
  { role: 'user', content: `question ${i} ${'about the harbour '.repeat(20)}` },
  { role: 'assistant', content: `answer ${i}` },
];

/** A text as one of a list of parts, as a client writes it that marks it for the cache. */
interface InParts {
  readonly role: Role;
  readonly content: string | readonly { readonly text: string }[];
}

const inParts: Codec<InParts> = {
  name: 'in-parts',
  decode: (wire) =>
    wire.map((original) => {
      const { role, content } = original;
      const text = typeof content === 'string' ? content : content.map((part) => part.text).join();
      return { ...textMessage(role, text), original };
    }),
  encode: (messages) => messages.map(({ original }) => original as InParts),
};

test('a list is recognised whose first text becomes a list of parts, and no other is taken for it', async () => {
  const config = sessionConfig({ codec: inParts, counter: chars4(), budget: messagesOnly(2_000) });
  const conversations = new Conversations(config, { tenant: 'default', habit: 'resends' });
  const threadOf = async (list: readonly InParts[]): Promise<string> =>
    (await conversations.take(list)).session.key.thread;
  const [first, other] = ['A long question about ships.', 'A long question about crane.'];
  const answer = { role: 'assistant', content: 'Yes.' } as const;
  const thread = await threadOf([{ role: 'user', content: first }]);
  const elsewhere = await threadOf([{ role: 'user', content: other }]);
  assert.notEqual(elsewhere, thread);
  const inAPart = { role: 'user', content: [{ text: first }] } as const;
  assert.equal(await threadOf([inAPart, answer, { role: 'user', content: 'Why?' }]), thread);
  assert.equal(await threadOf([{ role: 'user', content: other }, answer, inAPart]), elsewhere);
});

test('a list that another process stored is found where it was stored, with what was reported', async () => {
  const store = memoryStore();
  const list = [...turn(1), ...turn(2)].slice(0, 3);
  const first = await processOver(store).take(list);
  const { thread } = first.session.key;
  const place = { thread, head: first.head ?? assert.fail(), sentAt: 1, usage: USAGE };
  const second = await processOver(store, place).take(
    [...turn(1), ...turn(2), ...turn(3)].slice(0, 5),
  );
  assert.equal(second.session.key.thread, thread);
  assert.equal(second.session.length, 5);
  assert.deepEqual(second.session.at(3)?.message.meta?.usage, USAGE);
  const stranger = await processOver(store, place).take(turn(7).slice(0, 1));
  assert.notEqual(stranger.session.key.thread, thread);
});

test('C15 a session catches up with the plan that another process has committed', async () => {
  const store = memoryStore();
  const list = Array.from({ length: 30 }, (_, i) => turn(i))
    .flat()
    .slice(0, -1);
  const [one, other] = [processOver(store), processOver(store)];
  const here = await one.take(list.slice(0, 3), { thread: 'shared' });
  const there = await other.take(list, { thread: 'shared' });
  const { plan, version } = await there.prompt();
  assert.ok(version > 0 && plan.records.length > 0);
  assert.equal(here.session.version, 0);
  const again = await one.take(list, { thread: 'shared' });
  await again.session.catchUp();
  assert.deepEqual([again.session.version, again.session.plan], [version, plan]);
  const [shown, expected] = [await again.prompt(), await there.prompt()];
  assert.deepEqual(shown.messages, expected.messages);
  assert.equal(
    await store.plan({ tenant: 'default', thread: plan.thread }, version + 1),
    undefined,
  );
});

/** The list with a marker on its last message. */
function marked(list: readonly Said[]): Said[] {
  return list.map((each, i) => (i === list.length - 1 ? { ...each, marker: 'here' } : each));
}

test('a host that moves its markers gets its newest forms back, also after a fork', async () => {
  const store = memoryStore();
  const conversations = processOver(store);
  const whole = Array.from({ length: 4 }, (_, i) => turn(i)).flat();
  for (const length of [1, 3, 5]) await conversations.take(marked(whole.slice(0, length)));
  const edited = [...whole.slice(0, 4), { role: 'user', content: 'something else' } as const];
  const request = await conversations.take(marked(edited));
  const { messages } = await request.prompt();
  assert.deepEqual(messages, marked(edited));
});

test('a message that its host changes while the store is asked stays as it was sent', async () => {
  const list = turn(1)
    .slice(0, 1)
    .map((message) => ({ ...message }));
  const inner = memoryStore();
  const store = Object.create(inner) as Store;
  store.window = (...args) => {
    for (const message of list) message.content = 'changed';
    return inner.window(...args);
  };
  const config = sessionConfig({ codec: said, counter: chars4(), store });
  const conversations = new Conversations(config, { tenant: 'default' });
  const { session } = await conversations.take(list, { thread: 'mine' });
  assert.equal(list[0]?.content, 'changed');
  assert.deepEqual(session.messages.map(textOf), [turn(1)[0]?.content]);
});

test('a host that gives its messages away gets the objects of its newest list', async () => {
  const config = sessionConfig({ codec: said, counter: chars4(), store: memoryStore() });
  const conversations = new Conversations(config, {
    tenant: 'default',
    habit: 'resends',
    owner: 'bobbin',
  });
  const first = turn(1).slice(0, 1);
  const second = [...turn(1), ...turn(2).slice(0, 1)];
  const { session } = await conversations.take(first);
  assert.equal(session.messages[0]?.original, first[0], 'it is not copied');
  const { messages } = await (await conversations.take(second)).prompt();
  assert.deepEqual(
    messages.map((message) => second.indexOf(message)),
    [0, 1, 2],
  );
});

test('only so many conversations stay in memory', async () => {
  const store = memoryStore();
  const config = sessionConfig({ codec: said, store });
  const conversations = new Conversations(config, { tenant: 'default', mostOpen: 1 });
  const first = await conversations.take(turn(1).slice(0, 1));
  await conversations.take(turn(2).slice(0, 1));
  const again = await conversations.take(turn(1).slice(0, 1));
  assert.notEqual(again.session.key.thread, first.session.key.thread);
});
