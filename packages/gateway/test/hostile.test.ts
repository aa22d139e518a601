import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
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
