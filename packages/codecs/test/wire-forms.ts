import type { Json } from '@bobbin/core/internal';
import {
  aiSdk,
  aiSdkProblems,
  anthropic,
  anthropicProblems,
  openaiChat,
  openaiChatProblems,
  openaiResponses,
  openaiResponsesProblems,
} from '@bobbin/codecs';
import type { Codec } from '@bobbin/core';
import type { RecordedMessage } from './recordings.ts';

/** A provider's format: how a recording looks in it, and what the provider would refuse. */
export interface WireForm {
  readonly codec: Codec<object>;
  readonly wire: (messages: readonly RecordedMessage[]) => readonly object[];
  readonly problems: (wire: readonly object[]) => readonly string[];
}

export const WIRE_FORMS: readonly WireForm[] = [
  {
    codec: openaiChat,
    wire: (messages) => messages.map(chatMessage),
    problems: openaiChatProblems,
  },
  {
    codec: openaiResponses,
    wire: (messages) => messages.flatMap(responsesItems),
    problems: openaiResponsesProblems,
  },
  {
    codec: anthropic,
    wire: anthropicMessages,
    problems: (messages) => anthropicProblems({ messages }),
  },
  { codec: aiSdk, wire: aiSdkMessages, problems: aiSdkProblems },
];

type Call = NonNullable<RecordedMessage['toolCalls']>[number];

function chatMessage({ role, content, toolCalls = [], toolCallId }: RecordedMessage): object {
  if (role === 'tool') return { role, tool_call_id: toolCallId, content: content ?? '' };
  const calls = toolCalls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role, content: content ?? '', ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

function responsesItems(message: RecordedMessage): readonly object[] {
  const { role, content, toolCalls = [], toolCallId } = message;
  if (role === 'tool')
    return [{ type: 'function_call_output', call_id: toolCallId, output: content ?? '' }];
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  const said = { type: 'message', role, content: [{ type, text: content ?? '' }] };
  const calls = toolCalls.map(({ id, name, args }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: JSON.stringify(args),
  }));
  return (content ?? '') === '' && calls.length > 0 ? calls : [said, ...calls];
}

/** Results and the words behind them are one user message; the system prompt is no message. */
function anthropicMessages(messages: readonly RecordedMessage[]): readonly object[] {
  const wire: { role: string; content: object[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = anthropicBlocks(message);
    const last = wire.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else wire.push({ role, content: blocks });
  }
  return wire;
}

function anthropicBlocks({ role, content, toolCalls = [], toolCallId }: RecordedMessage): object[] {
  if (role === 'tool')
    return [{ type: 'tool_result', tool_use_id: toolCallId, content: content ?? '' }];
  const text = (content ?? '').trim() === '' ? [] : [{ type: 'text', text: content }];
  const calls = toolCalls.map(({ id, name, args }) => ({
    type: 'tool_use',
    id,
    name,
    input: inputOf(args),
  }));
  return text.length + calls.length === 0
    ? [{ type: 'text', text: '(empty)' }]
    : [...text, ...calls];
}

function inputOf(args: Json): object {
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? args : { args };
}

function aiSdkMessages(messages: readonly RecordedMessage[]): readonly object[] {
  const wire: { role: string; content: string | object[] }[] = [];
  for (const { role, content, toolCalls = [], toolCallId, toolName } of messages) {
    const last = wire.at(-1);
    if (role === 'tool') {
      const result = {
        type: 'tool-result',
        toolCallId,
        toolName: toolName ?? 'tool',
        output: { type: 'text', value: content ?? '' },
      };
      if (last?.role === 'tool') (last.content as object[]).push(result);
      else wire.push({ role, content: [result] });
    } else if (role === 'assistant') {
      const text = (content ?? '') === '' ? [] : [{ type: 'text', text: content }];
      wire.push({ role, content: [...text, ...toolCalls.map(aiSdkCall)] });
    } else wire.push({ role, content: content ?? '' });
  }
  return wire;
}

function aiSdkCall({ id, name, args }: Call): object {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: args };
}
