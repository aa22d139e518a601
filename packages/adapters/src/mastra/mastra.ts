import { contextLimitOf } from '@bobbin/core';
import type { HostRequest } from '@bobbin/core/internal';
import { aiSdk, aiSdkCacheMarkers, type AiSdkMessage } from '@bobbin/codecs';
import { asPrompt, split, textOf } from '../ai-sdk/model-prompt.ts';
import { memoryTools, type AiSdkMemoryTools } from '../ai-sdk/tools.ts';
import { usageOfStep, type StepUsage } from '../ai-sdk/usage.ts';
import { HostConversations, type AdapterControls, type AdapterOptions } from '../conversations.ts';

export type { AdapterControls, AdapterOptions } from '../conversations.ts';

/** What Mastra calls before each request to a model, as far as it matters here. */
export interface MastraRequest {
  readonly prompt: readonly AiSdkMessage[];
  readonly steps: readonly { readonly usage?: StepUsage }[];
  /** The processor's own, for all calls of one run. */
  readonly state: Record<string, unknown>;
}

/** What Mastra calls when a provider refuses a request. */
export interface MastraRefusal {
  readonly error: unknown;
  readonly retryCount: number;
  readonly state: Record<string, unknown>;
}

/**
 * A processor for Mastra's agents: `inputProcessors` fits each request on its way to the model, while Mastra's memory keeps
 * all that was said; `errorProcessors` compacts what a provider refused as too long, and sends it once more.
 */
export interface MastraBobbin extends AdapterControls<AiSdkMessage> {
  readonly id: 'bobbin';
  processLLMRequest<Prompt extends readonly AiSdkMessage[]>(
    request: MastraRequest & { readonly prompt: Prompt },
  ): Promise<{ prompt: Prompt }>;
  processAPIError(refusal: MastraRefusal): Promise<{ retry: boolean }>;
  /** `read_artifact` and `recall`. Prompts name them only with the option `offersReadArtifact`. */
  readonly tools: AiSdkMemoryTools;
}

const REQUEST = 'bobbin';

export function mastraBobbin(options: AdapterOptions<AiSdkMessage> = {}): MastraBobbin {
  const format = { codec: aiSdk, mark: aiSdkCacheMarkers<AiSdkMessage> };
  const conversations = new HostConversations(format, options);
  return {
    ...conversations.controls(),
    id: 'bobbin',
    async processLLMRequest<Prompt extends readonly AiSdkMessage[]>({
      prompt,
      steps,
      state,
    }: MastraRequest & { readonly prompt: Prompt }) {
      const [system, said] = split(prompt);
      const usage = usageOfStep(steps.at(-1)?.usage);
      const request = await conversations.take(said.map(withoutStamps), { usage });
      state[REQUEST] = request;
      const systemTokens = request.session.counter.text(system.map(textOf).join('\n'));
      const fitted = await request.prompt({ budget: { systemTokens } }, system);
      const shown: readonly AiSdkMessage[] = [...system, ...fitted.messages.map(asPrompt)];
      return { prompt: shown as Prompt };
    },
    async processAPIError({ error, retryCount, state }) {
      const refusal = contextLimitOf(error);
      const request = state[REQUEST] as HostRequest<AiSdkMessage> | undefined;
      if (refusal === undefined || request === undefined || retryCount > 0) return { retry: false };
      await request.refused(refusal);
      return { retry: true };
    },
    // Mastra calls a tool with other arguments than the model was sent: the only conversation is meant, or the named
    // thread.
    tools: memoryTools(conversations, () => []),
  };
}

/**
 * A message without Mastra's own notes. They hold a time that changes from run to run: with it, a history that is sent again
 * would be another conversation.
 */
function withoutStamps(message: AiSdkMessage): AiSdkMessage {
  const { content } = message;
  const own = unstamped(message);
  return typeof content === 'string' ? own : { ...own, content: content.map(unstamped) };
}

function unstamped<T extends object>(noted: T): T {
  const { providerOptions, ...rest } = noted as T & { providerOptions?: Record<string, object> };
  if (providerOptions?.['mastra'] === undefined) return noted;
  const { mastra: _, ...others } = providerOptions;
  return (Object.keys(others).length === 0 ? rest : { ...rest, providerOptions: others }) as T;
}
