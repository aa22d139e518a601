import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import OpenAI from 'openai';
import { memoryStore, type Store } from '@bobbin/core';
import { sqliteLedger } from '@bobbin/stores';
import type { ClientRequest, Fit } from '../src/fitting/fit.ts';
import type { Fitter } from '../src/fitting/fitter.ts';
import { fitInTime } from '../src/fitting/timely-fit.ts';
import { providerServer, type ProviderServer } from '@bobbin/testing';
import { bareUpstream, runningGateway, until, type RunningGateway } from './running-gateway.ts';

type Messages = OpenAI.ChatCompletionMessageParam[];

const LONG = 'A crane of the harbour lifts a box of nine tons. '.repeat(60);
const OWN_WORK_MS = 1_000;

function history(turns: number): Messages {
  const messages: Messages = [];
  for (let turn = 0; turn < turns; turn++)
    messages.push(
      { role: 'user', content: `Question ${turn}. ${LONG}` },
      { role: 'assistant', content: `Answer ${turn}. ${LONG}` },
    );
  return [...messages, { role: 'user', content: 'And the last one?' }];
}

interface Pausable {
  readonly store: Store;
  readonly pause: () => void;
  readonly go: () => void;
}

/** A store that can be made to take long over one of its methods. */
function pausable(method: 'append' | 'plan'): Pausable {
  const inner = memoryStore();
  const store = Object.create(inner) as Store;
  let { promise, resolve } = Promise.withResolvers<void>();
  resolve();
  const slow = async (...args: readonly unknown[]): Promise<unknown> => {
    await promise;
    return (inner[method] as (...given: readonly unknown[]) => unknown).apply(inner, [...args]);
  };
  Object.assign(store, { [method]: slow });
  return {
    store,
    pause: () => ({ promise, resolve } = Promise.withResolvers<void>()),
    go: () => resolve(),
  };
}

async function started(
  t: TestContext,
  provider: ProviderServer,
  store: Store,
): Promise<[RunningGateway, OpenAI]> {
  t.after(() => provider.close());
  const gateway = await runningGateway(t, {
    upstreams: { openai: provider.origin },
    store,
    limits: { ownWorkMs: OWN_WORK_MS },
    policies: [{ model: 'gpt-5', windowTokens: 16_000 }],
  });
  return [gateway, new OpenAI({ apiKey: 'sk', baseURL: `${gateway.url}/v1`, maxRetries: 0 })];
}

const silent = (): void => undefined;

const header = (response: Response, name: string): string =>
  response.headers.get(`x-bobbin-${name}`) ?? '';

/** What a gateway's metrics say of tokens, by kind. */
async function tokensIn({ url }: RunningGateway): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.matchAll(/^bobbin_tokens_total\{.*kind="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, kind = '', tokens]) => [kind, Number(tokens)]));
}

test('a late request has a row in the ledger, and the same figures in the metrics and headers', async (t) => {
  const provider = await providerServer('openai-chat', { kind: 'answer', text: 'Nine tons.' });
  const { store, pause, go } = pausable('append');
  pause();
  const [gateway, client] = await started(t, provider, store);
  const { ledger, store: kept } = gateway;
  const { response } = await client.chat.completions
    .create({ model: 'gpt-5', messages: history(2) })
    .withResponse();
  assert.equal(header(response, 'action'), 'late');
  go();
  await until(async () => (await kept.tenants()).length === 1, 'the messages are stored');
  const [tenant = ''] = await kept.tenants();
  const [thread] = await kept.threads(tenant, 1);
  assert.equal(thread?.length, 5);
  const rows = async (): ReturnType<typeof ledger.entries> =>
    thread === undefined ? [] : ledger.entries(tenant, thread.thread);
  await until(async () => (await rows())[0]?.status !== undefined, 'the answer is noted');
  const [row, ...others] = await rows();
  assert.deepEqual(others, []);
  const { action, status, head, usage, tokensBefore = 0 } = row ?? {};
  assert.deepEqual([action, status, head], ['late', 200, thread?.head]);
  assert.match(row?.answer ?? '', /Nine tons\./);
  assert.ok(tokensBefore > 1_000 && (usage?.inputTokens ?? 0) > 0);
  // The whole of it went out: nothing was saved, and nothing was paid in addition.
  assert.equal(row?.tokensAfter, tokensBefore);
  assert.ok((row?.paidTokens ?? 0) > 0);
  assert.equal(row?.fullTokens, row?.paidTokens);
  assert.deepEqual(
    ['thread', 'tokens-before', 'tokens-after'].map((name) => header(response, name)),
    [thread?.thread, String(tokensBefore), String(tokensBefore)],
  );
  assert.deepEqual(await tokensIn(gateway), {
    before: tokensBefore,
    after: tokensBefore,
    fresh: usage?.inputTokens,
    output: usage?.outputTokens,
    paid: row?.paidTokens,
    full: row?.fullTokens,
  });
});

test('a late request that is recognised before its answer begins has all headers', async (t) => {
  const mayAnswer = Promise.withResolvers<void>();
  const upstream = await bareUpstream(t, async (seen, outgoing) => {
    if (seen.text.includes('And the last one?')) await mayAnswer.promise;
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const { store, pause, go } = pausable('plan');
  const { url, ledger } = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    store,
    limits: { ownWorkMs: 50 },
  });
  const post = (messages: Messages): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-bobbin-thread': 'harbour' },
      body: JSON.stringify({ model: 'gpt-5', messages }),
    });
  const messages = history(1);
  await (await post(messages.slice(0, 1))).text();
  pause();
  const sending = post(messages);
  await until(() => upstream.seen.length === 2, 'the request goes out as it came');
  go();
  await until(async () => (await ledger.sum()).requests === 2, 'it is recognised');
  mayAnswer.resolve();
  const response = await sending;
  const [before, after] = [header(response, 'tokens-before'), header(response, 'tokens-after')];
  assert.deepEqual([header(response, 'action'), header(response, 'thread')], ['late', 'harbour']);
  assert.ok(Number(before) > 1_000);
  assert.equal(after, before);
});

