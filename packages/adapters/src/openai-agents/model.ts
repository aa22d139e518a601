import {
  OpenAIResponsesModel,
  type AgentInputItem,
  type Model,
  type ModelProvider,
} from '@openai/agents';
import type { Fitted, Usage } from '@bobbin/core';
import {
  offersMemory,
  RequestSize,
  sendFitting,
  type HostRequest,
  type Json,
} from '@bobbin/core/internal';
import type { HostConversations } from '../conversations.ts';
import { begun } from './begun-stream.ts';

type ModelRequest = Parameters<Model['getResponse']>[0];

/** The name of the thread that requests belong to, if a session has one. */
export type ThreadName = () => Promise<string | undefined>;

/** A provider whose models are asked with fitted prompts. */
export function fittingProvider(
  inner: ModelProvider,
  conversations: HostConversations<AgentInputItem>,
  thread: ThreadName,
): ModelProvider {
  return {
    getModel: async (name) => fittingModel(await inner.getModel(name), conversations, thread),
  };
}

function fittingModel(
  model: Model,
  conversations: HostConversations<AgentInputItem>,
  thread: ThreadName,
): Model {
  const size = new RequestSize();

  async function fit(
    request: ModelRequest,
  ): Promise<[HostRequest<AgentInputItem>, Fitted<AgentInputItem>]> {
    const conversation = await conversations.take(itemsOf(request), { thread: await thread() });
    const { counter } = conversation.session;
    const tools = [...request.tools, ...request.handoffs] as unknown as Json;
    const budget = size.measure(counter, request.systemInstructions ?? '', tools);
    const offersReadArtifact = offersMemory(request.tools);
    return [conversation, await conversation.prompt({ budget, offersReadArtifact })];
  }

  /** With a key of the thread's, requests of one conversation meet the same cache at OpenAI. */
  function asked(
    request: ModelRequest,
    { session }: HostRequest<AgentInputItem>,
    messages: readonly AgentInputItem[],
  ): ModelRequest {
    const fitting = { ...request, input: [...messages] };
    if (!(model instanceof OpenAIResponsesModel)) return fitting;
    const providerData = {
      prompt_cache_key: session.key.thread,
      ...request.modelSettings.providerData,
    };
    return { ...fitting, modelSettings: { ...request.modelSettings, providerData } };
  }

  return {
    ...(model.supportsPromptModelSelection === undefined
      ? {}
      : { supportsPromptModelSelection: model.supportsPromptModelSelection }),
    ...(model.getRetryAdvice === undefined
      ? {}
      : { getRetryAdvice: (args) => model.getRetryAdvice?.(args) }),
    async getResponse(request) {
      if (isKeptByProvider(request)) return model.getResponse(request);
      const [conversation, fitted] = await fit(request);
      const response = await sendFitting(conversation, fitted, ({ messages }) =>
        model.getResponse(asked(request, conversation, messages)),
      );
      conversation.report(usageOf(response.usage));
      return response;
    },
    async *getStreamedResponse(request) {
      if (isKeptByProvider(request)) {
        yield* model.getStreamedResponse(request);
        return;
      }
      const [conversation, fitted] = await fit(request);
      const events = await sendFitting(conversation, fitted, ({ messages }) =>
        begun(model.getStreamedResponse(asked(request, conversation, messages))),
      );
      for await (const event of events) {
        if (event.type === 'response_done') conversation.report(usageOf(event.response.usage));
        yield event;
      }
    },
  };
}

/** If the provider keeps the conversation, only what is new is sent: there is nothing to fit. */
function isKeptByProvider({ previousResponseId, conversationId }: ModelRequest): boolean {
  return previousResponseId !== undefined || conversationId !== undefined;
}

function itemsOf({ input }: ModelRequest): readonly AgentInputItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

interface ReportedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly inputTokensDetails?:
    | Record<string, number>
    | readonly Record<string, number>[]
    | undefined;
}

function usageOf({ inputTokens, outputTokens, inputTokensDetails }: ReportedUsage): Usage {
  const details = [inputTokensDetails ?? []].flat();
  const cacheReadTokens = details.reduce((sum, each) => sum + (each['cached_tokens'] ?? 0), 0);
  return {
    inputTokens: Math.max(0, inputTokens - cacheReadTokens),
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens: 0,
  };
}
