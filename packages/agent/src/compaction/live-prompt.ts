import type { MessageId } from '@bobbin/core';
import { aiSdk } from '@bobbin/codecs/ai-sdk';
import type { LivePrompt } from '@bobbin/models';
import type { ModelMessage } from 'ai';
import { markedMessages, systemMessage, toolSet, type Request } from '../loop/loop.ts';
import type { AgentSession } from '../session/session.ts';

/** The request that was sent last, and the thread's head at that time. */
export interface Sent {
  readonly request: Request;
  readonly head: MessageId | undefined;
  readonly length: number;
  readonly version: number;
}

export function sentFor({ handle }: AgentSession, request: Request): Sent {
  const { head, length, version } = handle;
  return { request, head, length, version };
}

/**
 * What was sent last with what came since: the provider reads all but the end of it from its cache. Undefined if the
 * prompt does not go on from it: another model, another plan, another fork.
 */
export async function livePrompt(
  { request, head, length, version }: Sent,
  session: AgentSession,
): Promise<LivePrompt | undefined> {
  const { handle, model, contextTokens } = session;
  const goesOn = handle.version === version && handle.at(length - 1)?.id === head;
  if (!goesOn || (await model.load()) !== request.model) return undefined;
  const since = handle.messages.slice(handle.messages.length - (handle.length - length));
  return {
    system: systemMessage(request),
    tools: await toolSet(request.tools),
    messages: [...markedMessages(request), ...(aiSdk.encode(since) as ModelMessage[])],
    tokens: contextTokens,
  };
}
