import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { GatewayOptions } from '@bobbin/gateway';
import {
  providerServer,
  randomText,
  seededRandom,
  type ProviderServer,
  type ProviderStep,
} from '@bobbin/testing';
import { bareUpstream, runningGateway, until, type RunningGateway } from './running-gateway.ts';
import {
  anthropicClient,
  chatClient,
  messagesOf,
  responsesClient,
  type ToolClient,
} from './tool-clients.ts';

const NEEDLE = 'the valve of pump 7 opens at 4.25 bar';
const STOPS = {
  'openai-chat': ['stop', 'tool_calls'],
  'openai-responses': ['completed', 'completed'],
  anthropic: ['end_turn', 'tool_use'],
} as const;

/** A long result with something in its middle that no excerpt shows. */
function longResult(seed: number): string {
  const noise = (part: number): string => randomText(seededRandom(seed * 10 + part), 9_000);
  return `${noise(1)}\n${NEEDLE}\n${noise(2)}`;
}

interface Setting {
  readonly provider: ProviderServer;
  readonly gateway: RunningGateway;
  readonly client: ToolClient;
}

type MakeClient = (gateway: string, isStream: boolean) => ToolClient;

async function setting(
  t: TestContext,
  make: MakeClient,
  isStream: boolean,
  steps: readonly ProviderStep[],
  options: Partial<GatewayOptions> = {},
): Promise<Setting> {
  const { protocol } = make('http://127.0.0.1', isStream);
  const provider = await providerServer(protocol, ...steps);
  t.after(() => provider.close());
  const gateway = await runningGateway(t, {
    upstreams: { openai: provider.origin, anthropic: provider.origin },
    policies: [{ model: '', windowTokens: 12_000 }],
    tools: 'on',
    ...options,
  });
  return { provider, gateway, client: make(gateway.url, isStream) };
}

/** The model reads the artifact that its prompt names. */
const readsArtifact: ProviderStep = {
  kind: 'calls',
  text: 'Let me look.',
  calls: ({ text }) => {
    const id = /artifact:([0-9a-f]{8}[\w-]*)/.exec(text)?.[1] ?? 'none';
    return [{ tool: 'read_artifact', args: { id, search: 'pump 7' } }];
  },
  usage: { inputTokens: 1_000, outputTokens: 10 },
};

const answers = (text: string): ProviderStep => ({
  kind: 'answer',
  text,
  usage: { inputTokens: 2_000, outputTokens: 30 },
});

/** A conversation whose long results no longer fit. */
function fill(client: ToolClient): void {
  client.say('Read all the files.');
  for (let i = 0; i < 4; i++) client.used(`own_${i}`, longResult(i));
  client.say('At what pressure does the valve open?');
}

const CLIENTS: readonly (readonly [string, MakeClient])[] = [
  ['OpenAI Chat', chatClient],
  ['OpenAI Responses', responsesClient],
  ['Anthropic Messages', anthropicClient],
];

