import type { BaseMessage } from '@langchain/core/messages';
import { toJsonSchema, type JSONSchema } from '@langchain/core/utils/json_schema';
import { createMiddleware, tool, type AgentMiddleware, type StructuredTool } from 'langchain';
import type { Session } from '@bobbin/core';
import {
  MEMORY_TOOLS,
  offersMemory,
  RequestSize,
  sendFitting,
  toolAsSent,
  type Conversation,
  type MemoryTool,
} from '@bobbin/core/internal';
import { langchainMessages } from '@bobbin/codecs/langchain';
import { HostConversations, type AdapterControls, type AdapterOptions } from '../conversations.ts';

export { RefusedTwice } from '@bobbin/core';
export type { AdapterControls, AdapterOptions } from '../conversations.ts';

export type LangchainOptions = AdapterOptions<BaseMessage>;

/** A chat model, or a chain that takes messages. */
export interface MessageRunnable<Config, Answer> {
  invoke(messages: BaseMessage[], config?: Config): Promise<Answer>;
}

/** The configuration of a run, as far as it matters here. */
export interface RunConfig {
  readonly configurable?: { readonly thread_id?: unknown };
}

/** Bobbin for LangChain and LangGraph. */
export interface LangchainBobbin extends AdapterControls<BaseMessage> {
  /** For `createAgent`: each request is fitted, the agent's state keeps all that was said. It brings `tools`. */
  readonly middleware: AgentMiddleware;
  /**
   * For a node of a `StateGraph`, and for any list of messages: fits the messages and asks the model, once more if it
   * refuses them as too long. The thread is the `thread_id` of the run.
   */
  invoke<Config extends RunConfig, Answer>(
    model: MessageRunnable<Config, Answer>,
    messages: readonly BaseMessage[],
    config?: Config,
  ): Promise<Answer>;
  /** `read_artifact` and `recall`, for `bindTools` and a `ToolNode`. */
  readonly tools: StructuredTool[];
}

export function langchainBobbin(options: LangchainOptions = {}): LangchainBobbin {
  const conversations = new HostConversations({ codec: langchainMessages }, options);
  const tools = MEMORY_TOOLS.map((each) => agentTool(each, conversations));
  return {
    ...conversations.controls(),
    middleware: middlewareFor(conversations, tools),
    async invoke(model, messages, config) {
      const request = await conversations.take(messages, { thread: threadOf(config) });
      return sendFitting(request, await request.prompt(), (fitted) =>
        model.invoke(fitted.messages, config),
      );
    },
    tools,
  };
}

/** The middleware alone, for an agent that needs nothing else. */
export function bobbinMiddleware(options: LangchainOptions = {}): AgentMiddleware {
  return langchainBobbin(options).middleware;
}

function middlewareFor(
  conversations: HostConversations<BaseMessage>,
  memoryTools: StructuredTool[],
): AgentMiddleware {
  const size = new RequestSize();
  return createMiddleware({
    name: 'Bobbin',
    tools: memoryTools,
    async wrapModelCall(request, handler) {
      const { messages, systemMessage, tools, runtime } = request;
      const thread = threadOf(runtime);
      const conversation = await conversations.take(messages, { thread });
      const budget = measured(conversation.session);
      const offersReadArtifact = offersMemory(tools);
      const fitted = await conversation.prompt({ budget, offersReadArtifact });
      return sendFitting(conversation, fitted, async (now) =>
        handler({ ...request, messages: now.messages }),
      );

      function measured({ counter }: Session<BaseMessage>): ReturnType<RequestSize['measure']> {
        return size.measure(counter, systemMessage.text, tools.map(asSent));
      }
    },
  });
}

function threadOf(run: RunConfig | undefined): string | undefined {
  const thread = run?.configurable?.thread_id;
  return typeof thread === 'string' ? thread : undefined;
}

function asSent(each: object): ReturnType<typeof toolAsSent> {
  const { name, description, schema } = each as Record<string, unknown>;
  return toolAsSent(String(name), description, toJsonSchema((schema ?? {}) as JSONSchema));
}

/** What a tool is called with, as far as it matters here: an agent gives its state, a graph its configuration alone. */
interface ToolRun extends RunConfig {
  readonly state?: { readonly messages?: readonly BaseMessage[] };
}

function agentTool(
  { definition, answer }: MemoryTool,
  conversations: HostConversations<BaseMessage>,
): StructuredTool {
  const { name, description, parameters } = definition;
  return tool(
    async (args: unknown, run: unknown) => {
      const { session } = await conversationOf(conversations, run as ToolRun);
      return answer(conversations.memory, session.key, args);
    },
    { name, description, schema: { ...parameters } },
  );
}

function conversationOf(
  conversations: HostConversations<BaseMessage>,
  run: ToolRun,
): Promise<Conversation<BaseMessage>> {
  const thread = threadOf(run);
  const { messages = [] } = run.state ?? {};
  if (messages.length > 0) return conversations.of(messages, thread);
  return thread === undefined ? conversations.only() : conversations.named(thread);
}
