import type { Json } from '@bobbin/core/internal';
import {
  aiSdk,
  aiSdkProblems,
  anthropic,
  anthropicProblems,
  bedrock,
  bedrockProblems,
  gemini,
  geminiProblems,
  openaiChat,
  openaiChatProblems,
  openaiResponses,
  openaiResponsesProblems,
} from '@bobbin/codecs';
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from '@langchain/core/messages';
import { langchainMessages } from '@bobbin/codecs/langchain';
import type { Codec } from '@bobbin/core';
import type { RecordedMessage } from './recordings.ts';

/** A provider's format: how a recording looks in it, and what the provider would refuse. */
export interface WireForm {
  readonly codec: Codec<object>;
  readonly wire: (messages: readonly RecordedMessage[]) => readonly object[];
  readonly problems: (wire: readonly object[]) => readonly string[];
  /** The blocks of a message, where a compaction may take a message apart or join two. */
  readonly blocks?: (wire: object) => readonly object[];
}

function contentOf(wire: object): readonly object[] {
  return (wire as { content: readonly object[] }).content;
}

function partsOf(wire: object): readonly object[] {
  return (wire as { parts: readonly object[] }).parts;
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
    blocks: contentOf,
  },
  { codec: aiSdk, wire: aiSdkMessages, problems: aiSdkProblems },
  { codec: gemini, wire: geminiContents, problems: geminiProblems, blocks: partsOf },
  {
    codec: bedrock,
    wire: bedrockMessages,
    problems: (messages) => bedrockProblems({ messages }),
    blocks: contentOf,
  },
  { codec: langchainMessages, wire: langchainList, problems: langchainProblems },
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

/** Results and the words after them are one user message; the system prompt is no message. */
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

/** Responses and the words after them are one content of the user's; the system prompt is none. */
function geminiContents(messages: readonly RecordedMessage[]): readonly object[] {
  const wire: { role: string; parts: object[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'model' : 'user';
    const last = wire.at(-1);
    if (last?.role === role) last.parts.push(...geminiParts(message));
    else wire.push({ role, parts: geminiParts(message) });
  }
  return wire;
}

function geminiParts(message: RecordedMessage): object[] {
  const { role, content, toolCalls = [], toolCallId, toolName = 'tool' } = message;
  if (role === 'tool') {
    const response = { output: content ?? '' };
    return [{ functionResponse: { id: toolCallId, name: toolName, response } }];
  }
  const text = (content ?? '') === '' ? [] : [{ text: content }];
  const calls = toolCalls.map(({ id, name, args }) => ({
    functionCall: { id, name, args: inputOf(args) },
    thoughtSignature: `signed ${id}`,
  }));
  return text.length + calls.length === 0 ? [{ text: '(empty)' }] : [...text, ...calls];
}

function bedrockMessages(messages: readonly RecordedMessage[]): readonly object[] {
  return (anthropicMessages(messages) as { role: string; content: AnthropicBlock[] }[]).map(
    ({ role, content }) => ({ role, content: content.map(bedrockBlock) }),
  );
}

interface AnthropicBlock {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: object;
  readonly tool_use_id?: string;
  readonly content?: string;
}

function bedrockBlock({
  type,
  text,
  id,
  name,
  input,
  tool_use_id,
  content,
}: AnthropicBlock): object {
  if (type === 'tool_use') return { toolUse: { toolUseId: id, name, input } };
  if (type === 'tool_result')
    return { toolResult: { toolUseId: tool_use_id, content: [{ text: content }] } };
  return { text: text?.trim() === '' ? '(blank)' : text };
}

function langchainList(messages: readonly RecordedMessage[]): readonly object[] {
  return messages.map(({ role, content, toolCalls = [], toolCallId, toolName }): BaseMessage => {
    const text = content ?? '';
    switch (role) {
      case 'system':
        return new SystemMessage(text);
      case 'user':
        return new HumanMessage(text);
      case 'assistant': {
        const tool_calls = toolCalls.map(({ id, name, args }) => ({
          type: 'tool_call' as const,
          id,
          name,
          args: { ...inputOf(args) },
        }));
        return new AIMessage({ content: text, tool_calls });
      }
      case 'tool':
        return new ToolMessage({
          content: text,
          tool_call_id: toolCallId ?? '',
          ...(toolName === undefined ? {} : { name: toolName }),
        });
    }
  });
}

/** LangChain writes for many providers: the strictest about calls and results is OpenAI's Chat. */
function langchainProblems(messages: readonly object[]): readonly string[] {
  return openaiChatProblems(
    (messages as readonly BaseMessage[]).map((message) => {
      const { tool_calls: calls = [] } = message as AIMessage;
      if (message.type === 'tool')
        return { role: 'tool', tool_call_id: (message as ToolMessage).tool_call_id, content: '' };
      if (message.type !== 'ai') return { role: 'user', content: message.content };
      const tool_calls = calls.map(({ id }) => ({ id, type: 'function' }));
      return {
        role: 'assistant',
        content: message.content,
        ...(tool_calls.length === 0 ? {} : { tool_calls }),
      };
    }),
  );
}
