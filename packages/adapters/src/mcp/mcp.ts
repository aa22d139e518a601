import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ThreadId } from '@bobbin/core';
import {
  type JsonObject,
  type Memory,
  type MemoryTool,
  readArtifactTool,
  recallTool,
} from '@bobbin/core/internal';
import { compactStatusTool } from '../compact-status.ts';

export interface McpOptions extends Memory {
  readonly tenant?: string;
  /** The thread that the tools read. Where absent, every call names one. */
  readonly thread?: string;
}

const TOOLS: readonly MemoryTool[] = [readArtifactTool, recallTool, compactStatusTool];

/** A Model Context Protocol server whose tools read what was compacted; connect it to any transport. */
export function mcpServer(options: McpOptions): Server {
  const server = new Server({ name: 'bobbin', version: '0.1.0' }, { capabilities: { tools: {} } });
  const isBound = options.thread !== undefined;
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: TOOLS.map(({ definition: { name, description, parameters } }) => ({
      name,
      description,
      inputSchema: { ...(isBound ? parameters : withThread(parameters)), type: 'object' as const },
      annotations: { readOnlyHint: true },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = TOOLS.find(({ definition }) => definition.name === params.name);
    if (tool === undefined) return failure(`there is no tool ${params.name}`);
    const thread = options.thread ?? params.arguments?.['thread'] ?? '';
    if (typeof thread !== 'string') return failure('thread: must be the name of a thread');
    const key = { tenant: options.tenant ?? 'default', thread: thread as ThreadId };
    return { content: [{ type: 'text', text: await tool.answer(options, key, params.arguments) }] };
  });
  return server;
}

/** Serves on standard input and output until the client hangs up. */
export async function serveMcp(options: McpOptions): Promise<void> {
  const server = mcpServer(options);
  const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve));
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}

function withThread(parameters: JsonObject): JsonObject {
  const thread = {
    type: 'string',
    description: 'The name of the thread; compact_status lists them.',
  };
  const properties = parameters['properties'] as JsonObject;
  return { ...parameters, properties: { ...properties, thread } };
}

function failure(text: string): { isError: true; content: { type: 'text'; text: string }[] } {
  return { isError: true, content: [{ type: 'text', text }] };
}
