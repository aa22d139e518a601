import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { memoryStore, type Store } from '@bobbin/core';
import type { GatewayOptions } from '@bobbin/gateway';
import { sqliteLedger } from '@bobbin/stores';
import { providerServer, type ProviderServer, type ProviderStep } from '@bobbin/testing';
import { bareUpstream, runningGateway, type RunningGateway } from './running-gateway.ts';
import {
  anthropicClient,
  chatClient,
  messagesOf,
  responsesClient,
  type ToolClient,
} from './tool-clients.ts';

type MakeClient = (gateway: string, isStream: boolean) => ToolClient;

const CLIENTS: readonly (readonly [string, MakeClient, object | string])[] = [
  ['OpenAI Chat', chatClient, 'none'],
  ['OpenAI Responses', responsesClient, 'none'],
  ['Anthropic Messages', anthropicClient, { type: 'none' }],
];

interface Setting {
  readonly provider: ProviderServer;
  readonly gateway: RunningGateway;
  readonly client: ToolClient;
}

async function setting(
  t: TestContext,
  [make, isStream]: readonly [MakeClient, boolean],
  steps: readonly ProviderStep[],
  options: Partial<GatewayOptions>,
): Promise<Setting> {
  const { protocol } = make('http://127.0.0.1', isStream);
  const provider = await providerServer(protocol, ...steps);
  t.after(() => provider.close());
  const upstreams = { openai: provider.origin, anthropic: provider.origin };
  const gateway = await runningGateway(t, { upstreams, tools: 'on', ...options });
  return { provider, gateway, client: make(gateway.url, isStream) };
}

const recalls: ProviderStep = {
  kind: 'calls',
  text: '',
  calls: [{ tool: 'recall', args: { query: 'pump' } }],
};
const answers = (text: string): ProviderStep => ({ kind: 'answer', text });

for (const [name, make, none] of CLIENTS)
  for (const isStream of [false, true]) {
    const how = isStream ? `${name}, stream` : name;

    test(`${how}: the last round asks for an answer, not for a call`, async (t) => {
      const steps = [recalls, recalls, answers('Enough.')];
      const options = { limits: { toolRounds: 2 } };
      const { provider, client } = await setting(t, [make, isStream], steps, options);
      client.say('Go.');
      const { text } = await client.ask();
      assert.equal(text, 'Enough.');
      provider.expectDone();
      const choices = provider.requests.map(({ body }) => body['tool_choice']);
      assert.deepEqual(choices, [undefined, undefined, none]);
      const tools = provider.requests.map(({ body }) => JSON.stringify(body['tools']));
      assert.equal(new Set(tools).size, 1, 'the tools of the cached prefix stay');
    });

    test(`${how}: an answer of nothing but calls does not go back as an empty message`, async (t) => {
      const steps = [recalls, recalls, answers('Here.')];
      const options = { limits: { toolRounds: 1 } };
      const { provider, client } = await setting(t, [make, isStream], steps, options);
      client.say('Go.');
      assert.deepEqual((await client.ask()).calls, []);
      client.say('And now?');
      assert.equal((await client.ask()).text, 'Here.');
      provider.expectDone();
      const empty = messagesOf(provider.requests[2]?.body ?? {}).filter((message) => {
        const { role, content, tool_calls: calls } = JSON.parse(message) as Record<string, unknown>;
        const isEmpty = content === null || content === '' || JSON.stringify(content) === '[]';
        return role === 'assistant' && isEmpty && calls === undefined;
      });
      assert.deepEqual(empty, []);
    });
  }

