import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { memoryStore, type Store, type ThreadId } from '@bobbin/core';
import { DEFAULT_LIMITS } from '../src/config/gateway-config.ts';
import { clientOf, provider, say, threadsOf, type Messages } from './chat-client.ts';
import { bareUpstream, runningGateway, type RunningGateway } from './running-gateway.ts';

const LONG = 'A fact about the harbour and its cranes. '.repeat(120);

test('a conversation is recognised without a name, by what it holds', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const client = clientOf(gateway);
  const messages: Messages = [];
  const [first] = await say(client, messages, 'one');
  const [second] = await say(client, messages, 'two');
  assert.match(first, /^conversation-/);
  assert.equal(second, first);
  // The client's form of an answer is what the thread has: the last one is in the ledger until it comes back.
  assert.deepEqual(await threadsOf(gateway), { [first]: 3 });
});

test('sub-agents with the same first message never meet', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const client = clientOf(gateway);
  const agents: Messages[] = [[], [], []];
  const turns = async (words: string): Promise<readonly string[]> => {
    const sent = await Promise.all(agents.map((messages) => say(client, messages, words)));
    return sent.map(([thread]) => thread);
  };
  await turns('Look at the harbour.');
  await turns('Go on.');
  const threads = await turns('And now?');
  assert.equal(new Set(threads).size, 3);
  for (const [i, thread] of threads.entries()) {
    const [tenant = ''] = await gateway.store.tenants();
    const key = { tenant, thread: thread as ThreadId };
    const [head] = await gateway.store.heads(key);
    const path = head === undefined ? [] : await gateway.store.path(key, head);
    assert.deepEqual(
      path.map(({ message }) => message.original),
      agents[i]?.slice(0, -1),
    );
  }
});

test('conversations that begin alike get threads of their own with other models and in other processes too', async (t) => {
  const upstreams = { openai: (await provider(t)).origin };
  const one = await runningGateway(t, { upstreams });
  const other = await runningGateway(t, { upstreams, store: one.store, ledger: one.ledger });
  const agents = [
    [one, 'gpt-5'],
    [one, 'gpt-4o'],
    [other, 'gpt-5'],
  ] as const;
  const threads = new Set<string>();
  for (const [gateway, model] of agents) {
    const messages: Messages = [];
    let thread = '';
    for (const content of ['Look at the harbour.', 'Go on.', 'And now?']) {
      messages.push({ role: 'user', content });
      const { data, response } = await clientOf(gateway)
        .chat.completions.create({ model, messages })
        .withResponse();
      messages.push(data.choices[0]?.message as Messages[number]);
      thread = response.headers.get('x-bobbin-thread') ?? '';
    }
    threads.add(thread);
    assert.equal((await threadsOf(one))[thread], 5);
  }
  assert.equal(threads.size, 3);
});

test('an edited history is a fork, which the edit is not seen in', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const client = clientOf(gateway);
  const headers = { 'x-bobbin-thread': 'mine' };
  const messages: Messages = [];
  for (const words of ['one', 'two', 'three']) await say(client, messages, words, headers);
  const edited: Messages = messages.slice(0, 2);
  assert.deepEqual(await say(client, edited, 'another two', headers), ['mine', 'unchanged']);
  const [tenant = ''] = await gateway.store.tenants();
  const key = { tenant, thread: 'mine' as ThreadId };
  const paths = await Promise.all(
    (await gateway.store.heads(key)).map((head) => gateway.store.path(key, head)),
  );
  assert.deepEqual(
    paths.map((path) => path.map(({ message }) => message.original)),
    [edited.slice(0, -1), messages.slice(0, -1)],
  );
});

test('each protocol reads its own messages, with one credential and one model', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const upstreams = { openai: upstream.url, anthropic: upstream.url };
  const gateway = await runningGateway(t, { upstreams });
  const messages = [
    { role: 'user', content: 'Read it.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'Read.' }] },
  ];
  const send = (path: string, sent: readonly object[], thread: string): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'x-bobbin-thread': thread },
      body: JSON.stringify({ model: 'm', max_tokens: 9, messages: sent }),
    });
  await (await send('/v1/chat/completions', messages.slice(0, 1), 'chat')).text();
  await (await send('/v1/messages', messages, 'messages')).text();
  const [tenant = ''] = await gateway.store.tenants();
  const key = { tenant, thread: 'messages' as ThreadId };
  const [head] = await gateway.store.heads(key);
  const path = head === undefined ? [] : await gateway.store.path(key, head);
  assert.deepEqual(
    path.map(({ message }) => message.parts.map(({ kind }) => kind)),
    [['text'], ['call'], ['result']],
  );
});

