import type { BaseMessage } from '@langchain/core/messages';
import { toJsonSchema, type JSONSchema } from '@langchain/core/utils/json_schema';
import { createMiddleware, tool, type StructuredTool, type AgentMiddleware } from 'langchain';
import type { Session } from '@bobbin/core';
import { HostConversations, type AdapterOptions } from '../conversations.ts';
import { offersMemory, readArtifactTool, recallTool, type MemoryTool } from '../memory-tools.ts';
import { sendFitting } from '../refusal.ts';
import { RequestSize, toolAsSent } from '@bobbin/core/internal';
import { langchainMessages } from '@bobbin/codecs/langchain';

export { RefusedTwice } from '../refusal.ts';
export type { AdapterOptions } from '../conversations.ts';

export type LangchainOptions = AdapterOptions<BaseMessage>;

/**
 * A middleware for `createAgent`: each request is fitted on its way to the model, while the agent's state keeps all that
 * was said. The thread is the agent's `thread_id` where there is one. It brings `read_artifact` and `recall`.
 */
export function bobbinMiddleware(options: LangchainOptions = {}): AgentMiddleware {
  const conversations = new HostConversations({ codec: langchainMessages }, options);
  const size = new RequestSize();
  return createMiddleware({
    name: 'Bobbin',
    tools: [readArtifactTool, recallTool].map((each) => agentTool(each, conversations)),
    async wrapModelCall(request, handler) {
      const { messages, systemMessage, tools, runtime } = request;
      const thread = runtime.configurable?.thread_id;
      const conversation = await conversations.take(messages, { thread: thread });
      const budget = measured(conversation.session);
      const offersReadArtifact = offersMemory(tools);
      const fitted = await conversation.prompt({ budget, offersReadArtifact });
      return sendFitting(conversation, fitted, async (now) =>
        handler({ ...request, messages: [...now.messages] }),
      );

      function measured({ counter }: Session<BaseMessage>): ReturnType<RequestSize['measure']> {
        return size.measure(counter, systemMessage.text, tools.map(asSent));
      }
    },
  });
}

function asSent(each: object): ReturnType<typeof toolAsSent> {
  const { name, description, schema } = each as Record<string, unknown>;
  return toolAsSent(String(name), description, toJsonSchema((schema ?? {}) as JSONSchema));
}

/** The state of an agent, as far as its tools need it. */
interface AgentRun {
  readonly state?: { readonly messages?: readonly BaseMessage[] };
  readonly configurable?: { readonly thread_id?: string };
}

function agentTool(
  { definition, answer }: MemoryTool,
  conversations: HostConversations<BaseMessage>,
): StructuredTool {
  const { name, description, parameters } = definition;
  return tool(
    async (args: unknown, run: unknown) => {
      const { state, configurable } = run as AgentRun;
      const { session } = await conversations.of(state?.messages ?? [], configurable?.thread_id);
      return answer(conversations, session.key, args);
    },
    { name, description, schema: { ...parameters } },
  );
}