test('a late request that the ledger refuses is counted', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const { store, pause, go } = pausable('plan');
  const ledger = sqliteLedger(':memory:');
  t.after(() => ledger.close());
  const begin = ledger.begin.bind(ledger);
  ledger.begin = (request) =>
    request.action === 'late' ? Promise.reject(new Error('the disk is full')) : begin(request);
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    store,
    ledger,
    limits: { ownWorkMs: OWN_WORK_MS },
  });
  const counted = async (): Promise<readonly string[]> => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const lines = text.matchAll(/^bobbin_requests_total\{.*action="([\w-]+)".*\} (\d+)$/gm);
    return [...lines].map(([, action, count]) => `${action} ${count}`);
  };
  const post = async (messages: Messages): Promise<string> => {
    const body = JSON.stringify({ model: 'gpt-5', messages });
    const url = `${gateway.url}/v1/chat/completions`;
    return header(await fetch(url, { method: 'POST', body }), 'action');
  };
  const messages = history(1);
  assert.equal(await post(messages.slice(0, 1)), 'unchanged');
  pause();
  assert.equal(await post(messages), 'late');
  // Its answer has come to its end by now, and nobody knows its thread yet.
  assert.deepEqual(await counted(), ['unchanged 1']);
  go();
  await until(async () => (await counted()).includes('late 1'), 'it is counted');
  assert.equal((await ledger.sum()).requests, 1);
});

test('a result that is there when the time is over is used, however long the process was busy', async () => {
  const bytes = Buffer.from('{}');
  const done: Fit = { action: 'compacted', bytes, reason: 'trimming pays' };
  /** Its work takes the process for itself, in two steps. */
  const busy = {
    async fit() {
      for (let step = 0; step < 2; step++) {
        const end = performance.now() + 30;
        while (performance.now() < end);
        await Promise.resolve();
      }
      return done;
    },
  } as unknown as Fitter;
  assert.equal(await fitInTime(busy, { bytes } as ClientRequest, 10), done);
});

/** What a conversation is counted at after a late request of it was refused with an error, and what was sent instead. */
async function countedAfter(
  t: TestContext,
  status: number,
  message: string,
): Promise<{ readonly tokens: number; readonly sentTokens: number }> {
  const provider = await providerServer(
    'openai-chat',
    { kind: 'answer', text: 'Eight tons.' },
    { kind: 'error', status, message },
    { forever: { kind: 'answer', text: 'Nine tons.' } },
  );
  const { store, pause, go } = pausable('plan');
  const [, client] = await started(t, provider, store);
  const messages = history(30);
  await client.chat.completions.create({ model: 'gpt-5', messages: messages.slice(0, 1) });
  // A small prompt is being made when the whole request goes out, and the refusal is about the latter.
  pause();
  const sending = client.chat.completions.create({ model: 'gpt-5', messages }).withResponse();
  await until(() => provider.requests.length === 2, 'the request goes out as it came');
  go();
  const { response } = await sending;
  assert.equal(header(response, 'action'), 'retried');
  const next: Messages = [
    ...messages,
    { role: 'assistant', content: 'Nine tons.' },
    { role: 'user', content: 'Thank you.' },
  ];
  const after = await client.chat.completions
    .create({ model: 'gpt-5', messages: next })
    .withResponse();
  return {
    tokens: Number(header(after.response, 'tokens-before')),
    sentTokens: Number(header(response, 'tokens-after')),
  };
}

