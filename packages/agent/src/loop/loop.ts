import { setTimeout } from 'node:timers/promises';
import { contextLimitOf, type Refusal, type Usage } from '@bobbin/core';
import type { AiSdkMessage } from '@bobbin/codecs/ai-sdk';
import type { LanguageModel, ModelMessage, SystemModelMessage, ToolSet } from 'ai';
import { DELAY_MS, isRefusal, reasonOf, retryDelay } from '../model/provider-error.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { earlyUsage, NO_USAGE, usageOf } from '../model/usage.ts';

/** One request: the loop asks once, so that what follows from the answer can be decided between steps. */
export interface Request {
  readonly model: LanguageModel;
  readonly system: string;
  readonly messages: readonly AiSdkMessage[];
  /** Positions after which the provider may cache, for providers that want markers. */
  readonly cachePoints: readonly number[];
  readonly tools: Toolbox;
  readonly signal: AbortSignal;
  /** Text and reasoning as they come. */
  readonly onText: (kind: 'text' | 'reasoning', text: string) => void;
  /** The request is repeated: discard what came so far. */
  readonly onRetry: (retry: Retry) => void;
}

export interface Retry {
  /** Which one comes now, from 2. */
  readonly attempt: number;
  readonly reason: string;
}

export type Answer =
  | {
      readonly kind: 'answer';
      readonly messages: readonly AiSdkMessage[];
      readonly usage: Usage;
      readonly cutOff: boolean;
    }
  /** Interrupted: what was said until then, and what the provider has reported of its cost. */
  | { readonly kind: 'aborted'; readonly text: string; readonly usage: Usage }
  /** The provider refused the prompt as too long. */
  | { readonly kind: 'overflow'; readonly reason: string; readonly refusal: Refusal }
  | { readonly kind: 'failure'; readonly reason: string };

/** A failure that may pass, with how long to wait before the next attempt. */
interface Passing {
  readonly kind: 'passing';
  readonly reason: string;
  readonly delayMs: number;
}

const MOST_ATTEMPTS = 3;

/** Asks, and retries if the provider is busy or the stream breaks off. */
export async function askModel(request: Request): Promise<Answer> {
  const { signal } = request;
  for (let attempt = 1; ; attempt++) {
    const answer = await askOnce(request, attempt);
    if (answer.kind !== 'passing') return answer;
    const { reason, delayMs } = answer;
    if (attempt === MOST_ATTEMPTS)
      return { kind: 'failure', reason: `${reason} (asked ${attempt} times)` };
    request.onRetry({ attempt: attempt + 1, reason });
    await setTimeout(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return { kind: 'aborted', text: '', usage: NO_USAGE };
  }
}

async function askOnce(request: Request, attempt: number): Promise<Answer | Passing> {
  // The SDK's warnings would be written over the screen.
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const { streamText } = await import('ai');
  const { model, signal } = request;
  let text = '';
  let usageSoFar = NO_USAGE;
  let error: unknown;
  let hasBegun = false;
  try {
    const result = streamText({
      model,
      instructions: systemMessage(request),
      messages: markedMessages(request),
      tools: await toolSet(request.tools),
      abortSignal: signal,
      maxRetries: 0,
      include: { rawChunks: true },
      // What goes wrong comes through the stream as well.
      onError: () => undefined,
    });
    for await (const part of result.stream) {
      if (part.type === 'text-delta') {
        text += part.text;
        request.onText('text', part.text);
      } else if (part.type === 'reasoning-delta') request.onText('reasoning', part.text);
      else if (part.type === 'raw') {
        hasBegun = true;
        usageSoFar = earlyUsage(part.rawValue) ?? usageSoFar;
      } else if (part.type === 'finish-step') usageSoFar = usageOf(part.usage);
      else if (part.type === 'error') error = part.error;
    }
    if (signal.aborted) return { kind: 'aborted', text, usage: usageSoFar };
    if (error === undefined) {
      const [messages, usage, finish] = await Promise.all([
        result.responseMessages,
        result.usage,
        result.finishReason,
      ]);
      return {
        kind: 'answer',
        messages,
        usage: usageOf(usage),
        cutOff: finish === 'length',
      };
    }
  } catch (thrown) {
    error = thrown;
  }
  if (signal.aborted) return { kind: 'aborted', text, usage: usageSoFar };
  const reason = reasonOf(error);
  const refusal = contextLimitOf(error);
  if (refusal !== undefined) return { kind: 'overflow', reason, refusal };
  const delayMs = retryDelay(error, attempt);
  if (delayMs !== undefined) return { kind: 'passing', reason, delayMs };
  // An answer that has begun and has no end was cut off on its way.
  return hasBegun && !isRefusal(error)
    ? { kind: 'passing', reason, delayMs: DELAY_MS * attempt }
    : { kind: 'failure', reason };
}

/** The tools as the model may call them; the agent runs them itself, so that a person can be asked first. */
export async function toolSet(tools: Toolbox): Promise<ToolSet> {
  const { jsonSchema, tool } = await import('ai');
  const entries = [...tools.values()].map(({ name, description, parameters }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters) }),
  ]);
  return Object.fromEntries(entries) as ToolSet;
}

const MARKER = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;

export function systemMessage({ system, cachePoints }: Request): SystemModelMessage {
  const message: SystemModelMessage = { role: 'system', content: system };
  return cachePoints.length === 0 ? message : { ...message, providerOptions: MARKER };
}

export function markedMessages({ messages, cachePoints }: Request): ModelMessage[] {
  const points = new Set(cachePoints);
  return messages.map((message, i) =>
    points.has(i) ? { ...message, providerOptions: { ...optionsOf(message), ...MARKER } } : message,
  ) as ModelMessage[];
}

function optionsOf(message: AiSdkMessage): object {
  return (message as { providerOptions?: object }).providerOptions ?? {};
}
