import type { BaseMessage } from '@langchain/core/messages';
import { tool, type StructuredTool } from '@langchain/core/tools';
import type { CompactOptions } from '@bobbin/core';
import {
  MEMORY_TOOLS,
  sendFitting,
  type Conversation,
  type MemoryTool,
} from '@bobbin/core/internal';
import { langchainMessages } from '@bobbin/codecs/langchain';
import { HostConversations, type AdapterControls, type AdapterOptions } from '../conversations.ts';

export type LangchainOptions = AdapterOptions<BaseMessage>;

/** A chat model, or a chain that takes messages. */
export interface MessageRunnable<Config, Answer> {
  invoke(messages: BaseMessage[], config?: Config): Promise<Answer>;
}

/** The configuration of a run, as far as it matters here. */
export interface RunConfig {
  readonly configurable?: { readonly thread_id?: unknown };
}

/** Bobbin for LangGraph, and for lists of LangChain's messages. It needs `@langchain/core` alone. */
export interface LanggraphBobbin extends AdapterControls<BaseMessage> {
  /**
   * For a node of a `StateGraph`, and for any list of messages: fits the messages and asks the model, once more if it
   * refuses them as too long. The thread is the `thread_id` of the run.
   */
  invoke<Config extends RunConfig, Answer>(
    model: MessageRunnable<Config, Answer>,
    messages: readonly BaseMessage[],
    config?: Config,
  ): Promise<Answer>;
  /** `read_artifact` and `recall`, for `bindTools` and a `ToolNode`. Prompts name them once they were taken from here. */
  readonly tools: StructuredTool[];
}

export function langgraphBobbin(options: LangchainOptions = {}): LanggraphBobbin {
  return graphOver(langchainConversations(options));
}

/** The conversations of one object, which its parts share. */
export function langchainConversations(options: LangchainOptions): HostConversations<BaseMessage> {
  return new HostConversations({ codec: langchainMessages }, options);
}

/** What needs no agent: requests of nodes and lists, and the tools. */
export function graphOver(conversations: HostConversations<BaseMessage>): LanggraphBobbin {
  const tools = memoryTools(conversations);
  let offered: CompactOptions = {};
  return {
    ...conversations.controls(),
    async invoke(model, messages, config) {
      const request = await conversations.take(messages, { thread: threadOf(config) });
      return sendFitting(request, await request.prompt(offered), (fitted) =>
        model.invoke(fitted.messages, config),
      );
    },
    get tools() {
      offered = { offersReadArtifact: true };
      return tools;
    },
  };
}

export function memoryTools(conversations: HostConversations<BaseMessage>): StructuredTool[] {
  return MEMORY_TOOLS.map((each) => agentTool(each, conversations));
}

/** The name of the thread that a run belongs to, if it has one. */
export function threadOf(run: RunConfig | undefined): string | undefined {
  const thread = run?.configurable?.thread_id;
  return typeof thread === 'string' ? thread : undefined;
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
