import type { FlexibleSchema } from 'ai';
import { lastIndex, orInstall, RequestSize, toolAsSent, type Json } from '@bobbin/core/internal';
import { aiSdk, aiSdkCacheMarkers, type AiSdkMessage } from '@bobbin/codecs';
import { HostConversations, type AdapterControls, type AdapterOptions } from '../conversations.ts';
import { markOf, middlewareFor, type AiSdkMiddleware, type StepMark } from './middleware.ts';
import { contextOf, OpenSteps, type RunContext } from './open-steps.ts';
import { checkedPolicies, policiesOf } from './tool-policy.ts';
import { memoryTools, type AiSdkMemoryTools } from './tools.ts';
import { reportsOfStep, usageOfStep, type StepUsage } from './usage.ts';

export { RefusedTwice } from '@bobbin/core';
export { withPolicy } from './tool-policy.ts';
export type { AdapterOptions } from '../conversations.ts';
export type { AiSdkMiddleware } from './middleware.ts';
export type { AiSdkMemoryTools } from './tools.ts';

/** Bobbin's options; `thread` names the session to keep and resume. */
export interface AiSdkOptions extends AdapterOptions<AiSdkMessage> {
  /** The agent's tools: their schemas are counted, and the policies that `withPolicy` declares for them are used. */
  readonly toolSet?: Readonly<Record<string, object>>;
  /** The agent's instructions, counted with their cache markers; AI SDK 7 passes them itself. */
  readonly instructions?: string | AiSdkMessage | readonly AiSdkMessage[];
}

/** What the AI SDK calls before a step, as far as it matters here. */
export interface StepToPrepare<Wire> extends RunContext {
  readonly messages: Wire[];
  readonly steps: readonly { readonly usage: StepUsage }[];
  readonly instructions?: unknown;
}

/** What a step goes on with: give all of it back to the SDK. */
export interface PreparedStep<Wire> {
  messages: Wire[];
  /** Identifies the step for the middleware. */
  providerOptions: StepMark;
  /** Major 6 gives it to the finished step, which is known by it; major 7 does not read it. */
  experimental_context: unknown;
}

export interface FinishedStep extends RunContext {
  readonly usage: StepUsage;
  readonly stepNumber?: number;
  readonly providerMetadata?: unknown;
  readonly response: { readonly messages: readonly AiSdkMessage[] };
}

/** Bobbin for one agent on the AI SDK, major 6 or 7. */
export interface AiSdkBobbin extends AdapterControls<AiSdkMessage> {
  /** Fits the messages of a step. */
  readonly prepareStep: <Wire extends AiSdkMessage>(
    step: StepToPrepare<Wire>,
  ) => Promise<PreparedStep<Wire>>;
  /** Keeps what the step said, with what the provider reported of it, also if no other step follows. */
  readonly onStepFinish: (step: FinishedStep) => Promise<void>;
  /** The same, by its name in AI SDK 7. Give one of the two; both together do no harm. */
  readonly onStepEnd: (step: FinishedStep) => Promise<void>;
  readonly middleware: AiSdkMiddleware;
  /** `read_artifact` and `recall`. Prompts name them once they were taken from here. */
  readonly tools: AiSdkMemoryTools;
  /** The prompt of a stored session: the messages to go on with. Empty if there is no such session yet. */
  readonly loadActiveMessages: <Wire extends AiSdkMessage = AiSdkMessage>() => Promise<Wire[]>;
}

/** Undeclared tools may hold a cache marker: one is left free for it. */
const UNTOLD_TOOLS = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } };

export function aiSdkBobbin(options: AiSdkOptions = {}): AiSdkBobbin {
  const { toolSet = {}, instructions = '', ...rest } = options;
  const agentTools = options.toolSet === undefined ? [UNTOLD_TOOLS] : Object.values(toolSet);
  const format = { codec: aiSdk, mark: aiSdkCacheMarkers<AiSdkMessage> };
  const tools = { ...policiesOf(toolSet), ...checkedPolicies(rest.tools) };
  const conversations = new HostConversations(format, { ...rest, tools });
  const memory = memoryTools(conversations);
  let { offersReadArtifact = false } = options;
  let sentTools: Promise<readonly Json[]> | undefined;
  const size = new RequestSize();
  const open = new OpenSteps();

  async function keepStep(step: FinishedStep): Promise<void> {
    const prepared = open.finish(step);
    if (prepared === undefined) return;
    const { conversation, fitted } = prepared;
    conversation.session.report(...reportsOfStep(step.providerMetadata));
    const list = [...fitted.messages, ...ownMessages(step.response.messages)];
    await conversation.continue(list, usageOfStep(step.usage));
  }

  return {
    ...conversations.controls(),
    async prepareStep<Wire extends AiSdkMessage>(step: StepToPrepare<Wire>) {
      const conversation = await conversations.take(step.messages, {
        usage: usageOfStep(step.steps.at(-1)?.usage),
      });
      const { counter } = conversation.session;
      const system = step.instructions ?? instructions;
      sentTools ??= toolsAsSent({ ...toolSet, ...(offersReadArtifact ? memory : {}) });
      const budget = size.measure(counter, textOf(system), await sentTools);
      const beside = [system, ...agentTools].flat().filter(isObject);
      const fitted = await conversation.prompt({ budget, offersReadArtifact }, beside);
      const context = contextOf(step) ?? {};
      open.add(step.steps, context, { conversation, fitted });
      const messages = [...fitted.messages] as Wire[];
      const providerOptions = markOf(conversation);
      return { messages, providerOptions, experimental_context: context };
    },
    onStepFinish: keepStep,
    onStepEnd: keepStep,
    middleware: middlewareFor(conversations, open),
    get tools() {
      // The SDK does not say before a step which tools it sends.
      offersReadArtifact = true;
      sentTools = undefined;
      return memory;
    },
    async loadActiveMessages<Wire extends AiSdkMessage>() {
      const { thread } = options;
      if (thread === undefined) throw new TypeError('thread: a session is resumed by its name');
      return [...(await (await conversations.named(thread)).active())] as Wire[];
    },
  };
}

/** The tools as a provider reads them, their schemas as the SDK converts them. */
async function toolsAsSent(tools: Readonly<Record<string, object>>): Promise<readonly Json[]> {
  const { asSchema } = await import('ai').catch(orInstall('bobbin/ai-sdk', 'ai'));
  return Promise.all(
    Object.entries(tools).map(async ([name, tool]) => {
      const { description, inputSchema } = tool as {
        description?: unknown;
        inputSchema?: FlexibleSchema;
      };
      return toolAsSent(name, description, await asSchema(inputSchema).jsonSchema);
    }),
  );
}

/** The messages of the step itself: AI SDK 6 gives those of all steps before it too. */
function ownMessages(messages: readonly AiSdkMessage[]): readonly AiSdkMessage[] {
  const last = lastIndex(messages, ({ role }) => role === 'assistant');
  return last < 0 ? [] : messages.slice(last);
}

/** Instructions are a text, or system messages. */
function textOf(instructions: unknown): string {
  return typeof instructions === 'string' ? instructions : JSON.stringify(instructions);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