test('a call of a tool that is nested very deeply is answered like any other', async (t) => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const use = `{"type":"tool_use","id":"t1","name":"recall","input":{"query":${deep}}}`;
  const answer = `{"role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"Hm."},${use}]}`;
  const plain = '{"role":"assistant","content":[{"type":"text","text":"Here."}]}';
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing
      .writeHead(200, { 'content-type': 'application/json' })
      .end(upstream.seen.length === 1 ? answer : plain),
  );
  const gateway = await runningGateway(t, { upstreams: { anthropic: upstream.url }, tools: 'on' });
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({
      model: 'claude-haiku-4-5',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Where is the pump?' }],
    }),
  });
  const { content } = (await response.json()) as { content: unknown };
  assert.deepEqual(content, [
    { type: 'text', text: 'Hm.' },
    { type: 'text', text: 'Here.' },
  ]);
  assert.ok(upstream.seen[1]?.text.includes(deep), 'the call goes back as it came');
});

/** The names of the tools that each request had. */
function offeredTo({ requests }: ProviderServer): readonly string[] {
  return requests.map(({ body }) => {
    const tools = body['tools'] as readonly { name?: string; function?: { name: string } }[];
    return tools.map(({ name, function: called }) => name ?? called?.name).join();
  });
}

/** A store that cannot be read. */
function brokenStore(): Store {
  return new Proxy(memoryStore(), {
    get: (store, name) =>
      name === 'close'
        ? store.close.bind(store)
        : () => Promise.reject(new Error('the disk is gone')),
  });
}

for (const [name, make, none] of CLIENTS)
  for (const isStream of [false, true]) {
    const how = isStream ? `${name}, stream` : name;

    test(`${how}: tools that cannot be answered are not offered, and a call of one gets an error`, async (t) => {
      const steps = [recalls, answers('So be it.')];
      const options = { policies: [{ model: '', compaction: 'off' as const }] };
      const { provider, client } = await setting(t, [make, isStream], steps, options);
      client.say('Go.');
      assert.equal((await client.ask()).text, 'So be it.');
      provider.expectDone();
      assert.equal(offeredTo(provider)[0], 'read');
      const [, second] = provider.requests;
      assert.match(messagesOf(second?.body ?? {}).at(-1) ?? '', /nothing can be read/i);
      assert.deepEqual(second?.body['tool_choice'], none);
    });

    test(`${how}: a request that fails open goes out without the tools`, async (t) => {
      const { provider, client } = await setting(t, [make, isStream], [answers('Yes.')], {
        store: brokenStore(),
      });
      client.say('Go.');
      assert.equal((await client.ask()).text, 'Yes.');
      provider.expectDone();
      assert.deepEqual(offeredTo(provider), ['read']);
    });
  }

test('a ledger that does not answer holds no answer of a client', async (t) => {
  const ledger = sqliteLedger(':memory:');
  t.after(() => ledger.close());
  ledger.addRounds = () => new Promise(() => undefined);
  const steps = [recalls, answers('Nothing is known.')];
  const options = { ledger, limits: { ownWorkMs: 500 } };
  const { provider, client } = await setting(t, [chatClient, false], steps, options);
  client.say('Go.');
  assert.equal((await client.ask()).text, 'Nothing is known.');
  provider.expectDone();
});

const allowed = (mode: string): object => ({ type: 'allowed_tools', mode, tools: [] });
const nested = (mode: string): object => ({ type: 'allowed_tools', allowed_tools: { mode } });

