import { HumanMessage, type AIMessage, type BaseMessage } from '@langchain/core/messages';
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool, type StructuredTool } from 'langchain';
import { langchainBobbin } from '@bobbin/adapters/langchain';
import { langgraphBobbin } from '@bobbin/adapters/langgraph';
import type { Controls } from '@bobbin/core/internal';
import type { ProviderServer } from '@bobbin/testing';
import { INSTRUCTIONS, messageWith, type Host, type HostRun } from './host-run.ts';

const THREAD = 'files';
const RUN = { recursionLimit: 100, configurable: { thread_id: THREAD } };

function modelAt({ url }: ProviderServer): ChatOpenAI {
  const configuration = { baseURL: url };
  return new ChatOpenAI({ model: 'scripted', apiKey: 'key', configuration, maxRetries: 0 });
}

function readTool(readFile: () => string): StructuredTool {
  const schema = { type: 'object', properties: {} } as const;
  return tool(readFile, { name: 'read_file', description: 'Reads a file.', schema });
}

/** What was said is found in the state of the thread, which the framework keeps. */
function controlsOver(
  bobbin: Controls<BaseMessage>,
  messages: () => readonly BaseMessage[],
): Omit<HostRun, 'turn'> {
  return {
    pin: (text) => bobbin.pin(messageWith(messages(), text), THREAD),
    compact: () => bobbin.compact(THREAD),
    undo: () => bobbin.undo(THREAD),
    recall: (query) => bobbin.recall(query, THREAD),
  };
}

export const LANGCHAIN: Host = {
  name: 'LangChain',
  dialect: 'openai-chat',
  open(server, { windowTokens, readFile }) {
    const bobbin = langchainBobbin({ window: windowTokens });
    const agent = createAgent({
      model: modelAt(server),
      tools: [readTool(readFile)],
      systemPrompt: INSTRUCTIONS,
      middleware: [bobbin.middleware],
      checkpointer: new MemorySaver(),
    });
    let said: readonly BaseMessage[] = [];
    return {
      async turn(text) {
        said = (await agent.invoke({ messages: [new HumanMessage(text)] }, RUN)).messages;
      },
      ...controlsOver(bobbin, () => said),
    };
  },
};

export const LANGGRAPH: Host = {
  name: 'LangGraph',
  dialect: 'openai-chat',
  open(server, { windowTokens, memory, readFile }) {
    const bobbin = langgraphBobbin({ window: windowTokens });
    const read = readTool(readFile);
    const tools = memory === 'offered' ? [read, ...bobbin.tools] : [read];
    const model = modelAt(server).bindTools(tools);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }, config) => ({
        messages: [await bobbin.invoke(model, messages, config)],
      }))
      .addNode('tools', new ToolNode(tools))
      .addEdge(START, 'model')
      .addConditionalEdges('model', ({ messages }) => (isCalling(messages.at(-1)) ? 'tools' : END))
      .addEdge('tools', 'model')
      .compile({ checkpointer: new MemorySaver() });
    let said: readonly BaseMessage[] = [];
    return {
      async turn(text) {
        said = (await graph.invoke({ messages: [new HumanMessage(text)] }, RUN)).messages;
      },
      ...controlsOver(bobbin, () => said),
    };
  },
};

function isCalling(message: BaseMessage | undefined): boolean {
  return ((message as AIMessage | undefined)?.tool_calls ?? []).length > 0;
}
