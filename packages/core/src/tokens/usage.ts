import type { Message, Usage } from '../message/message.ts';
import type { Counter } from './counter.ts';

/** All that the provider held in its window for a request, the answer included. */
export function usageTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** The usage of an assistant message that says something about the context: neither aborted nor an error. */
export function validUsage(message: Message): Usage | undefined {
  const { usage, status } = message.meta ?? {};
  if (message.role !== 'assistant' || status === 'aborted' || status === 'error') return undefined;
  return usage !== undefined && usageTokens(usage) > 0 ? usage : undefined;
}

export interface ContextSize {
  readonly tokens: number;
  /** How much of it a provider reported; the rest is estimated. */
  readonly reportedTokens: number;
}

/** The size of a context from the last valid usage on, with the messages after it estimated. */
export function contextSize(messages: readonly Message[], counter: Counter): ContextSize {
  let estimated = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i] as Message;
    const usage = validUsage(message);
    if (usage !== undefined) {
      const reportedTokens = usageTokens(usage);
      return { tokens: reportedTokens + estimated, reportedTokens };
    }
    estimated += counter.message(message);
  }
  return { tokens: estimated, reportedTokens: 0 };
}
