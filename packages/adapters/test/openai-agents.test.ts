import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import {
  Agent,
  OpenAIProvider,
  OpenAIResponsesCompactionSession,
  RunContext,
  Runner,
  tool,
  Usage,
  type AgentInputItem,
  type AgentOutputItem,
  type Model,
} from '@openai/agents';
import OpenAI from 'openai';
import { openaiAgentsBobbin, RefusedTwice } from '@bobbin/adapters/openai-agents';
import { memoryStore, type CompactionEvent, type MessageId, type ThreadId } from '@bobbin/core';
import { providerServer } from '@bobbin/testing';
import { finishesOnOpenAIAgents, work } from './openai-agents-task.ts';
import { nameOf, SHORT, Task } from './task.ts';
import { taskProvider } from './task-provider.ts';

const KEY = { tenant: 'default', thread: 'ledger' as ThreadId };

for (const [dialect, job] of [
  ['openai-responses', SHORT],
  ['openai-chat', SHORT],
] as const) {
  test(`C23 an agent on OpenAI Agents finishes ${nameOf(job)}, ${dialect}`, (t) =>
    finishesOnOpenAIAgents(t, dialect, job));
}

test("H4 an agent on OpenAI Agents that does not take Bobbin's tools reads of none", (t) =>
  finishesOnOpenAIAgents(t, 'openai-chat', SHORT, 'not taken'));

test('E3 on OpenAI Agents a refused prompt is compacted and sent once more', async (t) => {
  const task = new Task(40);
  const provider = await taskProvider('openai-responses', task, 8_000);
  t.after(() => provider.close());
  const refusals: CompactionEvent[] = [];
  const said = await work(task, provider.url, 'openai-responses', {
    window: 64_000,
    onEvent: (event) => {
      if (event.kind === 'refused') refusals.push(event);
    },
  });
  assert.equal(said, 'DONE 40 steps as HERON-7731');
  assert.deepEqual([provider.faults.length, refusals.length], [1, 1]);
});

test('E3 on OpenAI Agents a second refusal is reported with both sizes', async (t) => {
  const provider = await taskProvider('openai-chat', new Task(), 40);
  t.after(() => provider.close());
  await assert.rejects(work(new Task(), provider.url, 'openai-chat', {}), (error) => {
    assert.ok(error instanceof RefusedTwice, String(error));
    return true;
  });
  assert.equal(provider.faults.length, 2);
});

function answer(text: string): AgentOutputItem {
  const content = [{ type: 'output_text' as const, text }];
  return { type: 'message', role: 'assistant', status: 'completed', content };
}

