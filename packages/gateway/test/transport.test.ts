import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { memoryStore } from '@bobbin/core';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AnthropicReader } from '../src/answer/anthropic-reader.ts';
import { ChatReader } from '../src/answer/chat-reader.ts';
import { bareUpstream, runningGateway, until } from './running-gateway.ts';

const CHAT = '/v1/chat/completions';
const BODY = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] });
const STREAMED = JSON.stringify({ ...(JSON.parse(BODY) as object), stream: true });
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const SAID = chunk({ role: 'assistant', content: 'hello' });
const EVENTS = `${SAID}${chunk({}, 'stop')}data: [DONE]\n\n`;

const bodyOf = (messages: readonly object[]): string =>
  JSON.stringify({ model: 'gpt-5', messages });

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Asks with exactly these headers and this target. */
function asked(
  url: string,
  target: string,
  headers: Record<string, string>,
  body = BODY,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { hostname, port, path: target, method: 'POST', headers, agent: false };
    const sent = httpRequest(options, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(pieces),
        }),
      );
    });
    sent.on('error', reject).end(body);
  });
}

test('a stream that the gateway changes has no length, and one that is compressed passes as it is', async (t) => {
  let isCompressed = false;
  const upstream = await bareUpstream(t, (_, outgoing) => {
    const body = isCompressed ? gzipSync(EVENTS) : Buffer.from(EVENTS);
    outgoing.writeHead(200, {
      'content-type': 'text/event-stream',
      'content-length': body.length,
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    });
    outgoing.end(body);
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url }, tools: 'on' });
  const plain = await asked(gateway.url, CHAT, {}, STREAMED);
  assert.equal(plain.headers['content-length'], undefined);
  assert.match(plain.body.toString(), /hello[^]*\[DONE\]\n\n$/);
  isCompressed = true;
  const compressed = await asked(gateway.url, CHAT, {}, STREAMED);
  assert.deepEqual(compressed.body, gzipSync(EVENTS));
  assert.equal(compressed.headers['content-length'], String(gzipSync(EVENTS).length));
});

test('an offer to change the protocol is not taken; only WebSockets are refused', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const upgrade = (to: string): Promise<Answer> =>
    asked(gateway.url, CHAT, {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: to,
      'http2-settings': 'AAMAAABkAAQCAAAA',
    });
  assert.deepEqual(
    [(await upgrade('h2c')).status, (await upgrade('websocket')).status],
    [200, 426],
  );
  const [seen] = upstream.seen;
  assert.equal(upstream.seen.length, 1);
  assert.deepEqual(
    [seen?.headers['upgrade'], seen?.headers['http2-settings']],
    [undefined, undefined],
  );
});

test('a request that names the whole address is one for its path', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => {
    outgoing.setHeader('connection', 'keep-alive, x-of-this-hop');
    outgoing.setHeader('x-of-this-hop', 'yes');
    outgoing.end('{}');
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const { status, headers } = await asked(gateway.url, `http://anywhere.example${CHAT}?a=1`, {});
  assert.deepEqual(
    [status, headers['x-bobbin-action'], headers['x-of-this-hop']],
    [200, 'unchanged', undefined],
  );
  assert.equal(upstream.seen[0]?.url, `${CHAT}?a=1`);
  assert.equal((await fetch(`${gateway.url}/healthz?x`)).status, 200);
  assert.equal(upstream.seen.length, 1);
});

test('an index of any size in an answer is read at once', () => {
  const index = 400_000_000;
  const begun = process.cpuUsage();
  const chat = new ChatReader();
  chat.event({ choices: [{ index: 0, delta: { tool_calls: [{ index, id: 'b' }] } }] });
  chat.event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 1, id: 'a' }] } }] });
  assert.deepEqual(chat.answer()?.['choices'], [
    {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls: [{ id: 'a' }, { id: 'b' }] },
      finish_reason: null,
    },
  ]);
  const anthropic = new AnthropicReader();
  anthropic.event({ type: 'message_start', message: { role: 'assistant' } });
  for (const at of [index, 2]) {
    anthropic.event({ type: 'content_block_start', index: at, content_block: { id: `b${at}` } });
    const delta = { type: 'input_json_delta', partial_json: '{"n":1}' };
    anthropic.event({ type: 'content_block_delta', index: at, delta });
  }
  assert.deepEqual(anthropic.answer()?.['content'], [
    { id: 'b2', input: { n: 1 } },
    { id: `b${index}`, input: { n: 1 } },
  ]);
  assert.ok(process.cpuUsage(begun).user < 500_000);
});

test('headers that an upstream sends twice do no harm', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => {
    const text = '{"choices":[]}';
    const twice = ['content-type: application/json', 'connection: x-hop', 'x-other: 1'];
    const head = ['HTTP/1.1 200 OK', ...twice, ...twice, `content-length: ${text.length}`];
    outgoing.socket?.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  for (const path of [CHAT, '/v1/models', CHAT]) {
    const method = path === CHAT ? 'POST' : 'GET';
    const response = await fetch(gateway.url + path, {
      method,
      ...(method === 'POST' && { body: BODY }),
    });
    assert.equal(await response.text(), '{"choices":[]}');
    assert.equal(response.headers.get('content-type'), 'application/json');
  }
});

test('an answer waits for the store, however long it is, and arrives whole', async (t) => {
  const long = Buffer.alloc(3_000_000, 'x');
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end(long));
  const slow = memoryStore();
  const append = slow.append.bind(slow);
  slow.append = async (...args) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return append(...args);
  };
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url }, store: slow });
  const response = await fetch(gateway.url + CHAT, { method: 'POST', body: BODY });
  assert.ok(long.equals(Buffer.from(await response.arrayBuffer())));
  assert.equal(response.headers.get('x-bobbin-action'), 'unchanged');
});

