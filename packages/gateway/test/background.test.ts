import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import OpenAI from 'openai';
import type { ThreadId } from '@bobbin/core';
import { gatewaySettings, runGateway } from '@bobbin/gateway';
import { providerServer, scriptedSummarizer } from '@bobbin/testing';
import { runningGateway, until } from './running-gateway.ts';

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

test('an idle thread is compacted shortly before its cache expires, and not before', async (t) => {
  const provider = await providerServer('openai-chat', {
    forever: {
      kind: 'answer',
      text: 'Yes.',
      usage: ({ body }) => ({ inputTokens: Math.ceil(JSON.stringify(body).length / 4) }),
    },
  });
  t.after(() => provider.close());
  const ttlMs = 1_500;
  const prices = { writePrice: 1.25, readPrice: 0.1, minimumTokens: 1_024, markers: 0 };
  const gateway = await runningGateway(t, {
    upstreams: { openai: provider.origin },
    models: { timed: { windowTokens: 12_000, cache: { ...prices, ttlMs } } },
    // So few requests to come that no rewrite pays while the cache is warm.
    policies: [{ model: '', softShare: 0.6, requestsToCome: 1 }],
    summarizer: scriptedSummarizer({ kind: 'good' }),
  });
  const thread = 'idle' as ThreadId;
  const messages = Array.from({ length: 15 }, (_, i) => ({
    role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `${i} ${LONG}`,
  }));
  const client = new OpenAI({ apiKey: 'k', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const begun = Date.now();
  const { response } = await client.chat.completions
    .create({ model: 'timed', messages }, { headers: { 'x-bobbin-thread': thread } })
    .withResponse();
  assert.equal(response.headers.get('x-bobbin-action'), 'unchanged');
  const [tenant = ''] = await gateway.store.tenants();
  const isPlanned = async (): Promise<boolean> =>
    (await gateway.store.plan({ tenant, thread }, 1)) !== undefined;
  await until(isPlanned, 'the idle thread is compacted');
  assert.ok(Date.now() - begun >= ttlMs * 0.9, 'not while a request could still use the cache');
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
