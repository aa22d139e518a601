import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { Agent, OpenAIProvider, RunContext, Runner, type AgentInputItem } from '@openai/agents';
import { openaiAgentsBobbin, RefusedTwice } from '@bobbin/adapters/openai-agents';
import type { CompactionEvent } from '@bobbin/core';
import { answer, call, KEY, result, user } from './openai-agents-items.ts';
import { finishesOnOpenAIAgents, work } from './openai-agents-task.ts';
import { nameOf, SHORT, Task } from './task.ts';
import { taskProvider } from './task-provider.ts';

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

test('C4 on OpenAI Agents many tools that the provider ran fit, and one that was cut is reported', async () => {
  const { session } = openaiAgentsBobbin({ thread: KEY.thread, window: 16_000 });
  await session.addItems(searches(400, 'result of the search '.repeat(100)));
  const items = await session.getItems();
  const text = JSON.stringify(items);
  assert.ok(text.length < 16_000 * 4, `${text.length} characters`);
  assert.ok(items.length < 1_600);
  const { session: small } = openaiAgentsBobbin({ thread: KEY.thread, window: 8_000 });
  await small.addItems(searches(1, 'word '.repeat(9_000)));
  const shortened = (await small.getItems()).find((item) =>
    JSON.stringify(item).includes('The provider ran file_search'),
  );
  assert.equal(shortened?.type, 'message');
  assert.match(JSON.stringify(shortened), /45015 characters, cut/);
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
