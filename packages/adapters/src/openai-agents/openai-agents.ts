import {
  tool,
  type AgentInputItem,
  type FunctionTool,
  type ModelProvider,
  type Session,
} from '@openai/agents';
import {
  type JsonObject,
  type MemoryTool,
  readArtifactTool,
  recallTool,
} from '@bobbin/core/internal';
import { HostConversations, type AdapterControls, type AdapterOptions } from '../conversations.ts';
import { agentItems } from './codec.ts';
import { fittingProvider } from './model.ts';
import { ThreadSession, type SessionCapabilities } from './session.ts';

export { RefusedTwice } from '@bobbin/core';
export type { AdapterOptions } from '../conversations.ts';
export type { SessionCapabilities } from './session.ts';

/** Bobbin's options; `thread` is the id of the session. */
export interface OpenAIAgentsOptions extends AdapterOptions<AgentInputItem> {
  readonly thread: string;
}

export interface OpenAIAgentsBobbin extends AdapterControls<AgentInputItem> {
  /** Between runs: reads as much of the history as fits, keeps all of it. */
  readonly session: Session & SessionCapabilities;
  /** Within a run: its models are asked with fitted prompts, and once more if one is refused. */
  readonly provider: (inner: ModelProvider) => ModelProvider;
  /** `read_artifact` and `recall`. */
  readonly tools: readonly MemoryFunctionTool[];
}

/** Bobbin for one session of the OpenAI Agents SDK. */
export function openaiAgentsBobbin(options: OpenAIAgentsOptions): OpenAIAgentsBobbin {
  const { tenant = 'default', thread } = options ?? {};
  if (typeof thread !== 'string' || thread === '')
    throw new TypeError(
      "thread: openaiAgentsBobbin needs the name of the session, as in openaiAgentsBobbin({ thread: 'session-1' })",
    );
  const conversations = new HostConversations({ codec: agentItems }, options);
  const session = new ThreadSession(thread, tenant, conversations);
  const toolOf = ({ definition, answer }: MemoryTool): MemoryFunctionTool =>
    tool({
      name: definition.name,
      description: definition.description,
      parameters: asSchema(definition.parameters),
      strict: false,
      execute: async (args: unknown) =>
        answer(conversations.memory, { tenant, thread: await session.thread() }, args),
    });
  return {
    ...conversations.controls(async () => conversations.named(await session.thread())),
    session,
    provider: (inner) => fittingProvider(inner, conversations, () => session.thread()),
    tools: [toolOf(readArtifactTool), toolOf(recallTool)],
  };
}

export type MemoryFunctionTool = FunctionTool<unknown, ToolSchema>;

export interface ToolSchema {
  type: 'object';
  properties: Record<string, object>;
  required: string[];
  additionalProperties: true;
}

/** The SDK takes schemas that are not strict if they admit more. */
function asSchema({ properties, required }: JsonObject): ToolSchema {
  return {
    type: 'object',
    properties: properties as unknown as Record<string, object>,
    required: Array.isArray(required) ? (required as string[]) : [],
    additionalProperties: true,
  };
}