test('a request that was refused as too long is not held up by a store that hangs', async (t) => {
  const refusal = { error: { code: 'context_length_exceeded', message: 'too long' } };
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal)),
  );
  const stuck = memoryStore();
  stuck.append = () => new Promise(() => undefined);
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    store: stuck,
    limits: { ownWorkMs: 50, refitMs: 200 },
  });
  const response = await fetch(gateway.url + CHAT, { method: 'POST', body: BODY });
  assert.deepEqual([response.status, await response.json()], [400, refusal]);
});

for (const address of ['localhost', '127.0.0.1', '[::1]', 'localhost.', '0.0.0.0'])
  test(`a gateway is not its own upstream at ${address}`, async (t) => {
    // It is refused before it listens.
    const port = 7_077;
    await assert.rejects(
      runningGateway(t, { port, upstreams: { openai: `http://${address}:${port}` } }),
      /^TypeError: upstream openai: .* is this gateway itself$/,
    );
  });

test('a client that reads nothing of an answer that was held is cut off too', async (t) => {
  const text = JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(20_000_000) } }],
  });
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(text),
  );
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    tools: 'on',
    limits: { clientStallMs: 200 },
  });
  const { hostname, port } = new URL(gateway.url);
  const head = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: ${BODY.length}\r\n\r\n`;
  const reader = connect(Number(port), hostname, () => reader.pause().write(head + BODY));
  reader.on('error', () => undefined);
  await until(() => upstream.seen.length === 1, 'the upstream is asked');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  let bytes = 0;
  await new Promise((resolve) => {
    reader.on('data', (piece) => (bytes += piece.length)).once('close', resolve);
    reader.resume();
  });
  assert.ok(bytes < text.length, `${bytes} bytes`);
});

test('a client that reads nothing of its answer is cut off, and the upstream with it', async (t) => {
  let isCut = false;
  const upstream = await bareUpstream(t, (_, outgoing) => {
    outgoing.once('close', () => (isCut = !outgoing.writableFinished));
    outgoing.end(Buffer.alloc(33_554_432, 'a'));
  });
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    limits: { clientStallMs: 200 },
  });
  const { hostname, port } = new URL(gateway.url);
  const head = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: ${BODY.length}\r\n\r\n`;
  const reader = connect(Number(port), hostname, () => reader.pause().write(head + BODY));
  reader.on('error', () => undefined);
  t.after(() => reader.destroy());
  await until(() => isCut, 'the upstream is cut off');
});

test('a gateway that ends closes the connections that it answers on', async (t) => {
  const go = Promise.withResolvers<void>();
  const upstream = await bareUpstream(t, async (_, outgoing) => {
    await go.promise;
    outgoing.end('{}');
  });
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const { hostname, port } = new URL(gateway.url);
  const keepAlive = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
  let text = '';
  const socket = connect(Number(port), hostname, () => socket.write(keepAlive));
  socket.on('data', (data) => (text += String(data))).on('error', () => undefined);
  await until(() => upstream.seen.length === 1, 'the request is under way');
  const closed = gateway.close();
  // On the same connection, while the first request is still being answered.
  socket.write(keepAlive);
  go.resolve();
  await closed;
  assert.match(text, /connection: close/i);
});

test('a call of the API has no longer body than a request', async (t) => {
  const gateway = await runningGateway(t, { limits: { bodyBytes: 1_000 } });
  const { host } = new URL(gateway.url);
  const headers = { host, 'content-type': 'application/json' };
  const target = '/bobbin/v1/tenants/t/threads/x/pin';
  const { status } = await asked(gateway.url, target, headers, `{"id":"${'a'.repeat(2_000)}"}`);
  assert.equal(status, 413);
});

test('a body that is too long to work on, or that has too many messages, passes as it is', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    limits: { fitBytes: 2_000_000 },
  });
  const long = bodyOf([{ role: 'user', content: 'a'.repeat(2_000_000) }]);
  const many = bodyOf(Array.from({ length: 20_001 }, () => ({ role: 'user', content: 'a' })));
  const answers = [
    await asked(gateway.url, CHAT, {}, long),
    await asked(gateway.url, CHAT, { 'content-encoding': 'gzip' }, gzipSync(long) as never),
    await asked(gateway.url, CHAT, {}, many),
  ];
  assert.deepEqual(
    answers.map(({ headers }) => headers['x-bobbin-reason']),
    [undefined, undefined, 'it has more than 20000 messages'],
  );
  assert.deepEqual(
    upstream.seen.map(({ body }) => body.length),
    [long.length, gzipSync(long).length, many.length],
  );
  assert.deepEqual(await gateway.store.tenants(), []);
});

test('what an error quotes is not logged', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const logged: object[] = [];
  const note = (about: object): void => void logged.push(about);
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    logger: { info: note, warn: note, error: note },
  });
  const messages = [{ role: 'assistant', tool_calls: 'the harbour master is called Ida' }];
  const body = JSON.stringify({ model: 'gpt-5', messages });
  const { headers } = await asked(gateway.url, CHAT, {}, body);
  assert.equal(headers['x-bobbin-action'], 'failed-open');
  assert.match(String(headers['x-bobbin-reason']), /tool_calls/);
  await gateway.recorded();
  assert.doesNotMatch(JSON.stringify([headers, logged]), /Ida/);
});
