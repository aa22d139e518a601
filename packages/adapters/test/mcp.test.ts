import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import {
  createBobbin,
  memoryArtifacts,
  memoryStore,
  textMessage,
  type ThreadId,
} from '@bobbin/core';
import { mcpServer } from '@bobbin/adapters/mcp';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const SERVER = new URL('./mcp-server.ts', import.meta.url);
const COMMAND = new URL('../src/mcp/command.ts', import.meta.url);

/** A real client with a real server process over standard input and output. */
async function connected(script: URL, ...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const { NODE_COMPILE_CACHE = '' } = process.env;
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['--conditions=@bobbin/source', fileURLToPath(script), ...args],
      env: { NODE_COMPILE_CACHE },
    }),
  );
  return client;
}

/** A client of a server that is bound to the thread `birds`, and one of a server that is bound to none. */
let bound: Client;
let unbound: Client;
before(async () => {
  [bound, unbound] = await Promise.all([connected(SERVER, 'birds'), connected(SERVER)]);
});
after(() => Promise.all([bound.close(), unbound.close()]));

async function called(client: Client, name: string, args: object): Promise<unknown> {
  const { content } = await client.callTool({ name, arguments: { ...args } });
  return (content as { text: string }[])[0]?.text;
}

test('C11 C26 an MCP client reads artifacts, recalls, and asks for the status', async () => {
  const client = bound;
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]),
    [
      ['read_artifact', ['id', 'offset', 'limit', 'lines', 'search']],
      ['recall', ['query', 'message', 'offset', 'search']],
      ['compact_status', []],
    ],
  );
  const status = String(await called(client, 'compact_status', {}));
  assert.match(status, /^birds: 41 messages; plan 2 \(ladder\) of 1970-01-01T00:00:00.000Z\n/);
  assert.match(status, /\nreplaced by a summary \(round 1\): \d+ messages\n/);
  const [, id = ''] = /^artifacts: (\w+)/m.exec(status) ?? [];
  assert.match(
    String(await called(client, 'read_artifact', { id, search: 'vault' })),
    /the vault code is 4471/,
  );
  assert.match(
    String(await called(client, 'recall', { query: 'heron 1' })),
    /heron 1 was seen at noon/,
  );
});

const problem = (text: string): unknown => ({
  isError: true,
  content: [{ type: 'text', text }],
});

test('H7 tools have titles and an output schema, and the server says what it is for', async () => {
  const client = bound;
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ title, outputSchema }) => [title, outputSchema?.required]),
    [
      ['Read an artifact', ['text']],
      ['Recall what was said', ['text']],
      ['What was compacted', ['text']],
    ],
  );
  assert.match(client.getInstructions() ?? '', /^Parts of this conversation were compacted/);
  const { structuredContent, content } = await client.callTool({
    name: 'recall',
    arguments: { query: 7 },
  });
  assert.match(JSON.stringify(structuredContent), /heron 7 was seen/, 'a number is a query');
  assert.deepEqual(content, [{ type: 'text', ...(structuredContent as object) }]);
});

test('H7 bad arguments and what is not there are errors; the hint in a result works as it is written', async () => {
  const client = bound;
  const none = '0'.repeat(32);
  const cases: readonly (readonly [name: string, args: object, text: string])[] = [
    ['read_artifact', {}, 'id: must be the id of an artifact'],
    ['read_artifact', { id: 7 }, 'id: must be the id of an artifact'],
    ['read_artifact', { id: none }, `There is no artifact ${none}.`],
    ['recall', {}, 'query: say what to search for, or message: name one that recall has found'],
    ['recall', { message: `3-${none}` }, `There is no message 3-${none}.`],
    ['forget', {}, 'there is no tool forget'],
  ];
  for (const [name, args, text] of cases)
    assert.deepEqual(await client.callTool({ name, arguments: { ...args } }), problem(text));
  const found = String(await called(client, 'recall', { query: 'heron 1' }));
  const [, hint = ''] = /recall\((\{[^}]*\})\)/.exec(found) ?? [];
  const whole = await called(client, 'recall', JSON.parse(hint) as object);
  assert.match(String(whole), /^\[turn \d+, \w+\]\n/);
});

test('H7 a server that is bound to no thread infers the only one, and its hints name it', async () => {
  const client = unbound;
  const { tools } = await client.listTools();
  assert.ok(tools.every(({ inputSchema }) => 'thread' in (inputSchema.properties ?? {})));
  assert.match(String(await called(client, 'compact_status', {})), /^birds: 41 messages/);
  const found = String(await called(client, 'recall', { query: 'heron 1' }));
  const [, hint = ''] = /recall\((\{[^}]*\})\)/.exec(found) ?? [];
  assert.equal((JSON.parse(hint) as { thread?: string }).thread, 'birds');
  assert.match(String(await called(client, 'recall', JSON.parse(hint) as object)), /^\[turn/);
  assert.deepEqual(
    await client.callTool({ name: 'compact_status', arguments: { thread: 'no such' } }),
    problem('There is no thread "no such".\n- birds: 41 messages, 2 plans'),
  );
});

test('H7 neither a line of 11 MiB nor a NUL in a name ends the server', async () => {
  const client = unbound;
  const long = await client.callTool({
    name: 'recall',
    arguments: { query: 'heron '.repeat(2_000_000) },
  });
  assert.equal(long.isError, undefined);
  const named = await client.callTool({
    name: 'recall',
    arguments: { thread: 'a\u0000b', query: 'x' },
  });
  assert.equal(named.isError, true);
  assert.match(String(await called(client, 'compact_status', {})), /^birds/);
});

test('H7 a server bound to one thread reads no artifact of another', async (t) => {
  const [store, artifacts] = [memoryStore(), memoryArtifacts()];
  const other = await artifacts.put('of another thread', {
    tenant: 'default',
    thread: 'other' as ThreadId,
    createdAt: 0,
    mediaType: 'text/plain',
    sensitivity: 'internal',
  });
  await (await createBobbin({ store, artifacts }).thread('mine')).append(textMessage('user', 'a'));
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1.0.0' });
  t.after(() => client.close());
  await mcpServer({ store, artifacts, thread: 'mine' }).connect(theirs);
  await client.connect(mine);
  assert.deepEqual(
    await client.callTool({ name: 'read_artifact', arguments: { id: other } }),
    problem(`There is no artifact ${other}.`),
  );
});

const line = (role: string, text: string, i: number): string =>
  JSON.stringify({
    type: 'message',
    timestamp: '2026-01-01T00:00:00.000Z',
    message: { role, content: [{ type: 'text', text: `${text} ${i}` }] },
  });

test('H7 the command serves a client\u2019s own session file, the newest of a folder', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-mcp-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const lines = Array.from({ length: 20 }, (_, i) =>
    line(i % 2 === 0 ? 'user' : 'assistant', i === 4 ? 'the vault code is 4471' : 'and so on', i),
  );
  const header = '{"type":"session","id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}';
  writeFileSync(join(folder, 's1.jsonl'), [header, ...lines].join('\n'));
  const client = await connected(COMMAND, folder);
  t.after(() => client.close());
  assert.match(String(await called(client, 'recall', { query: 'vault code' })), /4471/);
});