for (const [name, make] of CLIENTS)
  for (const isStream of [false, true]) {
    const how = isStream ? `${name}, stream` : name;

    test(`${how}: the gateway answers calls of its tools, and the client sees one answer`, async (t) => {
      const steps = [readsArtifact, answers('At 4.25 bar.'), answers('You are welcome.')];
      const { provider, gateway, client } = await setting(t, make, isStream, steps);
      fill(client);
      const seen = await client.ask();
      assert.deepEqual(
        { ...seen, text: seen.text.split(/\n+/) },
        {
          // The client of Responses joins texts with nothing in between.
          text:
            client.protocol === 'openai-responses'
              ? ['Let me look.At 4.25 bar.']
              : ['Let me look.', 'At 4.25 bar.'],
          calls: [],
          stop: STOPS[client.protocol as 'anthropic'][0],
          inputTokens: 3_000,
          outputTokens: 40,
        },
      );
      const second = provider.requests[1]?.body ?? {};
      assert.match(messagesOf(second).at(-1) ?? '', /artifact:.*opens at 4\.25 bar/);
      client.say('Thank you.');
      await client.ask();
      provider.expectDone();
      const [before, after] = provider.requests.slice(1).map(({ body }) => messagesOf(body));
      assert.deepEqual(after?.slice(0, before?.length), before, 'the prefix of the cache holds');
      const [tenant = ''] = await gateway.store.tenants();
      const threads = await gateway.store.threads(tenant, 10);
      assert.equal(threads.length, 1);
      const rows = await gateway.ledger.entries(tenant, threads[0]?.thread as never);
      assert.equal(rows.length, 3, 'each request to the provider is in the ledger');
    });

    test(`${how}: calls of the client's own tools beside the gateway's reach the client`, async (t) => {
      const mixed: ProviderStep = {
        kind: 'calls',
        text: 'Both.',
        calls: [
          { tool: 'recall', args: { query: 'pump 7' } },
          { tool: 'read', args: { path: 'a' } },
        ],
      };
      const steps = [mixed, readsArtifact, answers('Done.'), answers('Bye.')];
      const { provider, client } = await setting(t, make, isStream, steps);
      fill(client);
      const seen = await client.ask();
      assert.deepEqual(
        [seen.text, seen.calls, seen.stop],
        ['Both.', ['read'], STOPS[client.protocol as 'anthropic'][1]],
      );
      client.answer('a says nothing');
      const { calls } = await client.ask();
      assert.deepEqual(calls, []);
      client.say('And now?');
      await client.ask();
      provider.expectDone();
      const [, second, third, fourth] = provider.requests;
      assert.ok(second?.text.includes('a says nothing'));
      assert.match(
        JSON.stringify(second?.body),
        /recall_1_0/,
        'the call that the client did not see',
      );
      const [before, after] = [third, fourth].map((request) => messagesOf(request?.body ?? {}));
      assert.deepEqual(after?.slice(0, before?.length), before, 'the prefix of the cache holds');
    });
  }

test('another process recognises a conversation with rounds that its client has not seen', async (t) => {
  const steps = [readsArtifact, answers('At 4.25 bar.'), answers('Yes.')];
  const { provider, gateway, client } = await setting(t, chatClient, false, steps);
  const { store, ledger } = gateway;
  const other = await runningGateway(t, {
    upstreams: { openai: provider.origin },
    policies: [{ model: '', windowTokens: 12_000 }],
    tools: 'on',
    store,
    ledger,
  });
  fill(client);
  await client.ask();
  client.say('Sure?');
  await client.ask({}, other.url);
  provider.expectDone();
  // What one process brings back for a turn is not in the prompts of another.
  const [before, after] = provider.requests
    .slice(1)
    .map(({ body }) => messagesOf(body).filter((message) => !message.includes('[Recalled from')));
  assert.deepEqual(after?.slice(0, before?.length), before);
  const [tenant = ''] = await store.tenants();
  assert.equal((await store.threads(tenant, 10)).length, 1);
});

test('an answer that the client has changed is sent as the client has it', async (t) => {
  const steps = [readsArtifact, answers('At 4.25 bar.'), answers('Yes.')];
  const { provider, client } = await setting(t, anthropicClient, true, steps);
  fill(client);
  await client.ask();
  client.forget('At 4.26 bar.');
  client.say('Sure?');
  await client.ask();
  provider.expectDone();
  const last = messagesOf(provider.requests[2]?.body ?? {}).join('\n');
  assert.ok(last.includes('At 4.26 bar.') && !last.includes('read_artifact_1_0'), last.slice(-400));
});

