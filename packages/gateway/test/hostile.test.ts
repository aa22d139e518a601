import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { seededRandom, type Random } from '@bobbin/testing';
import { bareUpstream, runningGateway, type RunningGateway } from './running-gateway.ts';

const SEED = Number(process.env['SEED'] ?? 16);
const CASES = 300;

const VALID = [
  {
    model: 'm',
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'ho' },
    ],
  },
  { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }] },
  {
    model: 'm',
    max_tokens: 5,
    messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: [] }] }],
  },
];
const PATHS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/messages/count_tokens',
];
const ODD: readonly unknown[] = [
  null,
  0,
  -1,
  1e308,
  '',
  'x',
  [],
  {},
  [[]],
  true,
  '\u0000',
  '\ud800',
];

/** A request with some of its values replaced by others, or some of its bytes by noise. */
function mutated(random: Random): string {
  const body: unknown = structuredClone(random.pick(VALID as [unknown, ...unknown[]]));
  const places: [Record<string, unknown>, string][] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      places.push([value as Record<string, unknown>, key]);
      visit(inner);
    }
  };
  visit(body);
  for (let i = 0; i < 3; i++) {
    const [holder, key] = random.pick(places as [(typeof places)[0], ...typeof places]);
    holder[key] = random.pick(ODD as [unknown, ...unknown[]]);
  }
  const text = JSON.stringify(body);
  if (!random.chance(0.3)) return text;
  const at = random.int(0, text.length - 1);
  return (
    text.slice(0, at) + random.pick(['"', '\\', '{', ']', '\u0000', 'é', '']) + text.slice(at + 1)
  );
}

async function isAlive({ url }: RunningGateway): Promise<void> {
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
}

