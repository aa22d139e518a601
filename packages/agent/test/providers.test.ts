import assert from 'node:assert/strict';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { bpe } from '@bobbin/models';
import { providerServer, type ProviderStep } from '@bobbin/testing';
import { ledgerOf } from '../src/session/ledger.ts';
import { asking, PROVIDERS } from './provider-shop.ts';
import { ofType, workshop, type Workshop } from './workshop.ts';

const says = (text: string): ProviderStep => ({ kind: 'answer', text });
const refuses = (status: number, message: string): ProviderStep => ({
  kind: 'error',
  status,
  message,
  headers: { 'retry-after-ms': '1' },
});

for (const provider of PROVIDERS) {
  const [dialect] = provider;

  test(`the loop over the wire, ${dialect}: a call is carried out and answered, usage is taken in`, async (t) => {
    const { server, shop } = await asking(
      t,
      provider,
      { kind: 'call', tool: 'bash', args: { command: 'echo from-the-tool' } },
      {
        kind: 'answer',
        text: 'It says from-the-tool.',
        usage: { inputTokens: 40, cacheReadTokens: 900, outputTokens: 7 },
      },
    );
    assert.equal(await shop.line('run it'), 'done', JSON.stringify(ofType(shop.events, 'error')));
    server.expectDone();
    assert.match(server.requests[1]?.text ?? '', /run it[^]*from-the-tool/);
    const last = ofType(shop.events, 'assistant').at(-1);
    assert.deepEqual(
      [last?.text, last?.usage],
      [
        'It says from-the-tool.',
        { inputTokens: 40, cacheReadTokens: 900, cacheWriteTokens: 0, outputTokens: 7 },
      ],
    );
    const header = server.requests[0]?.headers;
    assert.equal(header?.['x-api-key'] ?? header?.['authorization']?.slice(7), 'KEY');
  });

  test(`B12 what a provider refuses is reported in its words, ${dialect}: a wrong key at once, a busy hour after retries`, async (t) => {
    const { server, shop } = await asking(
      t,
      provider,
      refuses(401, 'invalid api key'),
      refuses(429, 'slow down'),
      says('at last'),
    );
    assert.equal(await shop.line('hello'), 'failed');
    assert.equal(ofType(shop.events, 'error')[0]?.error, 'HTTP 401: invalid api key');
    assert.equal(server.requests.length, 1);
    assert.equal(await shop.line(''), 'done');
    assert.equal(ofType(shop.events, 'assistant').at(-1)?.text, 'at last');
    server.expectDone();
  });

  test(`E3 a prompt that is refused as too long is compacted and sent again, ${dialect}`, async (t) => {
    const long = says(Array.from({ length: 300 }, (_, i) => `word${i}`).join(' '));
    const { server, shop } = await asking(
      t,
      provider,
      long,
      long,
      long,
      { kind: 'overflow' },
      {
        forever: says('short'),
      },
    );
    for (let i = 0; i < 4; i++) assert.equal(await shop.line(`Tell me about FACT-${i}`), 'done');
    assert.match(ofType(shop.events, 'notice')[0]?.text ?? '', /The provider refused the prompt/);
    assert.equal(ofType(shop.events, 'compaction-end').length, 1);
    server.expectDone();
  });
}

test('B10 on the wire: the summary is asked for without tools and with at most 0.8 of the reserve', async (t) => {
  for (const provider of PROVIDERS) {
    const words = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ');
    const long: ProviderStep = { kind: 'answer', text: words, usage: { inputTokens: 5_000 } };
    const { server, shop } = await asking(t, provider, { forever: long });
    for (let i = 0; i < 6; i++) await shop.line(`Tell me about FACT-${i}`);
    await shop.line('/compact');
    const body = server.requests[6]?.body ?? {};
    const cap = Number(body['max_tokens'] ?? body['max_output_tokens']);
    assert.ok(cap <= 800 && cap > 780, `${provider[0]}: ${cap}`);
    const tools = (body['tools'] ?? []) as readonly { name: string }[];
    assert.ok(!tools.some(({ name }) => name !== 'json'), JSON.stringify(tools));
  }
});

test('Anthropic gets cache markers: the system prompt, and messages that stay; at most four', async (t) => {
  const long = says(Array.from({ length: 1_500 }, (_, i) => `word${i}`).join(' '));
  const { server, shop } = await asking(t, PROVIDERS[0], { forever: long });
  await shop.line('one');
  await shop.line('two');
  const { system, messages } = server.requests[1]?.body ?? {};
  const marker = { type: 'ephemeral' };
  assert.deepEqual((system as { cache_control: unknown }[])[0]?.cache_control, marker);
  const marked = (messages as { content: { cache_control?: unknown }[] }[])
    .flatMap(({ content }) => content)
    .filter(({ cache_control }) => cache_control !== undefined);
  assert.ok(marked.length >= 1 && marked.length <= 3, `${marked.length} markers`);
  assert.deepEqual(marked[0]?.cache_control, marker);
  const openai = await asking(t, PROVIDERS[1], { forever: says('ok') });
  await openai.shop.line('one');
  assert.doesNotMatch(JSON.stringify(openai.server.requests[0]?.body), /cache_control/);
});

