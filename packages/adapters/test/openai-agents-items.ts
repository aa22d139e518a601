import type { AgentInputItem, AgentOutputItem } from '@openai/agents';
import type { ThreadId } from '@bobbin/core';

export const KEY: { tenant: string; thread: ThreadId } = {
  tenant: 'default',
  thread: 'ledger' as ThreadId,
};

export function answer(text: string): AgentOutputItem {
  const content = [{ type: 'output_text' as const, text }];
  return { type: 'message', role: 'assistant', status: 'completed', content };
}

export const user = (content: string): AgentInputItem => ({
  type: 'message',
  role: 'user',
  content,
});
export const call = (callId: string, args: string): AgentInputItem => ({
  type: 'function_call',
  callId,
  name: 'read',
  arguments: args,
  status: 'completed',
});
export const result = (callId: string, text: string): AgentInputItem => ({
  type: 'function_call_result',
  callId,
  name: 'read',
  status: 'completed',
  output: { type: 'text', text },
});
