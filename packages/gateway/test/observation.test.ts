import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { pino } from 'pino';
import type { ThreadId } from '@bobbin/core';
import { sqliteLedger, sqliteStore } from '@bobbin/stores';
import { providerServer } from '@bobbin/testing';
import { runningGateway, until } from './running-gateway.ts';

const SECRET = 'sk-ant-api03-never-to-be-kept';

test('a request is counted, logged, traced and entered in the ledger; its credential is nowhere', async (t) => {
  const provider = await providerServer(
    'anthropic',
    {
      kind: 'answer',
      text: 'one',
      usage: { inputTokens: 30, outputTokens: 5, cacheReadTokens: 70 },
    },
    { kind: 'call', tool: 'read', args: { path: 'a.ts' } },
  );
  t.after(() => provider.close());
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-observed-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const exporter = new InMemorySpanExporter();
  const spans = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  trace.setGlobalTracerProvider(spans);
  t.after(() => trace.disable());
  let log = '';
  const gateway = await runningGateway(t, {
    upstreams: { anthropic: provider.origin },
    store: sqliteStore(join(folder, 'threads.db')),
    ledger: sqliteLedger(join(folder, 'ledger.db')),
    logger: pino({ level: 'debug' }, { write: (line: string) => void (log += line) }),
  });
  const client = new Anthropic({ apiKey: SECRET, baseURL: gateway.url, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'hello' }];
  const request = { model: 'claude-haiku-4-5', max_tokens: 100, messages };
  const first = await client.messages.create(request);
  messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: 'read' });
  const second = await client.messages.stream(request).finalMessage();
  assert.equal(second.content[0]?.type, 'tool_use');
  // The client makes spans too.
  const own = () =>
    exporter.getFinishedSpans().filter(({ attributes }) => 'bobbin.action' in attributes);
  await until(() => own().length === 2, 'two spans');

  const [tenant = ''] = await gateway.store.tenants();
  const [entry] = await gateway.store.threads(tenant, 1);
  const thread = entry?.thread as ThreadId;
  const whole = async (): Promise<boolean> =>
    (await gateway.ledger.entries(tenant, thread)).every(({ status }) => status === 200);
  await until(whole, 'both answers are in the ledger');
  const entries = await gateway.ledger.entries(tenant, thread);
  assert.deepEqual(
    entries.map(({ usage, paidTokens, action, answer }) => ({
      usage,
      paidTokens,
      action,
      said: (JSON.parse(answer ?? '{}') as Anthropic.Message).content,
    })),
    [
      {
        usage: { inputTokens: 30, outputTokens: 5, cacheReadTokens: 70, cacheWriteTokens: 0 },
        paidTokens: 37,
        action: 'unchanged',
        said: first.content,
      },
      {
        usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 },
        paidTokens: 100,
        action: 'unchanged',
        said: second.content,
      },
    ],
  );

  const [span] = own();
  assert.equal(span?.name, 'chat claude-haiku-4-5');
  assert.deepEqual(
    Object.fromEntries(
      Object.entries(span?.attributes ?? {}).filter(([name]) =>
        /usage|conversation|provider/.test(name),
      ),
    ),
    {
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.conversation.id': thread,
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 70,
      'gen_ai.usage.cache_creation.input_tokens': 0,
    },
  );

  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(
    metrics,
    /bobbin_requests_total\{protocol="anthropic",action="unchanged",end="relayed",status="200"\} 2/,
  );
  assert.match(metrics, /bobbin_tokens_total\{protocol="anthropic",kind="cache_read"\} 70/);
  assert.match(metrics, /bobbin_open_requests 0/);

  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string });
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['request', 'request'],
  );
  for (const file of readdirSync(folder))
    assert.ok(!readFileSync(join(folder, file)).includes(SECRET), `${file} holds the credential`);
  assert.ok(!log.includes(SECRET) && !metrics.includes(SECRET));
  await gateway.close();
  await gateway.ledger.close();
  await gateway.store.close();
});

test('a request that its client gives up is in the ledger with what it heard', async (t) => {
  const provider = await providerServer('anthropic', { kind: 'hang' });
  t.after(() => provider.close());
  const gateway = await runningGateway(t, { upstreams: { anthropic: provider.origin } });
  const controller = new AbortController();
  const client = new Anthropic({ apiKey: 'k', baseURL: gateway.url, maxRetries: 0 });
  const asked = client.messages.create(
    { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    { signal: controller.signal },
  );
  await until(() => provider.requests.length === 1, 'the provider is asked');
  controller.abort();
  await assert.rejects(asked);
  const status = async (): Promise<number | undefined> => {
    const [tenant = ''] = await gateway.store.tenants();
    const [entry] = await gateway.store.threads(tenant, 1);
    if (entry === undefined) return undefined;
    const [row] = await gateway.ledger.entries(tenant, entry.thread);
    return row?.status;
  };
  await until(async () => (await status()) === 499, 'the ledger notes the abort');
});