test('the refusal of a late request says nothing about the prompt that is sent in its place', async (t) => {
  const sized =
    "This model's maximum context length is 18000 tokens. However, your messages resulted in 20000 tokens.";
  const counted = await countedAfter(t, 400, sized);
  assert.ok(counted.tokens > 20_000);
  assert.deepEqual(counted, await countedAfter(t, 413, 'Request exceeds the maximum size'));
});

test('E3 a late request that is refused is sent again as it would have been sent in time', async (t) => {
  const provider = await providerServer('openai-chat', {
    forever: { kind: 'answer', text: 'Eight tons.' },
  });
  const [, client] = await started(t, provider, memoryStore());
  const messages = history(30);
  await client.chat.completions.create({ model: 'gpt-5', messages: messages.slice(0, 1) });
  const { response } = await client.chat.completions
    .create({ model: 'gpt-5', messages })
    .withResponse();
  assert.equal(header(response, 'action'), 'compacted');
  const { sentTokens } = await countedAfter(t, 413, 'Request exceeds the maximum size');
  assert.equal(sentTokens, Number(header(response, 'tokens-after')));
});

test('a compaction that came too late for its request is counted with the next one', async (t) => {
  const provider = await providerServer('openai-chat', {
    forever: { kind: 'answer', text: 'Eight tons.' },
  });
  const { store, pause, go } = pausable('plan');
  const [gateway, client] = await started(t, provider, store);
  const messages = history(30);
  const ask = async (own: Messages): Promise<string> => {
    const { response } = await client.chat.completions
      .create({ model: 'gpt-5', messages: own })
      .withResponse();
    return `${header(response, 'action')}: ${header(response, 'reason')}`;
  };
  await ask(messages.slice(0, 1));
  pause();
  assert.match(await ask(messages), /^late:/);
  go();
  const next: Messages = [
    ...messages,
    { role: 'assistant', content: 'Eight tons.' },
    { role: 'user', content: 'Thank you.' },
  ];
  assert.equal(await ask(next), 'compacted: compacted after the last request had gone out');
  const answered: Messages = [...next, { role: 'assistant', content: 'Eight tons.' }];
  const last = await ask([...answered, { role: 'user', content: 'Go on.' }]);
  assert.equal(last, 'continued: an earlier compaction');
  await gateway.recorded();
  assert.equal((await gateway.ledger.sum(undefined, undefined, 0)).compactions, 1);
});

test('if nothing smaller can be sent after a refusal, the client gets the refusal and an event says why', async (t) => {
  const refused = Promise.withResolvers<void>();
  const upstream = await bareUpstream(t, async (seen, outgoing) => {
    if (seen.text.includes('And again?')) return outgoing.end('{}');
    await refused.promise;
    const message =
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 143021 tokens.";
    const body = JSON.stringify({ error: { message, code: 'context_length_exceeded' } });
    return outgoing.writeHead(400, { 'content-type': 'application/json' }).end(body);
  });
  const broken = Object.create(memoryStore()) as Store;
  broken.path = () => Promise.reject(new Error('the disk is gone'));
  const warnings: string[] = [];
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    store: broken,
    logger: { info: silent, error: silent, warn: (_, message) => void warnings.push(message) },
  });
  const post = (messages: Messages): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'gpt-5', messages }),
    });
  const messages = history(1);
  const first = post(messages);
  await until(() => upstream.seen.length === 1, 'the request goes out');
  // The conversation goes on: a prompt for the first request would have to be that of a fork.
  await (await post([...messages, { role: 'user', content: 'And again?' }])).text();
  refused.resolve();
  const response = await first;
  assert.equal(response.status, 400);
  assert.match(await response.text(), /143021 tokens/);
  assert.deepEqual(warnings, [
    'compaction: the provider refused the prompt as too long, and no smaller one could be made: the disk is gone',
  ]);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /bobbin_events_total\{kind="warning"\} 1/);
});