test('two credentials share nothing, not even a thread of the same name', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const headers = { 'x-bobbin-thread': 'same' };
  const [mine, yours]: [Messages, Messages] = [[], []];
  await say(clientOf(gateway, 'sk-1'), mine, 'secret of one', headers);
  await say(clientOf(gateway, 'sk-2'), yours, 'secret of two', headers);
  const tenants = await gateway.store.tenants();
  assert.equal(tenants.length, 2);
  assert.ok(tenants.every((tenant) => /^[0-9a-f]{32}$/.test(tenant)));
  for (const tenant of tenants) {
    const [entry, ...more] = await gateway.store.threads(tenant, 10);
    assert.deepEqual([entry?.thread, entry?.length, more.length], ['same', 1, 0]);
  }
});

test('two credentials on one connection share nothing', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ports = new Set<number | undefined>();
  for (const key of ['sk-1', 'sk-2', 'sk-1']) {
    const headers = { authorization: `Bearer ${key}`, 'x-bobbin-thread': key };
    const url = `${gateway.url}/v1/chat/completions`;
    const sent = request(url, { method: 'POST', headers, agent });
    sent.end(JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'hello' }] }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    ports.add(response.socket.localPort);
    await once(response.resume(), 'end');
  }
  assert.equal(ports.size, 1, 'one connection');
  const tenants = await gateway.store.tenants();
  const threads = await Promise.all(tenants.map((tenant) => gateway.store.threads(tenant, 10)));
  const names = threads.map((all) => all.map(({ thread }) => thread).join(' '));
  assert.deepEqual(new Set(names), new Set(['sk-1', 'sk-2']));
});

const NAMES: readonly (readonly [client: string, headers: Record<string, string>])[] = [
  ['Claude Code', { 'x-claude-code-session-id': 'session-7' }],
  ['Codex', { 'thread-id': 'session-7', 'session-id': 'another' }],
  ['OpenCode', { 'x-session-id': 'session-7' }],
];

for (const [name, headers] of NAMES)
  test(`the session of ${name} names the thread; its other conversations get threads of their own`, async (t) => {
    const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
    const client = clientOf(gateway);
    const [main, side]: [Messages, Messages] = [[], []];
    await say(client, main, 'Write a harbour.', headers);
    const [title] = await say(client, side, 'Make a title of this.', headers);
    const [thread] = await say(client, main, 'Go on.', headers);
    assert.equal(thread, 'session-7');
    assert.match(title, /^session-7-[0-9a-f]{32}$/);
  });

test('a name that is the beginning of another leads to a thread of its own', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const client = clientOf(gateway);
  const lists: Record<string, Messages> = { 'task-1': [], task: [] };
  const turn = async (words: string): Promise<readonly string[]> => {
    const threads: string[] = [];
    for (const [name, messages] of Object.entries(lists))
      threads.push((await say(client, messages, words, { 'x-bobbin-thread': name }))[0]);
    return threads;
  };
  for (const words of ['The same.', 'Go on.'])
    assert.deepEqual(await turn(words), ['task-1', 'task']);
  assert.deepEqual(await threadsOf(gateway), { task: 3, 'task-1': 3 });
});

for (const where of ['the same process', 'another process'])
  test(`a client that sends back the name of a thread has named it, in ${where}`, async (t) => {
    const upstreams = { openai: (await provider(t)).origin };
    const { store, ledger, ...one } = await runningGateway(t, { upstreams });
    const messages: Messages = [];
    const [thread] = await say(clientOf({ ...one, store, ledger }), messages, 'one');
    assert.match(thread, /^conversation-/);
    const other =
      where === 'another process' ? await runningGateway(t, { upstreams, store, ledger }) : one;
    const client = clientOf({ ...other, store, ledger });
    const headers = { 'x-bobbin-thread': thread };
    await say(client, messages, 'two', headers);
    const edited: Messages = [...messages.slice(0, 1), { role: 'assistant', content: 'edited' }];
    assert.deepEqual(await say(client, edited, 'another two', headers), [thread, 'unchanged']);
    assert.deepEqual(Object.keys(await threadsOf({ ...other, store, ledger })), [thread]);
  });

