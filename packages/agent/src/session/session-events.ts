import { PROTOCOL_VERSION, type AgentEvent } from '../events.ts';
import type { AgentSession } from './session.ts';
import { NO_USAGE } from '../model/usage.ts';

export function sessionEvent(session: AgentSession, project: string): AgentEvent {
  const { id, file, model, windowTokens, handle } = session;
  return {
    type: 'session',
    version: PROTOCOL_VERSION,
    session: id,
    project,
    model: model.name,
    windowTokens,
    messages: handle.length,
    file,
  };
}

export function contextEvent(
  { contextTokens, windowTokens, handle }: AgentSession,
  automatic: boolean,
): AgentEvent {
  const last = handle.messages.findLast(
    ({ role, meta }) => role === 'assistant' && meta?.usage !== undefined,
  );
  const usage = last?.meta?.usage ?? NO_USAGE;
  return { type: 'context', tokens: contextTokens, windowTokens, automatic, usage };
}
