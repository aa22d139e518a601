import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '@bobbin/core/internal';
import { providerServer } from '@bobbin/testing';
import { bareUpstream, runningGateway } from './running-gateway.ts';

const LONG = 'The crane lifts a box of nine tons. '.repeat(60);

function history(turns: number): OpenAI.ChatCompletionMessageParam[] {
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  for (let turn = 0; turn < turns; turn++)
    messages.push(
      { role: 'user', content: `Question ${turn}. ${LONG}` },
      { role: 'assistant', content: `Answer ${turn}. ${LONG}` },
    );
  return [...messages, { role: 'user', content: 'And the last one?' }];
}

test('E3 a prompt that the provider refuses as too long is compacted hard and sent once more', async (t) => {
  const provider = await providerServer(
    'openai-chat',
    { kind: 'overflow' },
    { kind: 'answer', text: 'It fits now.' },
  );
  t.after(() => provider.close());
  const gateway = await runningGateway(t, { upstreams: { openai: provider.origin } });
  const client = new OpenAI({ apiKey: 'sk', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const messages = history(20);
  const { data, response } = await client.chat.completions
    .create({ model: 'gpt-5', messages })
    .withResponse();
  provider.expectDone();
  assert.equal(data.choices[0]?.message.content, 'It fits now.');
  assert.equal(response.headers.get('x-bobbin-action'), 'retried');
  const [first, second] = provider.requests.map(({ body }) => JSON.stringify(body).length);
  assert.ok((second ?? 0) < (first ?? 0) * 0.6, `${first} characters, then ${second}`);
  const [tenant = ''] = await gateway.store.tenants();
  const [thread] = await gateway.store.threads(tenant, 1);
  const events = thread && (await gateway.store.events({ tenant, thread: thread.thread }));
  assert.ok(events?.some(({ event }) => event.kind === 'completed'));
});

test('E3 a 413 counts as well; a second refusal reaches the client as the provider said it', async (t) => {
  const provider = await providerServer(
    'anthropic',
    { kind: 'error', status: 413, message: 'Request exceeds the maximum size' },
    { kind: 'overflow' },
  );
  t.after(() => provider.close());
  const gateway = await runningGateway(t, { upstreams: { anthropic: provider.origin } });
  const client = new Anthropic({ apiKey: 'sk', baseURL: gateway.url, maxRetries: 0 });
  const messages = history(20) as Anthropic.MessageParam[];
  const error = await client.messages
    .create({ model: 'claude-haiku-4-5', max_tokens: 100, messages })
    .then(
      () => undefined,
      (thrown: unknown) => thrown as InstanceType<typeof Anthropic.APIError>,
    );
  provider.expectDone();
  assert.equal(error?.status, 400);
  assert.match(error?.message ?? '', /prompt is too long: 215012 tokens > 200000 maximum/);
  assert.equal(error?.headers?.get('x-bobbin-action'), 'retried');
});

test('E3 a 422 about the length of the prompt counts too', async (t) => {
  const said =
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
  const upstream = await bareUpstream(t, (_, outgoing) => {
    const isFirst = upstream.seen.length === 1;
    outgoing.writeHead(isFirst ? 422 : 200, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(isFirst ? { error: { message: said } } : { choices: [] }));
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'gpt-5', messages: history(20) }),
  });
  await response.arrayBuffer();
  assert.deepEqual(
    [response.status, response.headers.get('x-bobbin-action'), upstream.seen.length],
    [200, 'retried', 2],
  );
});

test('an error about something else reaches the client as it is', async (t) => {
  const provider = await providerServer('openai-chat', {
    kind: 'error',
    status: 400,
    message: 'temperature: not with this model',
  });
  t.after(() => provider.close());
  const gateway = await runningGateway(t, { upstreams: { openai: provider.origin } });
  const client = new OpenAI({ apiKey: 'sk', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  await assert.rejects(
    client.chat.completions.create({ model: 'gpt-5', messages: history(1) }),
    /400 temperature: not with this model/,
  );
  assert.equal(provider.requests.length, 1);
});

const user = (content: string): JsonObject => ({ role: 'user', content });

const LEFT_ALONE: readonly (readonly [what: string, path: string, body: JsonObject])[] = [
  [
    "Claude Code's own compaction",
    '/v1/messages',
    {
      messages: [
        user(LONG),
        user('Your task is to create a detailed summary of the conversation so far.'),
      ],
    },
  ],
  [
    "Codex's own compaction",
    '/v1/responses',
    { input: [user(LONG), user('You are performing a CONTEXT CHECKPOINT COMPACTION. Go.')] },
  ],
  [
    "OpenCode's own compaction",
    '/v1/chat/completions',
    {
      messages: [
        user(LONG),
        user('Provide a detailed prompt for continuing our conversation above.'),
      ],
    },
  ],
  [
    'a thread that Anthropic keeps',
    '/v1/messages',
    { thread: { type: 'continue', previous_message_id: 'msg_1' }, messages: [user(LONG)] },
  ],
  [
    'a conversation that OpenAI keeps',
    '/v1/responses',
    { previous_response_id: 'resp_1', input: [user(LONG)] },
  ],
  [
    "OpenAI's own compaction",
    '/v1/responses',
    { context_management: [{ type: 'compaction' }], input: [user(LONG)] },
  ],
  [
    'what OpenAI has compacted',
    '/v1/responses',
    { input: [{ type: 'compaction', encrypted_content: 'x' }, user(LONG)] },
  ],
  [
    "Anthropic's own compaction",
    '/v1/messages',
    { context_management: { edits: [{ type: 'compact_20260112' }] }, messages: [user(LONG)] },
  ],
  [
    'what Anthropic has compacted',
    '/v1/messages',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'compaction', content: 'earlier' }] },
        user(LONG),
      ],
    },
  ],
];

