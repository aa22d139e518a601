import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import OpenAI from 'openai';
import type { ThreadId } from '@bobbin/core';
import { gatewaySettings, runGateway, type GatewayOptions } from '@bobbin/gateway';
import { providerServer, scriptedSummarizer } from '@bobbin/testing';
import { runningGateway, until, type RunningGateway } from './running-gateway.ts';

const LONG = 'The pilot boat left the mole at dawn and came back with the tide. '.repeat(30);

test('under soft pressure a model summarises between requests, and no request waits for it', async (t) => {
  const provider = await providerServer('openai-chat', {
    forever: {
      kind: 'answer',
      text: 'Yes.',
      usage: ({ body }) => ({ inputTokens: Math.ceil(JSON.stringify(body).length / 4) }),
    },
  });
  t.after(() => provider.close());
  const summarizer = scriptedSummarizer({ kind: 'good' }, { kind: 'good' }, { kind: 'good' });
  const gateway = await runningGateway(t, {
    upstreams: { openai: provider.origin },
    policies: [{ model: '', windowTokens: 12_000, softShare: 0.7, requestsToCome: 100 }],
    summarizer,
  });
  const client = new OpenAI({ apiKey: 'k', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  const actions: string[] = [];
  const thread = 'boat' as ThreadId;
  for (let turn = 0; turn < 40 && !actions.includes('continued'); turn++) {
    messages.push({ role: 'user', content: `${turn} ${LONG}` });
    const { data, response } = await client.chat.completions
      .create({ model: 'gpt-5', messages }, { headers: { 'x-bobbin-thread': thread } })
      .withResponse();
    messages.push(data.choices[0]?.message as OpenAI.ChatCompletionMessageParam);
    actions.push(response.headers.get('x-bobbin-action') ?? '');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual([...new Set(actions)], ['unchanged', 'continued']);
  assert.ok(summarizer.requests.length > 0);
  const [owner = ''] = await gateway.store.tenants();
  await until(
    async () => (await gateway.store.plan({ tenant: owner, thread }, 1)) !== undefined,
    'a plan is committed',
  );
});

test('a summary between requests leaves the request its instructions, its tools and its answer', async (t) => {
  const provider = await providerServer('openai-chat', {
    forever: { kind: 'answer', text: 'Yes.' },
  });
  t.after(() => provider.close());
  const gateway = await runningGateway(t, {
    upstreams: { openai: provider.origin },
    policies: [{ model: '', windowTokens: 24_000, softShare: 0.7, requestsToCome: 100 }],
    summarizer: scriptedSummarizer({ kind: 'good' }),
  });
  const client = new OpenAI({ apiKey: 'k', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  // Together they leave less than half of the window to the messages.
  const beside = { max_tokens: 8_000, tools: [toolOf(LONG.repeat(12))] };
  const messages: OpenAI.ChatCompletionMessageParam[] = Array.from({ length: 17 }, (_, i) => ({
    role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `${i} ${LONG}`,
  }));
  const send = async (): Promise<string | null> => {
    const { response } = await client.chat.completions
      .create({ model: 'gpt-5', messages, ...beside }, { headers: { 'x-bobbin-thread': 'boat' } })
      .withResponse();
    return response.headers.get('x-bobbin-action');
  };
  assert.equal(await send(), 'unchanged');
  const [tenant = ''] = await gateway.store.tenants();
  const key = { tenant, thread: 'boat' as ThreadId };
  await until(async () => (await gateway.store.plan(key, 1)) !== undefined, 'a plan is committed');
  messages.push({ role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Go on.' });
  assert.equal(await send(), 'continued', 'what was prepared fits beside them');
});

function toolOf(description: string): OpenAI.ChatCompletionTool {
  return { type: 'function', function: { name: 'chart', description } };
}

const TTL_MS = 1_500;

/** Options of a gateway whose cache expires soon, and with so few requests to come that no rewrite pays before. */
async function expiring(t: TestContext): Promise<Partial<GatewayOptions>> {
  const provider = await providerServer('openai-chat', {
    forever: {
      kind: 'answer',
      text: 'Yes.',
      usage: ({ body }) => ({ inputTokens: Math.ceil(JSON.stringify(body).length / 4) }),
    },
  });
  t.after(() => provider.close());
  const prices = { writePrice: 1.25, readPrice: 0.1, minimumTokens: 1_024, markers: 0 };
  return {
    upstreams: { openai: provider.origin },
    models: { timed: { windowTokens: 12_000, cache: { ...prices, ttlMs: TTL_MS } } },
    policies: [{ model: '', softShare: 0.6, requestsToCome: 1 }],
  };
}

/** The first messages of an idle conversation. */
function idleMessages(length: number): readonly OpenAI.ChatCompletionMessageParam[] {
  return Array.from({ length }, (_, i) => ({
    role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `${i} ${LONG}`,
  }));
}

async function sendIdle(gateway: RunningGateway, length: number): Promise<string | null> {
  const client = new OpenAI({ apiKey: 'k', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const { response } = await client.chat.completions
    .create(
      { model: 'timed', messages: [...idleMessages(length)] },
      { headers: { 'x-bobbin-thread': 'idle' } },
    )
    .withResponse();
  return response.headers.get('x-bobbin-action');
}

test('an idle thread is compacted shortly before its cache expires, and not before', async (t) => {
  const summarizer = scriptedSummarizer({ kind: 'good' });
  const gateway = await runningGateway(t, { ...(await expiring(t)), summarizer });
  const begun = Date.now();
  assert.equal(await sendIdle(gateway, 15), 'unchanged');
  const [tenant = ''] = await gateway.store.tenants();
  const isPlanned = async (): Promise<boolean> =>
    (await gateway.store.plan({ tenant, thread: 'idle' as ThreadId }, 1)) !== undefined;
  await until(isPlanned, 'the idle thread is compacted');
  assert.ok(Date.now() - begun >= TTL_MS * 0.9, 'not while a request could still use the cache');
});

test('a thread whose next request went to another process is not idle', async (t) => {
  const options = await expiring(t);
  const summarizer = scriptedSummarizer({ kind: 'good' });
  const one = await runningGateway(t, { ...options, summarizer });
  const { store, ledger } = one;
  assert.equal(await sendIdle(one, 13), 'unchanged');
  const other = await runningGateway(t, { ...options, store, ledger });
  await new Promise((resolve) => setTimeout(resolve, TTL_MS / 4));
  assert.equal(await sendIdle(other, 15), 'unchanged');
  await new Promise((resolve) => setTimeout(resolve, TTL_MS));
  assert.deepEqual(summarizer.requests, []);
});

test('serve --summarizer: the model is asked with a key of the gateway, never with that of a client', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-summarizer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const chat = await providerServer('openai-chat', { forever: { kind: 'answer', text: 'Yes.' } });
  t.after(() => chat.close());
  const model = await providerServer('anthropic', {
    forever: { kind: 'answer', text: 'The pilot boat goes out at dawn.' },
  });
  t.after(() => model.close());
  const flags = {
    port: '0',
    openai: chat.origin,
    anthropic: `${model.origin}/v1`,
    store: folder,
    window: '12000',
    'soft-share': '0.6',
    summarizer: 'claude-haiku-4-5',
    'log-level': 'silent',
  };
  const settings = gatewaySettings({ flags, env: {} });
  await assert.rejects(
    runGateway(settings, {}),
    /^SettingError: summarizer claude-haiku-4-5: set BOBBIN_SUMMARIZER_KEY or ANTHROPIC_API_KEY/,
  );
  const gateway = await runGateway(settings, { ANTHROPIC_API_KEY: 'own' });
  t.after(() => gateway.close());
  const client = new OpenAI({ apiKey: 'theirs', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  for (let turn = 0; turn < 60 && model.requests.length === 0; turn++) {
    messages.push({ role: 'user', content: `${turn} ${LONG}` });
    await client.chat.completions.create({ model: 'gpt-5', messages });
    messages.push({ role: 'assistant', content: 'Yes.' });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  model.expectDone();
  const keys = new Set(model.requests.map(({ headers }) => headers['x-api-key']));
  assert.deepEqual([...keys], ['own']);
});