test(`requests changed at random pass as they are, or fit; nothing crashes (seed ${SEED})`, async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{"usage":{"x":[]}}'),
  );
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url, anthropic: upstream.url },
  });
  const random = seededRandom(SEED);
  for (let i = 0; i < CASES; i++) {
    const body = mutated(random);
    const path = random.pick(PATHS as [string, ...string[]]);
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${random.int(0, 3)}` },
    });
    assert.equal(response.status, 200, body);
    await response.arrayBuffer();
    assert.equal(upstream.seen.at(-1)?.text, Buffer.from(body).toString(), 'nothing is changed');
  }
  await isAlive(gateway);
});

test('answers in any pieces, and answers that are no events, are relayed and do no harm', async (t) => {
  const random = seededRandom(SEED);
  const text = `: é\ndata: {"choices":[{"index":0,"delta":{"content":"é😀","tool_calls":[{"index":9e15}]}}]}\r\n\r\ndata: {"type":"content_block_delta","index":-1,"delta":{"partial_json":7}}\n\ndata: {"type":"message_start","message":{"usage":"x"}}\n\ndata: {broken\n\ndata: [DONE]\n\n`;
  const whole = Buffer.from(text);
  const upstream = await bareUpstream(t, async (_, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let at = 0; at < whole.length;) {
      const next = at + random.int(1, 9);
      outgoing.write(whole.subarray(at, next));
      if (random.chance(0.1)) await new Promise((resolve) => setTimeout(resolve, 1));
      at = next;
    }
    outgoing.end();
  });
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url, anthropic: upstream.url },
  });
  for (const path of PATHS) {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      body: JSON.stringify({ ...VALID[0], ...VALID[1], max_tokens: 1 }),
    });
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), whole);
  }
  await isAlive(gateway);
});

for (const tools of ['off', 'on'] as const)
  test(`answers that are nested deeply are relayed and do no harm, with tools ${tools}`, async (t) => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const message = `{"role":"assistant","content":${deep}}`;
    const json = `{"role":"assistant","content":${deep},"choices":[{"index":0,"message":${message}}],"output":${deep}}`;
    const events = [
      `{"choices":[{"index":0,"delta":${message}}]}`,
      `{"type":"message_start","message":${message}}`,
      `{"type":"response.completed","response":{"output":[{"type":"message","content":${deep}}]}}`,
    ];
    const stream = events.map((event) => `data: ${event}\n\n`).join('');
    const upstream = await bareUpstream(t, ({ text }, outgoing) => {
      const isStream = text.includes('"stream":true');
      const type = isStream ? 'text/event-stream' : 'application/json';
      outgoing.writeHead(200, { 'content-type': type }).end(isStream ? stream : json);
    });
    const upstreams = { openai: upstream.url, anthropic: upstream.url };
    const gateway = await runningGateway(t, { upstreams, tools });
    for (const path of PATHS)
      for (const isStream of [true, false]) {
        const body = { ...VALID[0], ...VALID[1], max_tokens: 1, stream: isStream };
        const response = await fetch(gateway.url + path, {
          method: 'POST',
          body: JSON.stringify(body),
        });
        const text = await response.text();
        if (tools === 'on' && isStream) assert.ok(text.includes(deep), path);
        else assert.equal(text, isStream ? stream : json);
      }
    await gateway.recorded();
    await isAlive(gateway);
    const [tenant = ''] = await gateway.store.tenants();
    const statuses: unknown[] = [];
    for (const { thread } of await gateway.ledger.threads(tenant))
      for (const { status } of await gateway.ledger.entries(tenant, thread)) statuses.push(status);
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200]);
  });

test('bytes that are no HTTP end their connection and nothing else', async (t) => {
  const gateway = await runningGateway(t);
  const { hostname, port } = new URL(gateway.url);
  const random = seededRandom(SEED);
  const noise = [
    'GET / HTTP/9.9\r\n\r\n',
    '\u0000\u0001',
    'POST /v1/messages HTTP/1.1\r\ncontent-length: -5\r\n\r\n',
  ];
  const header = `POST /v1/messages HTTP/1.1\r\nhost: x\r\n${'x'.repeat(200_000)}: y\r\n\r\n`;
  for (const bytes of [...noise, header, String(random.int(0, 9))])
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.end(bytes));
      socket.on('error', () => undefined).on('close', () => resolve());
      socket.resume();
    });
  await isAlive(gateway);
});

test('200 MB that nobody declared are refused early and do not stay in memory', async (t) => {
  const gateway = await runningGateway(t, { limits: { bodyBytes: 4_194_304 } });
  const before = process.memoryUsage().rss;
  const piece = Buffer.alloc(1_048_576, 'a');
  let sent = 0;
  const status = await new Promise<number>((resolve) => {
    const request = httpRequest(`${gateway.url}/v1/messages`, { method: 'POST' }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', () => resolve(-1));
    const more = (): void => {
      while (sent++ < 200) if (!request.write(piece)) return void request.once('drain', more);
      request.end();
    };
    more();
  });
  assert.ok(status === 413 || status === -1, String(status));
  assert.ok(sent < 150, `${sent} MB were taken`);
  assert.ok(process.memoryUsage().rss - before < 150_000_000);
  await isAlive(gateway);
});

test('200 MB that are declared are refused before a byte of them is read', async (t) => {
  const gateway = await runningGateway(t);
  const { hostname, port } = new URL(gateway.url);
  const answer = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, () =>
      socket.write('POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 209715200\r\n\r\n{'),
    );
    socket.on('data', (data) => (text += String(data))).on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
  assert.match(answer, /^HTTP\/1\.1 413 .*"request_too_large"/s);
  await isAlive(gateway);
});

test('a body that is small until it is decompressed is not read, and passes as it is', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    limits: { bodyBytes: 1_048_576 },
  });
  const bomb = gzipSync(Buffer.alloc(32 * 1_048_576, ' '));
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: bomb,
    headers: { 'content-encoding': 'gzip' },
  });
  await response.text();
  assert.deepEqual(upstream.seen[0]?.body, bomb);
  assert.deepEqual(await gateway.store.tenants(), []);
});

const NAMES: readonly string[] = [
  'x-bobbin-thread',
  'x-bobbin-tools',
  'thread-id',
  'session-id',
  'x-session-id',
  'x-claude-code-session-id',
  'content-encoding',
  'traceparent',
  'anthropic-version',
  'originator',
  'accept-encoding',
  'connection',
  'te',
];

test(`headers at random: nothing crashes, and no tenant sees another (seed ${SEED})`, async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url, anthropic: upstream.url },
  });
  const random = seededRandom(SEED);
  const { hostname, port } = new URL(gateway.url);
  const value = (): string =>
    Array.from({ length: random.int(0, random.chance(0.1) ? 4_000 : 30) }, () =>
      String.fromCodePoint(random.pick([0x09, 0x25, 0x2f, 0x61, 0x7e, 0xe9, 0xff])),
    ).join('');
  for (let i = 0; i < CASES; i++) {
    const owner = `owner-${i % 3}`;
    const body = JSON.stringify({
      model: 'm',
      messages: [{ role: 'user', content: `${owner} says` }],
    });
    const headers = Array.from({ length: random.int(0, 5) }, () => {
      const name = random.pick(NAMES as [string, ...string[]]);
      return `${random.chance(0.2) ? name.toUpperCase() : name}: ${value()}\r\n`;
    });
    const path = random.pick(PATHS as [string, ...string[]]);
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${owner}\r\ncontent-length: ${body.length}\r\n${headers.join('')}\r\n`;
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        const bytes = Buffer.from(head + body, 'latin1');
        // In pieces of any size.
        const at = random.int(1, bytes.length - 1);
        socket.write(bytes.subarray(0, at));
        socket.write(bytes.subarray(at));
      });
      socket.once('data', () => socket.destroy());
      socket.on('error', () => undefined).on('close', () => resolve());
    });
  }
  await isAlive(gateway);
  for (const tenant of await gateway.store.tenants()) {
    const said = new Set<string>();
    for (const { thread } of await gateway.store.threads(tenant, 1_000))
      for await (const nodes of gateway.store.nodes({ tenant, thread }))
        for (const { message } of nodes) said.add(JSON.stringify(message.parts));
    assert.equal(said.size, 1, `tenant ${tenant} has ${[...said].join()}`);
  }
});

