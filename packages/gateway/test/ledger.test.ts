import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelFacts } from '@bobbin/core/internal';
import type { ThreadId } from '@bobbin/core';
import { sqliteLedger, type LedgerAnswer, type LedgerSum } from '@bobbin/stores';
import { providerServer, type ProviderStep } from '@bobbin/testing';
import { summarizingModel } from '../src/config/summarizing-model.ts';
import { bareUpstream, runningGateway, until, type RunningGateway } from './running-gateway.ts';
import { chatClient } from './tool-clients.ts';

const MODEL = 'gpt-5';
const { cache: PRICES } = modelFacts(MODEL, {});

/** Sends a request of Chat Completions and reads the whole answer. */
async function post(gateway: RunningGateway, body: object): Promise<Response> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer k' },
    body: JSON.stringify({ model: MODEL, ...body }),
  });
  await response.arrayBuffer();
  return response;
}

/** The sum of all requests, once they are in the ledger. */
async function sumOf(gateway: RunningGateway): Promise<LedgerSum> {
  await gateway.recorded();
  return gateway.ledger.sum();
}

/** An answer of Chat Completions that reports what it cost. */
function reported(usage: object): string {
  return JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' } }],
    usage,
  });
}

const USAGE = {
  prompt_tokens: 1_000,
  completion_tokens: 20,
  prompt_tokens_details: { cached_tokens: 400 },
};
const PAID = Math.round(600 + 400 * (PRICES?.readPrice ?? Number.NaN));

test('a request that no conversation is known for is in the ledger with what it cost', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(reported(USAGE)),
  );
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  // Not a list of messages, and a list that cannot be understood.
  await post(gateway, { messages: 'hello' });
  await post(gateway, { messages: [{ role: 'user', content: 7 }] });
  assert.deepEqual(await gateway.store.tenants(), []);
  assert.deepEqual(await sumOf(gateway), {
    requests: 2,
    toolRounds: 0,
    compactions: 0,
    usage: { inputTokens: 1_200, outputTokens: 40, cacheReadTokens: 800, cacheWriteTokens: 0 },
    paidTokens: 2 * PAID,
    fullTokens: 2 * PAID,
    summaryTokens: 0,
    savedTokens: 0,
  });
});

test('an answer that the provider refused costs nothing, whatever it reports', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing.writeHead(429, { 'content-type': 'application/json' }).end(reported(USAGE)),
  );
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  await post(gateway, { messages: [{ role: 'user', content: 'hello' }] });
  const { requests, paidTokens, usage } = await sumOf(gateway);
  assert.deepEqual([requests, paidTokens, usage.inputTokens], [1, 0, 0]);
});

test('rounds of the tools cost what they cost, save nothing, and are no steps of the agent', async (t) => {
  const usage = { inputTokens: 600, outputTokens: 20, cacheReadTokens: 400, cacheWriteTokens: 0 };
  const recalls: ProviderStep = {
    kind: 'calls',
    text: '',
    calls: [{ tool: 'recall', args: { query: 'pump' } }],
    usage,
  };
  const provider = await providerServer('openai-chat', recalls, recalls, {
    kind: 'answer',
    text: 'Here.',
    usage,
  });
  t.after(() => provider.close());
  const gateway = await runningGateway(t, { upstreams: { openai: provider.origin }, tools: 'on' });
  const client = chatClient(gateway.url, false);
  client.say('Where is the pump?');
  await client.ask();
  provider.expectDone();
  const sum = await sumOf(gateway);
  const { requests, toolRounds, paidTokens, fullTokens, savedTokens } = sum;
  assert.deepEqual([requests, toolRounds], [1, 2]);
  assert.ok(fullTokens > 0, 'the client would have paid for the first');
  assert.ok(fullTokens < paidTokens / 4, 'and not for the definitions of the tools');
  assert.equal(savedTokens, fullTokens - paidTokens);
});

