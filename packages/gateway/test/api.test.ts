import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { test, type TestContext } from 'node:test';
import { providerServer, type ProviderServer } from '@bobbin/testing';
import { bareUpstream, runningGateway, until, type RunningGateway } from './running-gateway.ts';

const LONG = 'The tide table of the harbour, line by line. '.repeat(60);

interface Thread {
  readonly gateway: RunningGateway;
  readonly provider: ProviderServer;
  readonly base: string;
  readonly get: (path: string) => Promise<Record<string, unknown>>;
  readonly post: (path: string, body?: object) => Promise<Record<string, unknown>>;
  readonly say: () => Promise<string | null>;
}

async function read(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

/** A gateway with one thread that was compacted. */
function compactedThread(t: TestContext): Promise<Thread> {
  return threadOf(t, 6_000, 14);
}

/** A gateway with one thread of some turns, in a window. */
async function threadOf(t: TestContext, windowTokens: number, turns: number): Promise<Thread> {
  const provider = await providerServer('openai-chat', {
    forever: { kind: 'answer', text: 'Yes.' },
  });
  t.after(() => provider.close());
  const gateway = await runningGateway(t, {
    upstreams: { openai: provider.origin },
    policies: [{ model: '', windowTokens }],
  });
  const messages: object[] = [];
  const say = async (): Promise<string | null> => {
    messages.push({ role: 'user', content: `${messages.length} ${LONG}` });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer 1',
        'content-type': 'application/json',
        'x-bobbin-thread': 'a/b c',
      },
      body: JSON.stringify({ model: 'gpt-5', messages }),
    });
    const { choices } = (await response.json()) as { choices: { message: object }[] };
    messages.push(choices[0]?.message ?? {});
    return response.headers.get('x-bobbin-action');
  };
  for (let turn = 0; turn < turns; turn++) await say();
  const [tenant = ''] = await gateway.store.tenants();
  const base = `${gateway.url}/bobbin/v1/tenants/${tenant}/threads/a%2Fb%20c`;
  return {
    gateway,
    provider,
    base,
    say,
    get: async (path) => read(await fetch(base + path)),
    post: async (path, body = {}) =>
      read(
        await fetch(base + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
  };
}

test('C20 threads, plans, prompts, events and requests can be read', async (t) => {
  const { gateway, base, get } = await compactedThread(t);
  const list = (await (await fetch(base.replace(/\/a%2F.*$/, ''))).json()) as object[];
  assert.deepEqual(
    list.map((entry) => Object.entries(entry).slice(0, 1)),
    [[['thread', 'a/b c']]],
  );
  const thread = await get('');
  assert.deepEqual([thread['length'], thread['heads']], [27, [thread['head']]]);
  assert.ok((thread['version'] as number) > 0);
  const messages = (await get('/messages?from=25')) as unknown as { index: number }[];
  assert.deepEqual(
    messages.map(({ index }) => index),
    [25, 26],
  );
  const { plan, version } = (await get('/plans/current')) as {
    plan: { thread: string };
    version: number;
  };
  assert.deepEqual([plan.thread, version], ['a/b c', thread['version']]);
  const whole = await get('/prompt?version=0');
  const shown = await get('/prompt');
  assert.ok((shown['tokens'] as number) < (whole['tokens'] as number) / 1.5);
  const events = (await get('/events')) as unknown as { event: { kind: string } }[];
  assert.ok(events.some(({ event }) => event.kind === 'completed'));
  const written = async (): Promise<boolean> =>
    ((await get('/requests')) as unknown as { status?: number }[]).every((r) => r.status === 200);
  await until(written, 'all requests are in the ledger');
  const requests = (await get('/requests')) as unknown as { action: string; answer: string }[];
  assert.deepEqual([requests.length, requests[0]?.action], [14, 'unchanged']);
  assert.match(requests.at(-1)?.answer ?? '', /Yes\./);
  const sum = (await (await fetch(`${gateway.url}/bobbin/v1/ledger`)).json()) as {
    requests: number;
    paidTokens: number;
    fullTokens: number;
    summaryTokens: number;
    savedTokens: number;
  };
  assert.equal(sum.requests, 14);
  const { paidTokens, fullTokens, summaryTokens, savedTokens } = sum;
  assert.ok(savedTokens > 0);
  assert.equal(savedTokens, fullTokens - paidTokens - summaryTokens);
  for (const figure of [paidTokens, fullTokens]) assert.equal(figure, Math.round(figure));
});

test('undo, pin and compact change the next request of the running conversation', async (t) => {
  const { get, post, say } = await compactedThread(t);
  const [first] = (await get('/messages')) as unknown as { id: string }[];
  assert.deepEqual(await post('/pin', { message: first?.id }), { done: true });
  const { plan } = (await get('/plans/current')) as { plan: { pins: string[] } };
  assert.deepEqual(plan.pins, [first?.id]);
  assert.deepEqual(await post('/unpin', { message: first?.id }), { done: true });
  const before = (await get(''))['version'] as number;
  const compacted = await post('/compact', { instructions: 'Look at the tides.' });
  assert.equal(compacted['version'], before + 1);
  assert.deepEqual(await post('/undo'), { done: true });
  assert.equal((await get(''))['version'], before + 2);
  assert.ok(['continued', 'compacted'].includes((await say()) ?? ''));
});

test('the prompt of a thread is the one that was sent', async (t) => {
  const { provider, get, say } = await compactedThread(t);
  await say();
  const { messages } = (await get('/prompt')) as {
    messages: { message: { role: string; parts: { text?: string }[] } }[];
  };
  const sent = provider.requests.at(-1)?.body['messages'] as { role: string; content: string }[];
  assert.deepEqual(
    messages.map(({ message: { role, parts } }) => [role, parts[0]?.text]),
    sent.map(({ role, content }) => [role, content]),
  );
});

test('after an undo of the only compaction, requests go out as they come', async (t) => {
  const { post, say } = await threadOf(t, 60_000, 8);
  await post('/compact');
  assert.equal(await say(), 'continued');
  await post('/undo');
  assert.equal(await say(), 'unchanged');
});

test('events are sent as they happen', async (t) => {
  const { gateway, say } = await compactedThread(t);
  const controller = new AbortController();
  const response = await fetch(`${gateway.url}/bobbin/v1/events?thread=a%2Fb%20c`, {
    signal: controller.signal,
  });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  let text = '';
  const reading = (async () => {
    for await (const chunk of response.body as ReadableStream<Uint8Array>)
      text += Buffer.from(chunk).toString();
  })().catch(() => undefined);
  await until(() => text.includes('event: ready'), 'the stream begins');
  for (let turn = 0; turn < 12 && !text.includes('event: completed'); turn++) await say();
  await until(() => text.includes('event: completed'), 'a compaction is reported');
  controller.abort();
  await reading;
});

test('every route is described, and what is described is there', async (t) => {
  const { gateway, get, post } = await compactedThread(t);
  const described = (await (await fetch(`${gateway.url}/bobbin/openapi.json`)).json()) as {
    openapi: string;
    paths: Record<string, Record<string, { operationId: string; responses: unknown }>>;
    components: { schemas: Record<string, unknown> };
  };
  assert.equal(described.openapi, '3.1.0');
  const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path.replace('/bobbin/v1', '')}`),
  );
  assert.equal(operations.length, 15);
  for (const ref of JSON.stringify(described).matchAll(/#\/components\/schemas\/(\w+)/g))
    assert.ok(Object.hasOwn(described.components.schemas, ref[1] ?? ''), ref[0]);
  const message = { error: { message: 'message: must be a text that is not empty' } };
  assert.deepEqual(await post('/pin'), message);
  assert.match(JSON.stringify(await get('/plans/77')), /has no such plan/);
  assert.match(
    JSON.stringify(await get('/nothing')),
    /there is no .*; see \/bobbin\/openapi\.json/,
  );
});

/** A call with headers that fetch does not let a script set. */
function status(url: string, method: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
    request.end(method === 'POST' ? '{}' : undefined);
  });
}

test('pages of other sites and names that point here are refused', async (t) => {
  const gateway = await runningGateway(t);
  const url = `${gateway.url}/bobbin/v1/tenants`;
  const undo = `${gateway.url}/bobbin/v1/tenants/t/threads/x/undo`;
  const { host } = new URL(url);
  const json = { 'content-type': 'application/json' };
  assert.deepEqual(
    await Promise.all([
      status(url, 'GET', { host }),
      status(url, 'GET', { host: 'localhost:1' }),
      status(url, 'GET', { host: 'evil.example' }),
      status(url, 'GET', { host: '127.0.0.1.evil.example:80' }),
      status(url, 'GET', { host, 'sec-fetch-site': 'cross-site' }),
      status(url, 'GET', { host, origin: 'https://evil.example' }),
      status(url, 'GET', { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }),
      status(undo, 'POST', { host, 'content-type': 'text/plain' }),
      status(undo, 'POST', { host, ...json, origin: 'null' }),
      status(undo, 'POST', { host, ...json }),
    ]),
    [200, 200, 421, 421, 403, 403, 200, 415, 403, 404],
  );
});

const asked = ({ url }: RunningGateway, headers: Record<string, string>): Promise<number> =>
  status(`${url}/v1/chat/completions`, 'POST', headers);

test('pages of other sites cannot send requests that name no origin either', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const models = (site: string): Promise<number> =>
    status(`${gateway.url}/v1/models`, 'GET', { 'sec-fetch-site': site });
  assert.deepEqual(
    await Promise.all(['cross-site', 'same-site', 'none', 'same-origin'].map(models)),
    [403, 403, 200, 200],
  );
  assert.equal(upstream.seen.length, 2);
});

test('requests of pages of other sites are not relayed, unless a token guards the gateway', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const upstreams = { openai: upstream.url };
  const [open, guarded] = await Promise.all([
    runningGateway(t, { upstreams }),
    runningGateway(t, { upstreams, token: 'abc' }),
  ]);
  assert.deepEqual(
    await Promise.all([
      asked(open, {}),
      asked(open, { origin: 'http://localhost:3000' }),
      asked(open, { origin: 'app://desktop' }),
      asked(open, { origin: 'https://evil.example' }),
      asked(open, { host: 'evil.example', origin: 'http://evil.example' }),
      asked(open, { origin: 'null' }),
      asked(guarded, { origin: 'https://studio.example', 'x-bobbin-token': 'abc' }),
    ]),
    [200, 200, 200, 403, 403, 403, 200],
  );
  assert.equal(upstream.seen.length, 4);
});