function nestedLists(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

test('a body that is nested very deeply passes as it is', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url, anthropic: upstream.url },
    tools: 'on',
  });
  for (const path of PATHS)
    for (const body of [
      nestedLists(100_000),
      `{"model":"m","messages":[{"role":"user","content":${nestedLists(50_000)}}],"input":[{"role":"user","content":${nestedLists(50_000)}}]}`,
      `{"model":"m","metadata":${nestedLists(100_000)},"messages":[{"role":"user","content":"hi"}]}`,
    ]) {
      const response = await fetch(gateway.url + path, { method: 'POST', body });
      await response.text();
      assert.equal(response.status, 200);
      const { text = '' } = upstream.seen.at(-1) ?? {};
      // With the gateway's tools, if it could read it.
      assert.ok(text.startsWith(body.slice(0, -1)), text.slice(0, 100));
    }
  await isAlive(gateway);
});

test('clients that send or read slowly do not hold up others, and are cut off in time', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing.end(Buffer.alloc(8_388_608, 'a')),
  );
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    limits: { clientHeadersMs: 300, clientRequestMs: 600 },
  });
  const { hostname, port } = new URL(gateway.url);
  const open = (bytes: string): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      const socket = connect(Number(port), hostname, () => socket.write(bytes));
      socket.on('data', (data) => (text += String(data))).on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
  const slow = [
    open('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n'),
    open('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"mod'),
  ];
  // It never reads: the upstream's bytes must not pile up, and others must be answered.
  const reader = connect(Number(port), hostname, () => {
    reader.pause();
    reader.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}');
  });
  reader.on('error', () => undefined);
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: '{}',
  });
  assert.equal((await response.arrayBuffer()).byteLength, 8_388_608);
  const statuses = (await Promise.all(slow)).map((text) => text.slice(0, 12));
  assert.deepEqual(statuses, ['HTTP/1.1 408', 'HTTP/1.1 408']);
  reader.destroy();
  await isAlive(gateway);
});
