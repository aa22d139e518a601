import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { memoryArtifacts, type ThreadId } from '@bobbin/core';
import { isLoopback } from '../src/http/access.ts';
import { tenantNames } from '../src/identity/tenant.ts';
import { threadNameOf } from '../src/identity/thread-name.ts';
import { bareUpstream, runningGateway } from './running-gateway.ts';

function hashed(...credentials: readonly string[]): string {
  return createHmac('sha256', 'key').update(JSON.stringify(credentials)).digest('hex').slice(0, 32);
}

test('a tenant is the keyed hash of all that a client proves itself by', () => {
  const names = tenantNames('key');
  const cases = [
    [{}, hashed('', '', '')],
    [{ authorization: 'a' }, hashed('a', '', '')],
    [{ 'x-api-key': 'a' }, hashed('', 'a', '')],
    [{ 'api-key': 'a' }, hashed('', '', 'a')],
    [{ authorization: 'a', 'x-api-key': 'b' }, hashed('a', 'b', '')],
  ] as const;
  const connection = {};
  for (const [headers, tenant] of cases) assert.equal(names(headers, connection), tenant);
  assert.notEqual(tenantNames('other')({ authorization: 'a' }, {}), hashed('a', '', ''));
  const long = 'k'.repeat(100);
  const expected = createHmac('sha256', long).update('["a","",""]').digest('hex').slice(0, 32);
  assert.equal(tenantNames(long)({ authorization: 'a' }, {}), expected);
});

test('only addresses of this machine are loopback', () => {
  const local = ['localhost', '::1', '127.0.0.1', '127.8.8.8'];
  const others = [
    '::',
    '0.0.0.0',
    '',
    '127.0.0.1.example.com',
    '10.0.0.1',
    'localhost.example.com',
  ];
  assert.deepEqual([...local, ...others].filter(isLoopback), local);
});

test('an empty token is none', async (t) => {
  await assert.rejects(runningGateway(t, { host: '::', token: '' }), /^TypeError: host :: can be/);
});

test('the headers by which clients name their conversations, the most specific first', () => {
  const headers: Record<string, string> = {};
  for (const header of [
    'x-session-id',
    'conversation_id',
    'session_id',
    'session-id',
    'thread-id',
    'x-claude-code-session-id',
    'x-bobbin-thread',
  ]) {
    headers[header] = `by ${header}`;
    assert.equal(threadNameOf(headers, {}), `by ${header}`);
  }
  assert.equal(threadNameOf({ 'x-bobbin-thread': '' }, {}), undefined);
  assert.match(threadNameOf({ 'x-bobbin-thread': 'x'.repeat(201) }, {}) ?? '', /^[0-9a-f]{64}$/);
});

test('headers of a connection stay on it, in both directions; all others pass', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing
      .writeHead(200, {
        'x-kept': 'yes',
        'x-mine': 'no',
        'proxy-authenticate': 'no',
        connection: 'x-mine, keep-alive',
      })
      .end('{}'),
  );
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const headers = {
    connection: 'x-one-hop, keep-alive',
    'x-one-hop': 'no',
    te: 'trailers',
    'proxy-authorization': 'no',
    'x-bobbin-tools': 'off',
    'accept-encoding': 'br',
    'x-end-to-end': 'yes',
  };
  for (const path of ['/v1/models', '/v1/chat/completions']) {
    const answered = await new Promise<Record<string, unknown>>((resolve, reject) => {
      const method = path.endsWith('models') ? 'GET' : 'POST';
      const request = httpRequest(gateway.url + path, { method, headers }, (response) => {
        response.resume().once('end', () => resolve(response.headers));
      });
      request.on('error', reject).end(method === 'GET' ? '' : '{"model":"m","messages":[]}');
    });
    const seen = upstream.seen.at(-1)?.headers ?? {};
    const names = ['x-end-to-end', 'x-one-hop', 'te', 'proxy-authorization', 'x-bobbin-tools'];
    assert.deepEqual(
      names.map((name) => seen[name]),
      ['yes', undefined, undefined, undefined, undefined],
      path,
    );
    // An answer that is read must not be compressed.
    assert.equal(seen['accept-encoding'], path.endsWith('models') ? 'br' : 'identity');
    assert.deepEqual(
      ['x-kept', 'x-mine', 'proxy-authenticate'].map((name) => answered[name]),
      ['yes', undefined, undefined],
      path,
    );
  }
});

test('an artifact is no page: a browser saves it, guesses no type, and runs nothing in it', async (t) => {
  const artifacts = memoryArtifacts();
  const gateway = await runningGateway(t, { artifacts });
  const id = await artifacts.put('<script>1</script>', {
    tenant: 'acme',
    thread: 'boat' as ThreadId,
    createdAt: 1,
    mediaType: 'text/html',
    sensitivity: 'internal',
  });
  const { headers, status } = await fetch(`${gateway.url}/bobbin/v1/tenants/acme/artifacts/${id}`);
  assert.equal(status, 200);
  assert.deepEqual(
    ['content-disposition', 'x-content-type-options', 'content-security-policy'].map((name) =>
      headers.get(name),
    ),
    ['attachment', 'nosniff', 'sandbox'],
  );
});
