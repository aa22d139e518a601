import { aiSdk, aiSdkCacheMarkers, type AiSdkMessage } from '@bobbin/codecs';
import { Conversations, type AdapterOptions } from '../conversations.ts';
import { middlewareFor, type AiSdkMiddleware } from './middleware.ts';
import { OpenSteps } from './open-steps.ts';
import { RequestSize, toolAsSent } from '../request-size.ts';
import { policiesOf } from './tool-policy.ts';
import { memoryTools, type AiSdkMemoryTools } from './tools.ts';
import { usageOfStep, type StepUsage } from './usage.ts';

export { RefusedTwice } from '../refusal.ts';
export { withPolicy } from './tool-policy.ts';
export type { AdapterOptions } from '../conversations.ts';
export type { AiSdkMiddleware } from './middleware.ts';
export type { AiSdkMemoryTools } from './tools.ts';

/** Bobbin's options; `thread` names the session to keep and resume. */
export interface AiSdkOptions extends Omit<AdapterOptions<AiSdkMessage>, 'tools'> {
  /** The tools of the agent: their schemas are counted, and what `withPolicy` declares beside them counts. */
  readonly tools?: Readonly<Record<string, object>>;
  /** The agent's instructions, to be counted; AI SDK 7 tells them itself. */
  readonly instructions?: string;
}

/** What the AI SDK calls before a step, as far as it matters here. */
export interface StepToPrepare<Wire> {
  readonly messages: Wire[];
  readonly steps: readonly { readonly usage: StepUsage }[];
  readonly instructions?: unknown;
}

export interface FinishedStep {
  readonly usage: StepUsage;
  readonly response: { readonly messages: readonly AiSdkMessage[] };
}

/** Bobbin for one agent on the AI SDK, major 6 or 7. */
export interface AiSdkBobbin {
  /** Fits the messages of a step. */
  readonly prepareStep: <Wire extends AiSdkMessage>(
    step: StepToPrepare<Wire>,
  ) => Promise<{ messages: Wire[] }>;
  /** Keeps what the step said, with what the provider reported of it, also where no other step follows. */
  readonly onStepFinish: (step: FinishedStep) => Promise<void>;
  readonly middleware: AiSdkMiddleware;
  /** `read_artifact` and `recall`. */
  readonly tools: AiSdkMemoryTools;
  /** The prompt of a stored session: the messages to go on with (A14). Empty where there is no such session yet. */
  readonly loadActiveMessages: <Wire extends AiSdkMessage = AiSdkMessage>() => Promise<Wire[]>;
}

export function aiSdkBobbin(options: AiSdkOptions = {}): AiSdkBobbin {
  const { tools: toolSet = {}, instructions = '', ...rest } = options;
  const format = { codec: aiSdk, mark: aiSdkCacheMarkers<AiSdkMessage> };
  const conversations = new Conversations(format, { ...rest, tools: policiesOf(toolSet) });
  const memory = memoryTools(conversations);
  const sentTools = Object.entries({ ...toolSet, ...memory }).map(([name, tool]) => {
    const { description, inputSchema } = tool as { description?: unknown; inputSchema?: unknown };
    return toolAsSent(name, description, inputSchema);
  });
  const size = new RequestSize();
  const open = new OpenSteps();
  return {
    async prepareStep<Wire extends AiSdkMessage>(step: StepToPrepare<Wire>) {
      const conversation = await conversations.take(
        step.messages,
        usageOfStep(step.steps.at(-1)?.usage),
      );
      const { counter } = conversation.handle;
      const budget = size.measure(counter, textOf(step.instructions) ?? instructions, sentTools);
      const fitted = await conversation.prompt({ budget });
      open.add(conversation, fitted);
      return { messages: [...fitted.messages] as Wire[] };
    },
    async onStepFinish({ usage, response }) {
      const prompt = open.finish();
      if (prompt === undefined) return;
      const own = ownMessages(response.messages);
      await conversations.take([...prompt, ...own], usageOfStep(usage));
    },
    middleware: middlewareFor(conversations, open),
    tools: memory,
    async loadActiveMessages<Wire extends AiSdkMessage>() {
      const { thread } = options;
      if (thread === undefined) throw new TypeError('thread: a session is resumed by its name');
      const conversation = await conversations.named(thread);
      return [...(await conversation.prompt()).messages] as Wire[];
    },
  };
}

/** The messages of the step itself: AI SDK 6 gives those of all steps before it too. */
function ownMessages(messages: readonly AiSdkMessage[]): readonly AiSdkMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return last < 0 ? [] : messages.slice(last);
}

/** Instructions are a text, or system messages. */
function textOf(instructions: unknown): string | undefined {
  if (instructions === undefined) return undefined;
  return typeof instructions === 'string' ? instructions : JSON.stringify(instructions);
}
