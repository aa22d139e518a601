import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import {
  Agent,
  OpenAIProvider,
  OpenAIResponsesCompactionSession,
  Runner,
  tool,
  Usage,
  type AgentInputItem,
  type Model,
} from '@openai/agents';
import OpenAI from 'openai';
import { openaiAgentsBobbin } from '@bobbin/adapters/openai-agents';
import { memoryStore, type MessageId } from '@bobbin/core';
import { providerServer } from '@bobbin/testing';
import { answer, call, KEY, result, user } from './openai-agents-items.ts';

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

test('A14 a session of OpenAI Agents replaces a call, and compacts when it is asked to', async () => {
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
