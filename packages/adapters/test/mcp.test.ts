import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

/** A real client with a real server process over standard input and output. */
async function connected(t: TestContext, ...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  t.after(() => client.close());
  const script = fileURLToPath(new URL('./mcp-server.ts', import.meta.url));
  const command = process.execPath;
  const flags = ['--conditions=@bobbin/source', script, ...args];
  await client.connect(new StdioClientTransport({ command, args: flags }));
  return client;
}

async function called(client: Client, name: string, args: object): Promise<unknown> {
  const { content } = await client.callTool({ name, arguments: { ...args } });
  return (content as { text: string }[])[0]?.text;
}

test('C11 C26 an MCP client reads artifacts, recalls, and asks for the status', async (t) => {
  const client = await connected(t, 'birds');
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
  assert.match(status, /\nbehind a summary \(round 1\): \d+ messages\n/);
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

test('C11 an MCP server that is bound to no thread is told which one', async (t) => {
  const client = await connected(t);
  const { tools } = await client.listTools();
  assert.ok(tools.every(({ inputSchema }) => 'thread' in (inputSchema.properties ?? {})));
  assert.equal(
    await called(client, 'compact_status', {}),
    'There is no thread "".\n- birds: 41 messages, 2 plans',
  );
  assert.match(
    String(await called(client, 'recall', { thread: 'birds', query: 'heron 1' })),
    /heron 1 was seen/,
  );
  const unknown = await client.callTool({ name: 'forget', arguments: {} });
  assert.deepEqual(unknown, {
    isError: true,
    content: [{ type: 'text', text: 'there is no tool forget' }],
  });
});