for (const [name, make] of CLIENTS)
  for (const isStream of [false, true])
    test(`${name}: a model that reads on and on is stopped${isStream ? ', stream' : ''}`, async (t) => {
      const again: ProviderStep = {
        kind: 'calls',
        text: 'Once more.',
        calls: [{ tool: 'recall', args: { query: 'pump' } }],
      };
      const steps = [again, again, again, answers('Enough.')];
      const limits = { toolRounds: 2 };
      const { provider, client } = await setting(t, make, isStream, steps, { limits });
      client.say('Go.');
      const { calls, stop, text } = await client.ask();
      assert.deepEqual([calls, stop], [[], STOPS[client.protocol as 'anthropic'][0]]);
      assert.equal(text.match(/Once more\./g)?.length, 3);
      client.say('And now?');
      await client.ask();
      provider.expectDone();
      const [, , third, fourth] = provider.requests.map(({ body }) => messagesOf(body));
      assert.match(third?.at(-1) ?? '', /Nothing more can be read/);
      assert.deepEqual(fourth?.slice(0, third?.length), third, 'the prefix of the cache holds');
      assert.doesNotMatch(fourth?.slice(third?.length).join() ?? '', /recall/);
    });

for (const [name, make] of CLIENTS)
  for (const isStream of [false, true])
    test(`${name}: an error of a further request reaches the client${isStream ? ', stream' : ''}`, async (t) => {
      const steps: ProviderStep[] = [
        readsArtifact,
        { kind: 'error', status: 429, message: 'slow down' },
      ];
      const { provider, client } = await setting(t, make, isStream, steps);
      fill(client);
      await assert.rejects(client.ask(), /slow down/);
      provider.expectDone();
    });

test('tools are off unless a client asks for them, and never beside tools of the same name', async (t) => {
  const steps = [answers('1'), answers('2'), answers('3')];
  const { provider, client } = await setting(t, chatClient, false, steps, { tools: 'off' });
  client.say('One.');
  await client.ask();
  client.say('Two.');
  await client.ask({ 'x-bobbin-tools': 'on' });
  client.offer('recall');
  client.say('Three.');
  await client.ask({ 'x-bobbin-tools': 'on' });
  provider.expectDone();
  const names = provider.requests.map(({ body, headers }) => [
    (body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name).join(),
    headers['x-bobbin-tools'],
  ]);
  assert.deepEqual(names, [
    ['read', undefined],
    ['read,read_artifact,recall', undefined],
    ['read,recall', undefined],
  ]);
});

test('a request without calls of the tools comes back byte for byte, and the tools leave all other bytes alone', async (t) => {
  const reply =
    '{ "id":"x", "choices":[ {"index":0,"message":{"role":"assistant","content":"ok"}, "finish_reason":"stop"} ] }';
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(reply),
  );
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url }, tools: 'on' });
  const body =
    '{ "model" : "m", "messages":[ {"role":"user","content":"\\u0068i"} ], "seed": 12345678901234567890 }';
  const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body });
  assert.equal(await response.text(), reply);
  const sent = upstream.seen[0]?.text ?? '';
  assert.ok(
    sent.startsWith(
      `${body.slice(0, -1)},"tools":[{"type":"function","function":{"name":"read_artifact"`,
    ),
  );
  assert.ok(sent.endsWith(']}'));
});

test('a client that goes away during a hidden round ends it at the upstream', async (t) => {
  let isClosed = false;
  const call = { type: 'tool_use', id: 't1', name: 'recall', input: { query: 'x' } };
  const first = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [call],
    stop_reason: 'tool_use',
    usage: {},
  };
  const upstream = await bareUpstream(t, (_, outgoing) => {
    if (upstream.seen.length === 1)
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(first));
    else outgoing.on('close', () => (isClosed = true));
  });
  const gateway = await runningGateway(t, { upstreams: { anthropic: upstream.url }, tools: 'on' });
  const leaving = new AbortController();
  const asked = fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }),
    signal: leaving.signal,
  }).catch(() => undefined);
  await until(() => upstream.seen.length === 2, 'the second request arrives');
  leaving.abort();
  await asked;
  await until(() => isClosed, 'the upstream sees the end');
});
