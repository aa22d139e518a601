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
import { runningGateway, type RunningGateway } from './running-gateway.ts';
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
  const provider = await providerServer(protocol as 'anthropic', ...steps);
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
