import type { BaseMessage } from '@langchain/core/messages';
import { toJsonSchema, type JSONSchema } from '@langchain/core/utils/json_schema';
import { createMiddleware, type AgentMiddleware } from 'langchain';
import type { Session } from '@bobbin/core';
import { offersMemory, RequestSize, sendFitting, toolAsSent } from '@bobbin/core/internal';
import type { HostConversations } from '../conversations.ts';
import {
  graphOver,
  langchainConversations,
  memoryTools,
  threadOf,
  type LangchainOptions,
  type LanggraphBobbin,
} from './langgraph.ts';

export { RefusedTwice } from '@bobbin/core';
export type { AdapterControls, AdapterOptions } from '../conversations.ts';
export type { LangchainOptions, MessageRunnable, RunConfig } from './langgraph.ts';

/** Bobbin for LangChain and LangGraph. */
export interface LangchainBobbin extends LanggraphBobbin {
  /** For `createAgent`: each request is fitted, the agent's state keeps all that was said. It brings `tools`. */
  readonly middleware: AgentMiddleware;
}

export function langchainBobbin(options: LangchainOptions = {}): LangchainBobbin {
  const conversations = langchainConversations(options);
  // Assigned, not spread: to read the graph's tools is to offer them.
  return Object.assign(graphOver(conversations), { middleware: middlewareFor(conversations) });
}

/** The middleware alone, for an agent that needs nothing else. */
export function bobbinMiddleware(options: LangchainOptions = {}): AgentMiddleware {
  return langchainBobbin(options).middleware;
}

function middlewareFor(conversations: HostConversations<BaseMessage>): AgentMiddleware {
  const size = new RequestSize();
  return createMiddleware({
    name: 'Bobbin',
    tools: memoryTools(conversations),
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

function asSent(each: object): ReturnType<typeof toolAsSent> {
  const { name, description, schema } = each as Record<string, unknown>;
  return toolAsSent(String(name), description, toJsonSchema((schema ?? {}) as JSONSchema));
}