test('tools are not offered if the client forces a call', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const { url } = upstream;
  const gateway = await runningGateway(t, {
    upstreams: { openai: url, anthropic: url },
    tools: 'on',
  });
  const ask = async (path: string, body: object): Promise<boolean> => {
    const whole = { model: 'm', max_tokens: 5, store: false, ...body };
    const response = await fetch(`${gateway.url}/v1/${path}`, {
      method: 'POST',
      body: JSON.stringify(whole),
    });
    await response.text();
    return upstream.seen.at(-1)?.text.includes('"recall"') === true;
  };
  const list = [{ role: 'user', content: 'Go.' }];
  const offered = async (
    path: string,
    field: string,
    choices: readonly unknown[],
  ): Promise<readonly boolean[]> => {
    const are: boolean[] = [];
    for (const choice of choices) are.push(await ask(path, { [field]: list, tool_choice: choice }));
    return are;
  };
  const named = { type: 'function', function: { name: 'read' } };
  assert.deepEqual(
    [
      await offered('chat/completions', 'messages', [
        undefined,
        null,
        'auto',
        'none',
        nested('auto'),
      ]),
      await offered('chat/completions', 'messages', ['required', named, nested('required')]),
      await offered('responses', 'input', [undefined, 'auto', 'none', allowed('auto')]),
      await offered('responses', 'input', ['required', { type: 'function', name: 'read' }]),
      await offered('responses', 'input', [{ type: 'web_search' }, allowed('required')]),
      await offered('messages', 'messages', [undefined, { type: 'auto' }, { type: 'none' }]),
      await offered('messages', 'messages', [{ type: 'any' }, { type: 'tool', name: 'read' }]),
    ],
    [
      [true, true, true, true, true],
      [false, false, false],
      [true, true, true, true],
      [false, false],
      [false, false],
      [true, true, true],
      [false, false],
    ],
  );
});

for (const hasLength of [true, false])
  test(`an answer that is too long to hold passes whole${hasLength ? ', with its length' : ''}`, async (t) => {
    const content = 'All pumps run. '.repeat(2_400_000);
    const message = { role: 'assistant', content };
    const reply = JSON.stringify({ id: 'x', choices: [{ message, finish_reason: 'stop' }] });
    const length = hasLength ? { 'content-length': String(reply.length) } : {};
    const upstream = await bareUpstream(t, (_, outgoing) =>
      outgoing.writeHead(200, { 'content-type': 'application/json', ...length }).end(reply),
    );
    const gateway = await runningGateway(t, { upstreams: { openai: upstream.url }, tools: 'on' });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Go.' }] }),
      signal: AbortSignal.timeout(20_000),
    });
    assert.ok((await response.text()) === reply, 'the answer is not the one of the upstream');
  });

for (const [name, make] of CLIENTS)
  test(`${name}: a further round that is no stream ends the client's stream with an error`, async (t) => {
    const { protocol } = make('http://127.0.0.1', true);
    const provider = await providerServer(protocol, recalls);
    t.after(() => provider.close());
    const upstream = await bareUpstream(t, async ({ url, text, headers: sent }, outgoing) => {
      if (upstream.seen.length > 1)
        return outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"x"}');
      const { host: _, connection: __, 'content-length': ___, ...headers } = sent;
      const first = await fetch(provider.origin + url, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: text,
      });
      return outgoing
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(await first.text());
    });
    const { url } = upstream;
    const upstreams = { openai: url, anthropic: url };
    const gateway = await runningGateway(t, { upstreams, tools: 'on' });
    const client = make(gateway.url, true);
    client.say('Go.');
    await assert.rejects(client.ask(), /bobbin gateway: .* no stream/);
    assert.equal(upstream.seen.length, 2);
  });

test("the last round replaces the client's own choice of tools in its place", async (t) => {
  const called = { name: 'recall', arguments: '{"query":"pump"}' };
  const call = { id: 'c1', type: 'function', function: called };
  const replies = [
    {
      message: { role: 'assistant', content: null, tool_calls: [call] },
      finish_reason: 'tool_calls',
    },
    { message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' },
  ];
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: 'x', choices: [replies[upstream.seen.length - 1]] })),
  );
  const upstreams = { openai: upstream.url };
  const gateway = await runningGateway(t, { upstreams, tools: 'on', limits: { toolRounds: 1 } });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: '{ "model":"m", "tool_choice" : "auto" , "messages":[{"role":"user","content":"Go."}] }',
  });
  assert.match(await response.text(), /"content":"Yes\."/);
  const starts = upstream.seen.map(({ text }) => text.slice(0, text.indexOf('"messages"')));
  assert.deepEqual(starts, [
    '{ "model":"m", "tool_choice" : "auto" , ',
    '{ "model":"m", "tool_choice" :"none" , ',
  ]);
});
