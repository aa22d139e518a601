import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  anyOf,
  createBobbin,
  memoryArtifacts,
  memoryStore,
  textMessage,
  tokenCount,
  turnCount,
  type ArtifactStore,
  type CompactionEvent,
  type Message,
  type Policy,
  type Store,
  type Summarizer,
  type ThreadId,
} from '@bobbin/core';
import {
  EMPTY_SUMMARY,
  singlePrompt,
  recursiveSummary,
  slidingWindow,
  turnWindow,
  type Node,
} from '@bobbin/core/internal';
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

test('D1 what is removed, kept and saved is reported, and the log keeps all of it', async () => {
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
        `round ${round}: never touch /etc/round-${round}.conf, step ${i}. ${'And so it went on. '.repeat(24)}`,
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
    await service.compact('s', always, { ...singlePrompt, targetShare: 0.5 });
    return JSON.stringify(await service.loadActiveMessages('s'));
  };
  assert.match(await shown({ artifacts: memoryArtifacts() }), /artifact:[0-9a-f]{32}/);
  assert.doesNotMatch(await shown({}), /artifact:[0-9a-f]{32}/);
});

test("C16 C20 a host's summary is verified, without secrets, and asked for once: facts survive one that drops them", async () => {
  const store = memoryStore();
  const secret = 'sk-ant-api03-Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0LzXcVbNm';
  const said = [
    textMessage('user', 'Fix the importer. Never touch /etc/importer.conf.'),
    textMessage('assistant', `The key is ${secret}. `.repeat(4)),
    ...messages(talk(8)),
  ];
  await store.append(key, nodesOf(said));
  let asked = 0;
  const summarizer: Summarizer = {
    id: 'forgetful',
    async summarize({ round }) {
      asked += 1;
      return { ...EMPTY_SUMMARY, round, prose: `Nothing of note; the key was ${secret}.` };
    },
  };
  const service = new SessionService({ store, summarizer });
  const other = { ...key, thread: 'again' as ThreadId };
  await store.append(other, nodesOf(said));
  const strategy = recursiveSummary({ keepMessages: 4, overlapMessages: 0 });
  await service.compact('s', always, strategy);
  await service.compact('again', always, strategy);
  for (const session of ['s', 'again']) {
    const shown = JSON.stringify(await service.loadActiveMessages(session));
    assert.match(shown, /Nothing of note; the key was/);
    assert.match(shown, /Never touch \/etc\/importer\.conf/);
    assert.ok(!shown.includes(secret), 'a secret is in the summary');
  }
  assert.equal(asked, 1);
});

test('what is no option, no strategy or no session is refused in one line before anything is read', async () => {
  const { store, commits } = watched();
  assert.throws(() => new SessionService({ store, budget: { windowToken: 9 } as object }), {
    name: 'TypeError',
    message: 'there is no option budget.windowToken (did you mean budget.windowTokens?)',
  });
  const service = new SessionService({ store });
  await assert.rejects(service.compact('s', always, slidingWindow as unknown as Policy), {
    name: 'TypeError',
    message:
      'preset: slidingWindow is a function that makes a policy: call it, as in preset: slidingWindow()',
  });
  const noName = {
    name: 'RangeError',
    message: 'the name of a thread must be a string that is not empty, not ""',
  };
  await assert.rejects(service.compact('', always, slidingWindow(3)), noName);
  await assert.rejects(service.loadActiveMessages(''), noName);
  assert.throws(() => new SessionService({ store, tenant: '' }), {
    name: 'TypeError',
    message: 'tenant must be a name that is not empty, not ""',
  });
  assert.equal(commits(), 0);
});

test('C14 a session is counted as createBobbin counts it, by what is known of its model', async () => {
  for (const model of ['claude-sonnet-4-5', 'gpt-5']) {
    const store = memoryStore();
    const thread = await createBobbin({ store, model }).thread('s');
    await thread.append(...messages(talk(20)));
    const { prompt } = await thread.prompt();
    let seen = 0;
    const service = new SessionService({ store, model });
    await service.compact('s', ({ tokens }) => (seen = tokens) < 0, slidingWindow(4));
    assert.equal(seen, prompt.tokens, model);
  }
});

const summaryOf = (prose: string): Summarizer => ({
  id: 'scripted',
  summarize: ({ round }) => Promise.resolve({ ...EMPTY_SUMMARY, round, prose }),
});
const failing: Summarizer = {
  id: 'scripted',
  summarize: () => Promise.reject(new Error('no connection')),
};
const FAILURES: readonly (readonly [name: string, summarizer: Summarizer, reason: string])[] = [
  ['blank', summaryOf('  '), 'the summary is blank'],
  ['failing', failing, 'no connection'],
];

for (const [name, summarizer, reason] of FAILURES)
  test(`D9 a ${name} summary is a warning and reaches the callback; nothing is lost`, async () => {
    const { store, commits } = watched();
    const path = talk(12);
    await store.append(key, path);
    const events: CompactionEvent[] = [];
    const failures: unknown[] = [];
    const service = new SessionService({
      store,
      summarizer,
      onEvent: (event) => events.push(event),
      onSummaryFailure: (failure) => failures.push(failure),
    });
    const strategy = recursiveSummary({ keepMessages: 4, overlapMessages: 1 });
    assert.deepEqual(await service.compact('s', always, strategy), {
      eventsRemoved: 0,
      compactedEvents: messages(path),
      archivedEvents: [],
      tokensEstimatedSaved: 0,
    });
    assert.deepEqual(failures, [{ sessionId: 's', summarizer: 'scripted', reason }]);
    assert.deepEqual(
      events.flatMap((event) => (event.kind === 'warning' ? [event.message] : [])).slice(0, 1),
      [`summarize failed: scripted: ${reason}`],
    );
    assert.equal(commits(), 0);
    assert.deepEqual(await service.loadActiveMessages('s'), messages(path));
  });

test('D9 shadowPrompt is what the user message before a summary says, systemPrompt what is asked', async () => {
  const store = memoryStore();
  await store.append(key, talk(12));
  const asked: (string | undefined)[] = [];
  const summarizer: Summarizer = {
    id: 'scripted',
    summarize: ({ round, systemPrompt }) => {
      asked.push(systemPrompt);
      return Promise.resolve({ ...EMPTY_SUMMARY, round, prose: 'All of it was said.' });
    },
  };
  const service = new SessionService({ store, summarizer });
  const systemPrompt = 'Sum up as a poet would.';
  const shadowPrompt = 'What happened before?';
  const { compactedEvents } = await service.compact(
    's',
    always,
    recursiveSummary({ keepMessages: 4, overlapMessages: 1, systemPrompt, shadowPrompt }),
  );
  assert.deepEqual(asked, [systemPrompt]);
  assert.deepEqual(compactedEvents[0], textMessage('user', shadowPrompt, { synthetic: true }));
  assert.match(JSON.stringify(compactedEvents[1]), /All of it was said\./);
});

test('D6 events of a branch do not use up the window of the root', async () => {
  const store = memoryStore();
  const branch = textMessage('assistant', 'looked it up', { branch: 'helper' });
  const said = messages(talk(6)).flatMap((message) =>
    message.role === 'assistant' ? [branch, branch, branch, message] : [message],
  );
  await store.append(key, nodesOf(said));
  const service = new SessionService({ store });
  const { compactedEvents, eventsRemoved } = await service.compact('s', always, slidingWindow(4));
  assert.deepEqual([compactedEvents.length, eventsRemoved], [10, 20]);
  assert.equal(compactedEvents.filter(({ meta }) => meta?.branch === undefined).length, 4);
});
