import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { ThreadId } from '@bobbin/core';
import {
  errorText,
  planArtifacts,
  readArtifactTool,
  recallTool,
  type JsonObject,
  type Memory,
  type MemoryTool,
  type ThreadKey,
} from '@bobbin/core/internal';
import { compactStatusTool } from '../compact-status.ts';

export interface McpOptions extends Memory {
  readonly tenant?: string;
  /** The thread that the tools read. If absent, a call names one, unless the tenant has only one. */
  readonly thread?: string;
}

/** What is read, or what gives it: it is asked for with each call, so that it may change. */
export type McpMemory = McpOptions | (() => Promise<McpOptions>);

const TOOLS: readonly (MemoryTool & { readonly title: string })[] = [
  { ...readArtifactTool, title: 'Read an artifact' },
  { ...recallTool, title: 'Recall what was said' },
  { ...compactStatusTool, title: 'What was compacted' },
];

const INSTRUCTIONS =
  'Parts of this conversation were compacted: they are no longer in the prompt, and nothing of them is lost. Call recall to ' +
  'search them, recall with a message to read one whole, read_artifact for content that was moved to an artifact, and ' +
  'compact_status to see how much there is.';

const OUTPUT_SCHEMA = {
  type: 'object' as const,
  properties: { text: { type: 'string', description: 'What was found, as text.' } },
  required: ['text'],
};

/** A Model Context Protocol server whose tools read what was compacted; connect it to any transport. */
export function mcpServer(memory: McpMemory): Server {
  const server = new Server(
    { name: 'bobbin', title: 'Bobbin', version: '0.1.0' },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const { thread } = await optionsOf(memory);
    return { tools: TOOLS.map((tool) => describeTool(tool, thread !== undefined)) };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    answerCall(memory, params.name, params.arguments ?? {}).catch((error: unknown) =>
      failure(errorText(error)),
    ),
  );
  return server;
}

/** Serves on standard input and output until the client hangs up. */
export async function serveMcp(memory: McpMemory): Promise<void> {
  const server = mcpServer(memory);
  const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve));
  await server.connect(new StdioServerTransport(process.stdin, process.stdout, MOST_BYTES));
  await ended;
  await server.close();
}

/** A longer line ends the transport: no client sends one this long. */
const MOST_BYTES = { maxBufferSize: 256 * 1_048_576 };

function optionsOf(memory: McpMemory): McpOptions | Promise<McpOptions> {
  return typeof memory === 'function' ? memory() : memory;
}

function describeTool({ definition, title }: (typeof TOOLS)[number], isBound: boolean): ToolEntry {
  const { name, description, parameters } = definition;
  return {
    name,
    title,
    description,
    inputSchema: { ...(isBound ? parameters : withThread(parameters)), type: 'object' },
    outputSchema: OUTPUT_SCHEMA,
    annotations: { title, readOnlyHint: true },
  };
}

interface ToolEntry {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: 'object' };
  readonly outputSchema: typeof OUTPUT_SCHEMA;
  readonly annotations: { readonly title: string; readonly readOnlyHint: true };
}

async function answerCall(
  memory: McpMemory,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<CallToolResult> {
  const tool = TOOLS.find(({ definition }) => definition.name === name);
  if (tool === undefined) return failure(`there is no tool ${name}`);
  const options = await optionsOf(memory);
  const key = await keyOf(options, args['thread']);
  if (typeof key === 'string') return failure(key);
  const problem = await problemOf(options, key, name, args);
  if (problem !== undefined) return failure(problem);
  const text = await tool.answer(options, key, args);
  if (NOTHING_THERE.test(text)) return failure(text);
  // A server that is bound to no thread needs the thread in each call, also in one that a result suggests.
  const suggested = `recall({"thread": ${JSON.stringify(key.thread)}, "message": `;
  const literal =
    options.thread === undefined ? text.replaceAll('recall({"message": ', suggested) : text;
  return { content: [{ type: 'text', text: literal }], structuredContent: { text: literal } };
}

const NOTHING_THERE = /^There is no (?:artifact|message|thread) /;

/** The thread that a call is about, or in words why none is. */
async function keyOf(
  { store, tenant = 'default', thread: bound }: McpOptions,
  given: unknown,
): Promise<ThreadKey | string> {
  if (bound !== undefined) return { tenant, thread: bound as ThreadId };
  if (typeof given === 'string' && given !== '') return { tenant, thread: given as ThreadId };
  if (given !== undefined && given !== '') return 'thread: must be the name of a thread';
  const threads = await store.threads(tenant, MOST_THREADS);
  const [only, ...more] = threads;
  if (only !== undefined && more.length === 0) return { tenant, thread: only.thread };
  const names = threads.map(({ thread }) => `- ${thread}`).join('\n');
  return `thread: name the thread to read\n${names}`;
}

const MOST_THREADS = 50;

/** In words what is wrong with the arguments, or what they may not read. */
async function problemOf(
  options: McpOptions,
  key: ThreadKey,
  name: string,
  { id, query, message }: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  if (name === 'recall' && !isWord(query) && !isWord(message))
    return 'query: say what to search for, or message: name one that recall has found';
  if (name !== 'read_artifact') return undefined;
  if (typeof id !== 'string' || id === '') return 'id: must be the id of an artifact';
  const isReadable = options.thread === undefined || (await isOfThread(options, key, id));
  return isReadable ? undefined : `There is no artifact ${id.replace(/^artifact:/, '')}.`;
}

function isWord(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
}

/** True if a plan of the thread, in force or past, points to an artifact. */
async function isOfThread({ store }: McpOptions, key: ThreadKey, id: string): Promise<boolean> {
  const bare = id.replace(/^artifact:/, '');
  const { version = 0 } = (await store.window(key)) ?? {};
  for (let at = version; at > 0; at--) {
    const stored = await store.plan(key, at);
    if (stored !== undefined && [...planArtifacts(stored.plan)].some((each) => each === bare))
      return true;
  }
  return false;
}

function withThread(parameters: JsonObject): JsonObject {
  const thread = {
    type: 'string',
    description: 'The name of the thread; may be left out if there is only one.',
  };
  const properties = parameters['properties'] as JsonObject;
  return { ...parameters, properties: { ...properties, thread } };
}

function failure(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}
