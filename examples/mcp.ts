// Run it in a checkout: npx node --conditions=@bobbin/source examples/mcp.ts
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

// Any MCP client can start the server; this one asks what a compacted thread still knows.
const client = new Client({ name: 'example', version: '1.0.0' });
const server = fileURLToPath(new URL('./mcp-server.ts', import.meta.url));
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: ['--conditions=@bobbin/source', server],
  }),
);

async function ask(name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return (content as { text: string }[]).map(({ text }) => text).join('\n');
}

const status = await ask('compact_status');
const found = await ask('recall', { query: 'port of the staging database' });
await client.close();

assert.match(status, /replaced by a summary/);
assert.match(found, /the staging database listens on port 54329/);
console.log(status);
