import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HumanMessage, type AIMessage, type BaseMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { tool } from 'langchain';
import { langgraphBobbin } from '@bobbin/adapters/langgraph';
import { providerServer, type ProviderStep } from '@bobbin/testing';

const REQUESTS = 100;
const READ = { kind: 'call', tool: 'read_file', args: { path: 'src/a.ts' } } as const;
const SCRIPT: readonly ProviderStep[] = [
  ...Array.from({ length: 40 }, () => READ),
  { kind: 'overflow' },
  ...Array.from({ length: REQUESTS - 43 }, () => READ),
  { kind: 'call', tool: 'recall', args: { query: 'port 8042' } },
  { kind: 'answer', text: 'It is 8042.' },
];

test(`C23 a StateGraph asks ${REQUESTS} times with fitted messages, and keeps all of them`, async (t) => {
  const server = await providerServer('openai-chat', ...SCRIPT);
  t.after(() => server.close());
  const bobbin = langgraphBobbin({ window: 16_000 });
  let reads = 0;
  const read = tool(() => `port = ${reads++ === 0 ? 8042 : 0};\n${'compute(1);\n'.repeat(80)}`, {
    name: 'read_file',
    description: 'Reads a file.',
    schema: { type: 'object', properties: { path: { type: 'string' } } },
  });
  const model = new ChatOpenAI({
    model: 'gpt-5',
    apiKey: 'key',
    configuration: { baseURL: server.url },
    maxRetries: 0,
  }).bindTools([read, ...bobbin.tools]);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }, config) => ({
      messages: [await bobbin.invoke(model, messages, config)],
    }))
    .addNode('tools', new ToolNode([read, ...bobbin.tools]))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) => (calls(messages.at(-1)) ? 'tools' : END))
    .addEdge('tools', 'model')
    .compile();
  const rule = 'Read all files. Never touch deploy/prod.';
  const { messages } = await graph.invoke(
    { messages: [new HumanMessage(rule)] },
    { recursionLimit: 3 * REQUESTS, configurable: { thread_id: 'files' } },
  );
  server.expectDone();
  assert.equal(server.requests.length, REQUESTS);
  assert.equal(messages.at(-1)?.text, 'It is 8042.');
  assert.match(messages.at(-2)?.text ?? '', /port = 8042/, 'recall has found it');
  for (const { text } of server.requests) assert.match(text, /Never touch deploy\/prod/);
  const most = Math.max(...server.requests.map(({ text }) => text.length));
  assert.ok(most < JSON.stringify(messages).length / 2, 'requests are smaller than the state');
  assert.equal(await bobbin.undo('files'), true);
});

function calls(message: BaseMessage | undefined): boolean {
  return ((message as AIMessage | undefined)?.tool_calls ?? []).length > 0;
}