test('what a model was paid for a summary, answer included, is taken off the saving', async (t) => {
  const provider = await providerServer('openai-chat', {
    forever: { kind: 'answer', text: 'Yes.' },
  });
  t.after(() => provider.close());
  const model = await providerServer('openai-chat', {
    forever: {
      kind: 'answer',
      text: 'The pilot boat goes out at dawn.',
      usage: { inputTokens: 1_000, outputTokens: 100 },
    },
  });
  t.after(() => model.close());
  const upstreams = { openai: model.origin };
  const gateway = await runningGateway(t, {
    upstreams: { openai: provider.origin },
    policies: [{ model: '', windowTokens: 12_000, softShare: 0.6, requestsToCome: 100 }],
    summarizer: summarizingModel(MODEL, { upstreams }, { OPENAI_API_KEY: 'own' }),
  });
  const line = 'The pilot boat left the mole at dawn and came back with the tide. ';
  const messages = Array.from({ length: 15 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${i} ${line.repeat(30)}`,
  }));
  await post(gateway, { messages });
  let sum = await sumOf(gateway);
  for (let tries = 0; tries < 400 && sum.summaryTokens === 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    sum = await sumOf(gateway);
  }
  const cost = model.requests.length * (1_000 + 100 * 5);
  assert.equal(sum.summaryTokens, cost);
  assert.equal(sum.savedTokens, sum.fullTokens - sum.paidTokens - cost);
});

test('the tools and hidden rounds of the gateway are not part of what the client sent', async (t) => {
  const answer: ProviderStep = { kind: 'answer', text: 'Here.' };
  const recalls: ProviderStep = {
    kind: 'calls',
    text: '',
    calls: [{ tool: 'recall', args: { query: 'pump' } }],
  };
  const before: string[][] = [];
  for (const tools of ['off', 'on'] as const) {
    const steps = tools === 'on' ? [recalls, answer, answer] : [answer, answer];
    const provider = await providerServer('openai-chat', ...steps);
    t.after(() => provider.close());
    const gateway = await runningGateway(t, { upstreams: { openai: provider.origin }, tools });
    const messages: object[] = [{ role: 'user', content: 'Where is the pump?' }];
    await post(gateway, { messages });
    messages.push({ role: 'assistant', content: 'Here.' }, { role: 'user', content: 'Thanks.' });
    await post(gateway, { messages });
    await gateway.recorded();
    const [tenant = ''] = await gateway.store.tenants();
    const [{ thread } = { thread: '' as ThreadId }] = await gateway.ledger.threads(tenant);
    const rows = await gateway.ledger.entries(tenant, thread);
    const sent = rows.filter(({ isToolRound }) => isToolRound !== true);
    before.push(sent.map(({ tokensBefore }) => String(tokensBefore)));
  }
  assert.deepEqual(before[1], before[0]);
});

test('an answer that belongs to no thread is not kept: nothing would erase it', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(reported(USAGE)),
  );
  const finished: LedgerAnswer[] = [];
  const ledger = sqliteLedger(':memory:');
  const finish = ledger.finish.bind(ledger);
  ledger.finish = (tenant, id, answer) => {
    finished.push(answer);
    return finish(tenant, id, answer);
  };
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url }, ledger });
  await post(gateway, { messages: 'hello' });
  await post(gateway, { messages: [{ role: 'user', content: 'hello' }] });
  await gateway.recorded();
  const kept = finished.filter(({ answer }) => answer !== undefined);
  assert.deepEqual([finished.length, kept.length], [2, 1]);
});

test('an answer that its client cut off costs what the provider had reported', async (t) => {
  const start = { type: 'message_start', message: { usage: { input_tokens: 5_000 } } };
  const upstream = await bareUpstream(t, (_, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.write(`data: ${JSON.stringify(start)}\n\n`);
  });
  const gateway = await runningGateway(t, { upstreams: { anthropic: upstream.url } });
  const controller = new AbortController();
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    signal: controller.signal,
    body: JSON.stringify({
      model: 'claude-haiku-4-5',
      max_tokens: 9,
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    }),
  });
  await response.body?.getReader().read();
  controller.abort();
  await until(async () => (await sumOf(gateway)).paidTokens === 5_000, 'the ledger has the cost');
});

test('a gateway that ends has written what its requests came to', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(reported(USAGE)),
  );
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  await post(gateway, { messages: [{ role: 'user', content: 'hello' }] });
  await gateway.close();
  assert.equal((await gateway.ledger.sum()).usage.outputTokens, 20);
});