test('the session in the user id of Claude Code names the thread', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const session = '0b0f5c1e-8d5a-4a63-9a0e-4f1f5a3c2b1d';
  for (const user of [
    `user_${'0'.repeat(64)}_account__session_${session}`,
    JSON.stringify({ device_id: 'd', account_uuid: '', session_id: session }),
  ]) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer 1', 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-5',
        metadata: { user_id: user },
        messages: [{ role: 'user', content: 'hi' }],
      }),
    });
    await response.text();
    assert.equal(response.headers.get('x-bobbin-thread'), session);
  }
});

test('a client may send back the name of its thread as it got it', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const client = clientOf(gateway);
  const messages: Messages = [];
  let sent = 'my thread – ü';
  for (const words of ['one', 'two', 'three']) {
    const name = encodeURIComponent(decodeURIComponent(sent));
    [sent] = await say(client, messages, words, { 'x-bobbin-thread': name });
  }
  assert.deepEqual(await threadsOf(gateway), { 'my thread – ü': 5 });
});

for (const headers of [{}, { 'x-bobbin-thread': 'named' }] as const)
  test(`another process recognises a ${'x-bobbin-thread' in headers ? 'named' : 'nameless'} conversation from the store alone`, async (t) => {
    const upstreams = { openai: (await provider(t)).origin };
    const policies = [{ model: '', windowTokens: 8_000 }];
    const one = await runningGateway(t, { upstreams, policies });
    const other = (): Promise<RunningGateway> =>
      runningGateway(t, { upstreams, policies, store: one.store, ledger: one.ledger });
    const messages: Messages = [];
    const seen: string[] = [];
    for (let turn = 0; turn < 12; turn++) {
      const client = clientOf(turn % 3 === 0 ? one : await other());
      const [thread, action] = await say(client, messages, `${turn} ${LONG}`, headers);
      seen.push(action);
      assert.equal(thread, Object.keys(await threadsOf(one))[0]);
    }
    assert.deepEqual(await threadsOf(one), { [Object.keys(await threadsOf(one))[0] ?? '']: 23 });
    assert.equal(seen[0], 'unchanged');
    assert.ok(seen.includes('compacted') && seen.at(-1) !== 'unchanged', seen.join());
    const [tenant = ''] = await one.store.tenants();
    const [entry] = await one.store.threads(tenant, 1);
    const compactions = seen.filter((action) => action === 'compacted').length;
    assert.equal(entry?.version, compactions, 'each compaction was committed once');
  });

test('the header of the gateway names the thread before any name of a client', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const client = clientOf(gateway);
  const names = Object.assign({}, ...NAMES.map(([, headers]) => headers)) as Record<string, string>;
  const [own] = await say(client, [], 'one', { ...names, 'x-bobbin-thread': 'mine' });
  assert.equal(own, 'mine');
});

test('a cache key names the thread of Codex, and of nobody else', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const threadOf = async (sender: string): Promise<string | null> => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': sender },
      body: JSON.stringify({
        model: 'gpt-5',
        prompt_cache_key: 'key-7',
        messages: [{ role: 'user', content: `hi from ${sender}` }],
      }),
    });
    await response.text();
    return response.headers.get('x-bobbin-thread');
  };
  assert.equal(await threadOf('codex_cli_rs/0.60'), 'key-7');
  assert.match((await threadOf('another/1.0')) ?? '', /^conversation-/);
});

test('the gateway works for 250 ms at most unless it is given another time', async (t) => {
  const stuck = Object.create(memoryStore()) as Store;
  stuck.append = () => new Promise(() => undefined);
  const { ownWorkMs } = DEFAULT_LIMITS;
  const gateway = await runningGateway(t, {
    upstreams: { openai: (await provider(t)).origin },
    store: stuck,
    limits: { ownWorkMs },
  });
  const { response } = await clientOf(gateway)
    .chat.completions.create({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] })
    .withResponse();
  assert.equal(response.headers.get('x-bobbin-action'), 'late');
  assert.equal(response.headers.get('x-bobbin-reason'), 'not stored after 250 ms');
});

test('work that takes too long goes on while the request goes out as it came', async (t) => {
  const store = memoryStore();
  const slow = Object.create(store) as typeof store;
  const answered = Promise.withResolvers<void>();
  slow.append = async (...args) => {
    await answered.promise;
    return store.append(...args);
  };
  const gateway = await runningGateway(t, {
    upstreams: { openai: (await provider(t)).origin },
    store: slow,
    limits: { ownWorkMs: 30 },
  });
  const [thread, action] = await say(clientOf(gateway), [], 'hi');
  assert.equal(action, 'late');
  assert.match(thread, /^conversation-/);
  answered.resolve();
});
