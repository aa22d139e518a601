import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { request as httpRequest, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { volume } from '@bobbin/testing/volume';
import { bareUpstream, runningGateway, until, type RunningGateway } from './running-gateway.ts';

/** Bytes that another encoder would write in another way: spaces, escapes, a number that no float holds. */
const ODD_BODY = Buffer.from(
  '{ "model" : "m",\n "messages":[ {"role":"user","content":"\\u0068i \\/ \u00e9", "n": 12345678901234567890} ],"x":1.0}',
);

const PATHS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/messages/count_tokens',
];

for (const path of PATHS)
  test(`${path}: a request that needs no change passes byte for byte, and so does its answer`, async (t) => {
    const reply = Buffer.from('{ "id" : "x", "odd":1.0 }\n');
    const upstream = await bareUpstream(t, (_, outgoing) =>
      outgoing
        .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'r1' })
        .end(reply),
    );
    const gateway = await runningGateway(t, {
      upstreams: { openai: upstream.url, anthropic: upstream.url },
    });
    const response = await fetch(`${gateway.url}${path}?beta=true`, {
      method: 'POST',
      body: ODD_BODY,
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer secret-1',
        'x-bobbin-thread': 'named',
        'x-other': 'kept',
      },
    });
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), reply);
    assert.equal(response.headers.get('x-request-id'), 'r1');
    const [seen] = upstream.seen;
    assert.deepEqual(seen?.body, ODD_BODY);
    assert.equal(seen?.url, `${path}?beta=true`);
    assert.equal(seen?.headers['authorization'], 'Bearer secret-1');
    assert.equal(seen?.headers['x-other'], 'kept');
    assert.equal(seen?.headers['x-bobbin-thread'], undefined);
  });

test('a compressed request that needs no change passes in its compression', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const body = gzipSync(ODD_BODY);
  const response = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  });
  assert.equal(response.status, 200);
  assert.deepEqual(upstream.seen[0]?.body, body);
  assert.equal(upstream.seen[0]?.headers['content-encoding'], 'gzip');
});

test('anything else is relayed as it is, by the provider whose client asks', async (t) => {
  const openai = await bareUpstream(t, (_, outgoing) => outgoing.writeHead(201).end('openai'));
  const anthropic = await bareUpstream(t, (_, outgoing) => outgoing.end('anthropic'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: `${openai.url}/v1`, anthropic: anthropic.url },
  });
  const models = await fetch(`${gateway.url}/v1/models?limit=3`, { headers: { 'x-api-key': 'k' } });
  assert.equal(await models.text(), 'anthropic');
  const compact = await fetch(`${gateway.url}/v1/responses/compact`, {
    method: 'POST',
    body: '{}',
  });
  assert.deepEqual([compact.status, await compact.text()], [201, 'openai']);
  const file = await fetch(`${gateway.url}/v1/files/7`, { method: 'DELETE' });
  assert.equal(file.status, 201);
  assert.deepEqual(
    [...openai.seen, ...anthropic.seen].map(({ method, url, text }) => [method, url, text]),
    [
      ['POST', '/v1/responses/compact', '{}'],
      ['DELETE', '/v1/files/7', ''],
      ['GET', '/v1/models?limit=3', ''],
    ],
  );
});

test('a stream is relayed as it arrives, chunk by chunk', async (t) => {
  let out: ServerResponse | undefined;
  const upstream = await bareUpstream(t, (_, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    out = outgoing;
    outgoing.write('data: {"n":1}\n\n');
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const text = async (): Promise<string> =>
    Buffer.from((await reader.read()).value ?? []).toString();
  assert.equal(await text(), 'data: {"n":1}\n\n');
  out?.write('da');
  assert.equal(await text(), 'da');
  out?.write('ta: [DONE]\n\n');
  assert.equal(await text(), 'ta: [DONE]\n\n');
  out?.end();
  assert.equal((await reader.read()).done, true);
});

test('a client that goes away ends the request at the upstream', async (t) => {
  let isClosed = false;
  const upstream = await bareUpstream(t, (_, outgoing) => {
    outgoing.on('close', () => (isClosed = true));
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.write('data: 1\n\n');
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const controller = new AbortController();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    signal: controller.signal,
  });
  assert.equal(response.status, 200);
  controller.abort();
  await until(() => isClosed, 'the upstream sees the abort');
});

test('a client that reads slowly slows the upstream down', async (t) => {
  const chunk = Buffer.alloc(65_536, 'a');
  const chunks = 800;
  let written = 0;
  const upstream = await bareUpstream(t, (_, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'application/octet-stream' });
    const more = (): void => {
      while (written++ < chunks)
        if (!outgoing.write(chunk)) return void outgoing.once('drain', more);
      outgoing.end();
    };
    more();
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const received = await new Promise<number>((resolve) => {
    const request = httpRequest(`${gateway.url}/v1/files/1/content`, (response) => {
      let bytes = 0;
      response.pause();
      setTimeout(() => {
        // 52 MB wait: without back-pressure all of them would be in the gateway by now.
        assert.ok(written < chunks / 2, `the upstream has sent ${written} of ${chunks} chunks`);
        response.on('data', (piece: Buffer) => (bytes += piece.length));
        response.on('end', () => resolve(bytes));
        response.resume();
      }, 600);
    });
    request.end();
  });
  assert.equal(received, chunks * chunk.length);
});

test('an upstream that dies in mid-stream cuts the client off; one that is not there gives a 502', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.write('data: 1\n\n');
    setTimeout(() => outgoing.destroy(), 20);
  });
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url, anthropic: 'http://127.0.0.1:9' },
  });
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
  const cut = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body });
  await assert.rejects(cut.text());
  const refused = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', body });
  const error = (await refused.json()) as { type: string; error: { type: string } };
  assert.deepEqual([refused.status, error.type, error.error.type], [502, 'error', 'api_error']);
  const header = (name: string): string | null => refused.headers.get(`x-bobbin-${name}`);
  assert.deepEqual([header('action'), header('reason')], ['unchanged', 'it fits']);
  assert.match(header('thread') ?? '', /^conversation-/);
  assert.ok(Number(header('tokens-before')) > 0);
});