for (const [what, path, body] of LEFT_ALONE)
  test(`left alone: ${what}`, async (t) => {
    const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
    const gateway = await runningGateway(t, {
      upstreams: { openai: upstream.url, anthropic: upstream.url },
      policies: [{ model: '', windowTokens: 600 }],
    });
    const sent = JSON.stringify({ model: 'm', ...body });
    const response = await fetch(`${gateway.url}${path}`, { method: 'POST', body: sent });
    await response.text();
    assert.equal(response.headers.get('x-bobbin-action'), 'left-alone');
    assert.equal(upstream.seen[0]?.text ?? '', sent);
    assert.deepEqual(await gateway.store.tenants(), []);
  });

test('a model whose compaction is off, and one with a window of its own', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    policies: [
      { model: '', windowTokens: 4_000 },
      { model: 'big', compaction: 'off' },
    ],
  });
  const actions: (string | null)[] = [];
  for (const model of ['big-1', 'small-1']) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model, messages: history(20) }),
    });
    await response.text();
    actions.push(response.headers.get('x-bobbin-action'));
  }
  assert.deepEqual(actions, ['unchanged', 'compacted']);
});

test('a kept message keeps its bytes in a compacted request, and so does everything beside the messages', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    policies: [{ model: '', windowTokens: 4_000 }],
  });
  const last = '{ "role":"user", "content":"\\u0068ow many? \\/", "name" : "n\\u0021" }';
  const others = history(20).map((message) => JSON.stringify(message));
  const beside = '"seed" : 12345678901234567890 ,"stop":[ "]" , "\\"]" ] , "temperature":1.0 ';
  const body = `{${beside},"model":"m", "messages": [ ${others.join(' , ')} ,${last} ] , "user":"x"}`;
  const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body });
  await response.text();
  const sent = upstream.seen[0]?.text ?? '';
  assert.equal(response.headers.get('x-bobbin-action'), 'compacted');
  assert.ok(sent.startsWith(`{${beside},"model":"m", "messages": [`));
  assert.ok(sent.endsWith(`,${last}] , "user":"x"}`), sent.slice(-200));
  assert.ok(sent.length < body.length / 2);
  assert.ok(Array.isArray((JSON.parse(sent) as JsonObject)['messages']));
});

test('count_tokens counts the request that would go out', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{"input_tokens":1}'));
  const gateway = await runningGateway(t, {
    upstreams: { anthropic: upstream.url },
    policies: [{ model: '', windowTokens: 4_000 }],
  });
  const client = new Anthropic({ apiKey: 'sk', baseURL: gateway.url, maxRetries: 0 });
  const messages = history(20) as Anthropic.MessageParam[];
  await client.messages.create({ model: 'claude-haiku-4-5', max_tokens: 100, messages });
  await client.messages.countTokens({ model: 'claude-haiku-4-5', messages });
  const [sent, counted] = upstream.seen.map(
    ({ text }) => (JSON.parse(text) as { messages: unknown }).messages,
  );
  assert.deepEqual(counted, sent);
  const [tenant = ''] = await gateway.store.tenants();
  assert.equal((await gateway.ledger.sum(tenant)).requests, 1);
});

const IN_STREAM: readonly (readonly [string, string, readonly object[]])[] = [
  [
    'Responses',
    '/v1/responses',
    [
      { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
      { type: 'response.in_progress', response: { id: 'r', status: 'in_progress', output: [] } },
      {
        type: 'response.failed',
        response: {
          id: 'r',
          status: 'failed',
          error: {
            code: 'context_length_exceeded',
            message: 'Your input exceeds the context window of this model.',
          },
        },
      },
    ],
  ],
  [
    'Chat Completions',
    '/v1/chat/completions',
    [
      {
        error: {
          message:
            "This model's maximum context length is 9000 tokens. However, your messages resulted in 12000 tokens.",
          code: 400,
        },
      },
    ],
  ],
];

function stream(list: readonly object[]): string {
  return list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

for (const [name, path, events] of IN_STREAM)
  test(`E3 ${name}: a refusal that comes as an event of a stream is not relayed; the request is sent once more`, async (t) => {
    const good = 'data: {"type":"response.created","response":{"id":"s"}}\n\ndata: {"ok":1}\n\n';
    const upstream = await bareUpstream(t, (_, outgoing) =>
      outgoing
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(upstream.seen.length === 1 ? stream(events) : good),
    );
    const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
    const field = path === '/v1/responses' ? 'input' : 'messages';
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', stream: true, [field]: history(20) }),
    });
    assert.equal(await response.text(), good);
    assert.equal(response.headers.get('x-bobbin-action'), 'retried');
    const [first, second] = upstream.seen.map(({ body }) => body.length);
    assert.ok((second ?? 0) < (first ?? 0) * 0.6, `${first} bytes, then ${second}`);
  });

test('an error of another kind in a stream, and a stream that is slow to begin, are relayed as they are', async (t) => {
  const failed = `data: ${JSON.stringify({ type: 'response.created', response: {} })}\n\ndata: ${JSON.stringify({ type: 'response.failed', response: { error: { code: 'server_error', message: 'sorry' } } })}\n\n`;
  const upstream = await bareUpstream(t, (_, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    if (upstream.seen.length === 1) return outgoing.end(failed);
    // Nothing more comes before the client has seen this.
    return outgoing.write('data: {"type":"response.created","response":{}}\n\n');
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const ask = (): Promise<Response> =>
    fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', stream: true, input: history(2) }),
    });
  assert.equal(await (await ask()).text(), failed);
  const reader = ((await ask()).body as ReadableStream<Uint8Array>).getReader();
  assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /response\.created/);
  await reader.cancel();
});