/** The events of an answer of the Responses API: both kinds begin alike, as OpenAI's do. */
function eventsOf(...ends: readonly object[]): string {
  const response = { id: 'r', object: 'response', model: 'scripted', output: [] };
  const begun = { ...response, status: 'in_progress' };
  const created = { type: 'response.created', response: begun };
  const events = [created, { type: 'response.in_progress', response: begun }, ...ends];
  return events
    .map((event, i) => ({ sequence_number: i, ...event }) as { type?: string })
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

const TOO_LONG = {
  code: 'context_length_exceeded',
  message: 'Your input exceeds the context window of this model.',
};
const REFUSALS = {
  'an error': [{ type: 'error', error: { type: 'invalid_request_error', ...TOO_LONG } }],
  'a failed response': [
    { type: 'response.failed', response: { id: 'r', status: 'failed', error: TOO_LONG } },
  ],
};

for (const [kind, refusal] of Object.entries(REFUSALS)) {
  test(`E3 on OpenAI Agents a stream that begins and is refused by ${kind} is compacted and sent once more`, async (t) => {
    const said = {
      type: 'response.output_text.delta',
      item_id: 'm',
      output_index: 0,
      delta: 'Yes.',
    };
    const output = [{ ...answer('Yes.'), id: 'm' }];
    const usage = { input_tokens: 9, output_tokens: 1, total_tokens: 10 };
    const done = { id: 'r', object: 'response', status: 'completed', output, usage };
    const replies = [
      eventsOf(...refusal),
      eventsOf(said, { type: 'response.completed', response: done }),
    ];
    let asked = 0;
    const server = createServer((incoming, outgoing) => {
      incoming.resume();
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).end(replies[asked]);
      asked += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const bobbin = openaiAgentsBobbin({ thread: KEY.thread });
    const inner = new OpenAIProvider({ apiKey: 'scripted', baseURL, useResponses: true });
    const runner = new Runner({ modelProvider: bobbin.provider(inner) });
    const stream = await runner.run(new Agent({ name: 'talker', model: 'scripted' }), 'Well?', {
      session: bobbin.session,
      stream: true,
    });
    const deltas: string[] = [];
    let begun = 0;
    for await (const event of stream) {
      if (event.type !== 'raw_model_stream_event') continue;
      if (event.data.type === 'response_started') begun += 1;
      if (event.data.type === 'output_text_delta') deltas.push(event.data.delta);
    }
    await stream.completed;
    assert.deepEqual([asked, begun, deltas, stream.finalOutput], [2, 1, ['Yes.'], 'Yes.']);
  });
}

const user = (content: string): AgentInputItem => ({ type: 'message', role: 'user', content });
const call = (callId: string, args: string): AgentInputItem => ({
  type: 'function_call',
  callId,
  name: 'read',
  arguments: args,
  status: 'completed',
});
const result = (callId: string, text: string): AgentInputItem => ({
  type: 'function_call_result',
  callId,
  name: 'read',
  status: 'completed',
  output: { type: 'text', text },
});

test('A14 a session of OpenAI Agents is a thread: read, popped, cleared, resumed', async () => {
  const store = memoryStore();
  const { session } = openaiAgentsBobbin({ thread: KEY.thread, store });
  assert.equal(await session.getSessionId(), 'ledger');
  assert.deepEqual(await session.getItems(), []);
  const items = [user('a'), call('1', '{}'), result('1', 'one'), user('b')];
  await session.addItems(items);
  assert.deepEqual(await session.getItems(), items);
  assert.deepEqual(await session.getItems(2), items.slice(2));
  assert.deepEqual(await session.popItem(), items[3]);
  await session.addItems([user('c')]);
  assert.deepEqual(await session.getItems(), [...items.slice(0, 3), user('c')]);
  assert.equal((await store.heads(KEY)).length, 2, 'what was taken back is a fork');
  const { session: resumed } = openaiAgentsBobbin({ thread: KEY.thread, store });
  assert.deepEqual(await resumed.getItems(), [...items.slice(0, 3), user('c')]);
  await resumed.clearSession();
  assert.deepEqual(await resumed.getItems(), []);
  await resumed.addItems([user('d')]);
  const { session: third } = openaiAgentsBobbin({ thread: KEY.thread, store });
  assert.deepEqual(await third.getItems(), [user('d')]);
});

test('A14 what was popped or cleared from a session of OpenAI Agents stays so in the next process', async () => {
  const store = memoryStore();
  const itemsOf = (): Promise<AgentInputItem[]> =>
    openaiAgentsBobbin({ thread: KEY.thread, store }).session.getItems();
  const { session } = openaiAgentsBobbin({ thread: KEY.thread, store });
  await session.addItems([user('a'), user('b'), user('c')]);
  assert.deepEqual(await session.popItem(), user('c'));
  assert.deepEqual(await itemsOf(), [user('a'), user('b')]);
  await session.clearSession();
  assert.deepEqual(await itemsOf(), []);
  const { session: next } = openaiAgentsBobbin({ thread: KEY.thread, store });
  await next.addItems([user('d')]);
  assert.deepEqual(await next.popItem(), user('d'));
  assert.deepEqual(await itemsOf(), []);
  const kept = await store.threads(KEY.tenant, 9);
  assert.deepEqual(
    kept.map(({ thread, length }) => [thread, length]),
    [
      ['ledger', 3],
      ['ledger~1', 2],
    ],
    'what was said is all kept, and that it was cleared',
  );
});

test('B4 in a chat on OpenAI Agents every answer has the usage that was reported of it', async () => {
  const store = memoryStore();
  const bobbin = openaiAgentsBobbin({ thread: KEY.thread, store });
  let asked = 0;
  const model = {
    getResponse: async () => {
      asked += 1;
      const usage = new Usage({ inputTokens: 700 + asked, outputTokens: 5, totalTokens: 705 });
      return { usage, output: [answer(`answer ${asked}`)] };
    },
  };
  const provider = bobbin.provider({ getModel: () => model as unknown as Model });
  const runner = new Runner({ modelProvider: provider });
  const agent = new Agent({ name: 'talker' });
  for (let i = 0; i < 5; i++) await runner.run(agent, `question ${i}`, { session: bobbin.session });
  const [head] = await store.heads(KEY);
  const thread = await store.path(KEY, head as MessageId);
  assert.deepEqual(
    thread.map(({ message: { role, meta } }) => [role, meta?.usage?.inputTokens]),
    [1, 2, 3, 4, 5].flatMap((i) => [
      ['user', undefined],
      ['assistant', 700 + i],
    ]),
  );
});

test('A14 a session of OpenAI Agents replaces a call, and compacts when it is told to', async () => {
  const bobbin = openaiAgentsBobbin({ thread: KEY.thread });
  const { session } = bobbin;
  await session.addItems([user('a'), call('1', '{}'), result('1', 'one')]);
  await session.applyHistoryMutations({
    mutations: [{ type: 'replace_function_call', callId: '1', replacement: call('1', '{"x":1}') }],
  });
  assert.deepEqual(await session.getItems(), [user('a'), call('1', '{"x":1}'), result('1', 'one')]);
  for (let i = 2; i < 12; i++)
    await session.addItems([call(`${i}`, '{}'), result(`${i}`, 'word '.repeat(200))]);
  const before = (await session.getItems()).length;
  assert.equal(await session.runCompaction({ force: true }), null);
  assert.ok((await session.getItems()).length < before);
  const compaction: AgentInputItem = { type: 'compaction', encrypted_content: 'sealed' };
  await session.replaceHistoryWithCompaction([compaction, user('e')]);
  assert.deepEqual(await session.getItems(), [user('a'), compaction, user('e')]);
  assert.match(await bobbin.recall('word'), /turn 1, tool/, 'it is the same thread');
  await session.replaceHistoryWithCompaction([user('f')]);
  assert.deepEqual(
    await session.getItems(),
    [user('f')],
    'without a compaction it is another history',
  );
});

const SEALED = 'gAAA'.repeat(50);

/** The endpoint at which OpenAI compacts a list of items: it keeps what users said. */
async function compactEndpoint(t: TestContext): Promise<OpenAI> {
  const server = createServer((incoming, outgoing) => {
    void json(incoming).then((body) => {
      const { input } = body as { input: { role?: string; content?: unknown }[] };
      const said = input.filter(({ role }) => role === 'user');
      const output = [
        ...said.map(({ role, content }) => ({
          type: 'message',
          role,
          content: [{ type: 'input_text', text: JSON.stringify(content) }],
        })),
        { type: 'compaction', id: 'cmp_1', encrypted_content: SEALED },
      ];
      const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
      return outgoing
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ id: 'r', object: 'response.compaction', output, usage }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return new OpenAI({ apiKey: 'key', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
}

test('H5 the SDK’s own compacting session works over Bobbin’s', async (t) => {
  const said = Array.from({ length: 12 }, (_, i) => [
    { kind: 'call' as const, tool: 'read', args: {} },
    { kind: 'answer' as const, text: `Answer ${i}.` },
  ]).flat();
  const server = await providerServer('openai-responses', ...said);
  t.after(() => server.close());
  const bobbin = openaiAgentsBobbin({ thread: 'wrapped', window: 16_000 });
  let runs = 0;
  const session = new OpenAIResponsesCompactionSession({
    client: (await compactEndpoint(t)) as never, // The SDK brings a client of its own version.
    underlyingSession: bobbin.session,
    compactionMode: 'input',
    shouldTriggerCompaction: () => runs % 4 === 3,
  });
  const read = tool({
    name: 'read',
    description: 'Reads.',
    parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
    strict: false,
    execute: () => 'compute(1);\n'.repeat(60),
  });
  const agent = new Agent({ name: 'reader', model: 'gpt-5', tools: [read] });
  const inner = new OpenAIProvider({ apiKey: 'key', baseURL: server.url, useResponses: true });
  const runner = new Runner({ modelProvider: bobbin.provider(inner) });
  for (; runs < 12; runs++)
    await runner.run(agent, `Question ${runs}. Never touch deploy/prod.`, { session });
  server.expectDone();
  const inputs = server.requests.map(({ body }) => JSON.stringify(body['input']));
  const sealed = inputs.map((input) => input.split(SEALED).length - 1);
  assert.deepEqual(
    sealed.slice(0, 8),
    Array.from({ length: 8 }, () => 0),
    'before the first',
  );
  assert.deepEqual(new Set(sealed.slice(8)), new Set([1]), 'the newest compaction alone');
  for (const input of inputs) assert.match(input, /Never touch deploy\/prod/);
});

/** Searches that OpenAI ran itself, in the SDK's items: what came of them is in the provider's data. */
function searches(count: number, found: string): AgentInputItem[] {
  const items: AgentInputItem[] = [user('Search it all.')];
  for (let i = 0; i < count; i++) {
    const results = [{ text: `${found} ${i}` }];
    const providerData = { type: 'file_search_call', id: `fs_${i}`, queries: [`q${i}`], results };
    const item = {
      type: 'hosted_tool_call',
      name: 'file_search_call',
      status: 'completed',
    } as const;
    items.push({ type: 'reasoning', id: `rs_${i}`, content: [] });
    items.push({ ...item, id: `fs_${i}`, providerData }, answer(`Found ${i}.`), user(`Next ${i}.`));
  }
  return items;
}

test('C4 on OpenAI Agents many tools that the provider ran fit, and one that was cut is told', async () => {
  const { session } = openaiAgentsBobbin({ thread: KEY.thread, window: 16_000 });
  await session.addItems(searches(400, 'result of the search '.repeat(100)));
  const items = await session.getItems();
  const text = JSON.stringify(items);
  assert.ok(text.length < 16_000 * 4, `${text.length} characters`);
  assert.ok(items.length < 1_600);
  const { session: small } = openaiAgentsBobbin({ thread: KEY.thread, window: 8_000 });
  await small.addItems(searches(1, 'word '.repeat(9_000)));
  const told = (await small.getItems()).find((item) =>
    JSON.stringify(item).includes('The provider ran file_search'),
  );
  assert.equal(told?.type, 'message');
  assert.match(JSON.stringify(told), /45015 characters, cut/);
  assert.deepEqual(
    (await small.getItems()).map(({ type, id }) => [type, id]),
    [
      ['message', undefined],
      ['message', undefined],
      ['message', undefined],
      ['message', undefined],
    ],
    'the thought that led to it is refused without it',
  );
});

test('A14 what a failed turn showed to a model is no part of the session', async () => {
  const store = memoryStore();
  const bobbin = openaiAgentsBobbin({ thread: KEY.thread, store });
  await bobbin.session.addItems([user('a')]);
  const failing = { getResponse: () => Promise.reject(new Error('down')) };
  const provider = bobbin.provider({ getModel: () => failing as unknown as Model });
  const agent = new Agent({ name: 'unlucky' });
  const runner = new Runner({ modelProvider: provider });
  const { session } = bobbin;
  await assert.rejects(runner.run(agent, [user('b')], { session }), /down/);
  await session.addItems([user('c')]);
  const said = (await session.getItems()).flatMap((item) =>
    'content' in item ? [item.content] : [],
  );
  assert.deepEqual(said, ['a', 'c']);
});

test('C11 C26 an agent on OpenAI Agents reads what was moved out, and recalls what was compacted', async () => {
  const bobbin = openaiAgentsBobbin({
    thread: KEY.thread,
    window: 4_000,
    budget: { rehydrationTokens: 0 },
  });
  const { session, tools } = bobbin;
  const long = `${'line '.repeat(3_000)}the vault code is 4471`;
  await session.addItems([user('Read it.'), call('1', '{}'), result('1', long)]);
  const [, artifact] = /artifact:(\w+)/.exec(JSON.stringify(await session.getItems())) ?? [];
  await session.addItems([answer('The heron stands at gate 12.'), user('Go on.')]);
  for (let i = 2; i < 120; i++)
    await session.addItems([call(`${i}`, '{}'), result(`${i}`, `part ${i} ${'word '.repeat(60)}`)]);
  assert.doesNotMatch(JSON.stringify(await session.getItems()), /part 5 word/);
  const [read, recall] = tools;
  const invoke = async (used: typeof read, args: object): Promise<unknown> =>
    used?.invoke(new RunContext(), JSON.stringify(args));
  assert.deepEqual([read?.name, recall?.name], ['read_artifact', 'recall']);
  assert.match(String(await invoke(read, { id: artifact, search: 'vault' })), /vault code is 4471/);
  assert.match(String(await invoke(recall, { query: 'heron gate' })), /stands at gate 12/);
});

test('E13 requests to OpenAI of one session share a cache key, unless the host has one', async (t) => {
  const keys: unknown[] = [];
  const server = createServer((incoming, outgoing) => {
    void json(incoming).then((body) => {
      keys.push((body as { prompt_cache_key?: unknown }).prompt_cache_key);
      const reply = { id: 'r', object: 'response', status: 'completed', usage: {} };
      outgoing.setHeader('content-type', 'application/json');
      return outgoing.end(JSON.stringify({ ...reply, output: [{ ...answer('Yes.'), id: 'm' }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const bobbin = openaiAgentsBobbin({ thread: KEY.thread });
  const inner = new OpenAIProvider({ apiKey: 'scripted', baseURL, useResponses: true });
  const runner = new Runner({ modelProvider: bobbin.provider(inner) });
  const { session } = bobbin;
  await runner.run(new Agent({ name: 'talker', model: 'gpt-5' }), 'Well?', { session });
  const modelSettings = { providerData: { prompt_cache_key: 'own' } };
  const other = new Agent({ name: 'other', model: 'gpt-5', modelSettings });
  await runner.run(other, 'And?', { session });
  assert.deepEqual(keys, ['ledger', 'own']);
});