test('a body over the limit is refused, declared or not, and nothing reaches the upstream', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    limits: { bodyBytes: 1_000 },
  });
  const declared = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    body: 'x'.repeat(2_000),
  });
  assert.equal(declared.status, 413);
  const { hostname, port } = new URL(gateway.url);
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.once('data', (data) => resolve(String(data)));
    socket.write('POST /v1/responses HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    for (let i = 0; i < 20; i++) socket.write(`64\r\n${'y'.repeat(100)}\r\n`);
  });
  assert.match(answer, /^HTTP\/1.1 413 /);
  assert.equal(upstream.seen.length, 0);
});

test('a slow client is cut off when its time is over', async (t) => {
  const gateway = await runningGateway(t, {
    limits: { clientHeadersMs: 200, clientRequestMs: 300 },
  });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write('POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{');
  const answer = await new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (data) => (text += String(data)));
    socket.on('close', () => resolve(text));
  });
  assert.match(answer, /^HTTP\/1.1 408 /);
});

test('JSON that is no request, and JSON of very many brackets, pass as they are', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const depth = volume(100_000, 1_000_000);
  const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const bodies = [
    'no json',
    '[]',
    '{"model":1}',
    '{"model":"m","messages":"text"}',
    `{"model":"m","messages":[${deep}]}`,
    `{"model":"m","messages":[{"role":"user","content":${deep}}]}`,
    `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x","y":${deep}}]}]}`,
    deep,
  ];
  for (const body of bodies) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body });
    assert.equal(response.status, 200);
    await response.text();
  }
  assert.deepEqual(
    upstream.seen.map(({ text }) => text),
    bodies,
  );
});

test('a gateway that ends finishes its streams, and takes no more requests', async (t) => {
  let out: ServerResponse | undefined;
  const upstream = await bareUpstream(t, (_, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.write('data: 1\n\n');
    out = outgoing;
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  });
  const closing = gateway.close();
  await assert.rejects(fetch(`${gateway.url}/healthz`));
  out?.end('data: 2\n\n');
  assert.equal(await response.text(), 'data: 1\n\ndata: 2\n\n');
  await closing;
});

/** What a gateway answers to nobody, to a wrong token, to that of clients and to that of the API. */
const statuses = (gateway: RunningGateway, path: string): Promise<readonly number[]> =>
  Promise.all(
    ['', 'relays', 'relay', 'api'].map(async (token) => {
      const headers = token === '' ? {} : { 'x-bobbin-token': token };
      const response = await fetch(`${gateway.url}${path}`, { headers });
      await response.text();
      return response.status;
    }),
  );

test('health needs no token; the relay needs the token of clients, and the API one of its own', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const upstreams = { openai: upstream.url };
  const [closed, open] = await Promise.all([
    runningGateway(t, { upstreams, token: 'relay' }),
    runningGateway(t, { upstreams, token: 'relay', apiToken: 'api' }),
  ]);
  assert.deepEqual(await statuses(closed, '/healthz'), [200, 200, 200, 200]);
  assert.deepEqual(await statuses(closed, '/metrics'), [401, 401, 200, 401]);
  assert.deepEqual(await statuses(closed, '/v1/models'), [401, 401, 200, 401]);
  assert.deepEqual(await statuses(closed, '/bobbin/v1/tenants'), [403, 403, 403, 403]);
  assert.deepEqual(await statuses(open, '/metrics'), [401, 401, 200, 200]);
  assert.deepEqual(await statuses(open, '/v1/models'), [401, 401, 200, 401]);
  assert.deepEqual(await statuses(open, '/bobbin/v1/tenants'), [401, 401, 401, 200]);
  assert.deepEqual(
    upstream.seen.map(({ headers }) => headers['x-bobbin-token']),
    [undefined, undefined],
  );
});

test('an address that others can reach needs a token', async (t) => {
  await assert.rejects(
    runningGateway(t, { host: '0.0.0.0' }),
    /^TypeError: host 0\.0\.0\.0 can be reached from other machines: give a token/,
  );
});

test('an upstream that is no address is refused in one line', async (t) => {
  await assert.rejects(
    runningGateway(t, { upstreams: { openai: 'api.openai.com' } }),
    /^TypeError: upstream "api\.openai\.com": must be an address such as https:\/\/api\.openai\.com, without a user$/,
  );
});