test('nobody at the address, and no key', async (t) => {
  const free = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => free.once('listening', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const settings = { providers: { own: { baseURL: `http://127.0.0.1:${port}/v1` } } };
  const shop = await workshop(t, { script: '', model: 'own/large', settings });
  assert.equal(await shop.line('hello'), 'failed');
  assert.match(ofType(shop.events, 'error')[0]?.error ?? '', /Cannot connect to API/);
  for (const [model, variable] of [
    ['anthropic/claude-sonnet-5-5', 'ANTHROPIC_API_KEY'],
    ['openai/gpt-6.1', 'OPENAI_API_KEY'],
  ] as const) {
    await shop.line(`/model ${model}`);
    assert.equal(
      ofType(shop.events, 'error').at(-1)?.error,
      `${model} needs a key in the environment variable ${variable}`,
    );
  }
});

test('C14 a session opens with the estimator; before a prompt is made the tokenizer of the model takes over', async (t) => {
  const { shop } = await asking(t, PROVIDERS[1]);
  const exact = await bpe('o200k');
  const text = 'Counted in tokens, antidisestablishmentarianism is several.';
  await shop.agent.note({ typed: text });
  assert.notEqual(shop.agent.session.handle.counter.text(text), exact.text(text));
  await shop.agent.session.prompt(true, new AbortController().signal);
  const { handle, systemTokens, system } = shop.agent.session;
  assert.equal(handle.counter.text(text), exact.text(text));
  assert.equal(systemTokens, exact.text(system));
  assert.equal(handle.length, 1);
});

test('B18 a model that does not report what a summary cost was asked all the same', async (t) => {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const text = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ');
  const { shop } = await asking(t, PROVIDERS[2], { forever: { kind: 'answer', text, usage } });
  for (let i = 0; i < 6; i++) await shop.line(`Tell me about FACT-${i}`);
  await shop.line('/compact');
  const [end] = ofType(shop.events, 'compaction-end');
  assert.match(
    end?.notice ?? '',
    /freed; the model that was asked did not report what that cost\.$/,
  );
});

test('ANTHROPIC_BASE_URL may be given with its version or without, as to other clients', async (t) => {
  const server = await providerServer('anthropic', { forever: says('here') });
  t.after(() => server.close());
  const bare = server.url.replace(/\/v1$/, '');
  assert.notEqual(bare, server.url);
  for (const url of [server.url, `${server.url}/`, bare, `${bare}/`]) {
    const env = { ANTHROPIC_API_KEY: 'KEY', ANTHROPIC_BASE_URL: url };
    const shop = await workshop(t, { script: '', model: 'anthropic/claude-sonnet-5-5', env });
    await shop.line('hello');
    assert.deepEqual(
      [url, ofType(shop.events, 'error'), ofType(shop.events, 'assistant')[0]?.text],
      [url, [], 'here'],
    );
  }
});

/** A workshop whose provider is whatever answers there. */
async function facing(t: TestContext, listener: RequestListener): Promise<Workshop> {
  const server = createHttpServer(listener).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const env = { ANTHROPIC_API_KEY: 'KEY', ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` };
  return workshop(t, { script: '', model: 'anthropic/claude-sonnet-5-5', env });
}

test('B12 every failure is reported in one clear line', async (t) => {
  const cases: readonly (readonly [status: number, body: string, expected: RegExp])[] = [
    [503, '', /^HTTP 503: Service Unavailable \(asked 3 times\)$/],
    [502, '<html>\n<h1>Bad</h1>\n</html>', /^HTTP 502: Bad Gateway \(asked 3 times\)$/],
    [400, '{"detail":\n"no such thing"}', /^HTTP 400: Bad Request \{"detail": "no such thing"\}$/],
    [200, '<html>Log in</html>', /^what came back is no whole answer of a model: /],
  ];
  for (const [status, body, expected] of cases) {
    const shop = await facing(t, (_, response) => {
      response.writeHead(status, { 'retry-after-ms': '1' }).end(body);
    });
    assert.equal(await shop.line('hello'), 'failed');
    assert.match(ofType(shop.events, 'error')[0]?.error ?? '', expected);
  }
});

test('an answer that was interrupted is in the ledger with what the provider reported of its cost', async (t) => {
  const shop = await facing(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const usage = { input_tokens: 40, cache_read_input_tokens: 900, output_tokens: 1 };
    for (const event of [
      {
        type: 'message_start',
        message: { id: 'm', model: 'x', role: 'assistant', content: [], usage },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I begin' } },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  });
  shop.agent.on((event) => {
    if (event.type === 'text') shop.agent.interrupt();
  });
  assert.equal(await shop.line('hello'), 'interrupted');
  const paid = { inputTokens: 40, outputTokens: 1, cacheReadTokens: 900, cacheWriteTokens: 0 };
  const [answer] = ofType(shop.events, 'assistant');
  assert.deepEqual([answer?.text, answer?.status, answer?.usage], ['I begin', 'aborted', paid]);
  const { requests, answers } = await ledgerOf(shop.agent.session);
  assert.deepEqual([requests, answers], [1, paid]);
});
