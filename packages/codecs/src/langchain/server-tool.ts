import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { Part } from '@bobbin/core';
import { isJsonObject, type JsonObject, jsonText } from '@bobbin/core/internal';
import { textOr } from '../wire/json-text.ts';
import type { KnownCalls } from '../wire/known-calls.ts';
import { lasting } from '../wire/place.ts';
import { readableJson, readableParts } from '../wire/readable.ts';
import { callAsText, resultAsText } from '../wire/server-tool.ts';
import {
  wholeServerPairs,
  type ServerBlocks,
  type WireMessage,
} from '../wire/whole-server-pairs.ts';

const SERVER_CALL = /^(?:(?:server|mcp)_tool_use|server_tool_call)$/;
const SERVER_RESULT = /._tool_(?:call_)?result$/;

function serverCallId({ type, id }: JsonObject): string | undefined {
  const isCall = typeof type === 'string' && SERVER_CALL.test(type);
  return isCall && typeof id === 'string' ? id : undefined;
}

function serverResultId({ type, tool_use_id: used, toolCallId }: JsonObject): string | undefined {
  const id = toolCallId ?? used;
  const isResult = typeof type === 'string' && SERVER_RESULT.test(type);
  return isResult && typeof id === 'string' ? id : undefined;
}

/** The parts of a block of a tool that the provider runs; undefined for any other block. */
export type DecodeServerBlock = (block: JsonObject) => readonly Part[] | undefined;

/**
 * Tools that the provider runs. A result is a pair with its call, also if an earlier message made the call. A call that
 * this message does not answer has no part.
 */
export function serverBlocks(blocks: readonly JsonObject[], calls: KnownCalls): DecodeServerBlock {
  const own = new Map(blocks.map((block) => [serverCallId(block), block]));
  const answered = new Set(blocks.map(serverResultId));
  for (const block of openCalls(blocks))
    calls.addServerCall(String(serverCallId(block)), lasting(block));
  return (block) => {
    const callId = serverCallId(block);
    if (callId !== undefined) return answered.has(callId) ? [callPart(callId, block)] : [];
    const resultId = serverResultId(block);
    if (resultId === undefined) return undefined;
    if (own.has(resultId)) return [resultPart(resultId, block)];
    const earlier = calls.serverCall(resultId);
    return earlier && [callPart(resultId, earlier), resultPart(resultId, block)];
  };
}

/** The calls that a message leaves to a later message to answer. */
export function openCalls(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const answered = new Set(blocks.map(serverResultId));
  return blocks.filter((block) => {
    const callId = serverCallId(block);
    return callId !== undefined && !answered.has(callId);
  });
}

function callPart(callId: string, { name, input = {}, args = input }: JsonObject): Part {
  return { kind: 'call', callId, tool: textOr(name, 'tool'), args: jsonText(args) };
}

function resultPart(callId: string, block: JsonObject): Part {
  const { content = null, output = content, is_error: isError, status } = block;
  const failed = isError === true || status === 'error' ? { outcome: 'failure' as const } : {};
  return { kind: 'result', callId, ...failed, content: readableParts(output) };
}

const SERVER_BLOCKS: ServerBlocks = {
  called: serverCallId,
  answered: serverResultId,
  caller: ({ type, caller }) =>
    type === 'tool_use' && isJsonObject(caller) ? caller['tool_id'] : undefined,
  callsHost: (message) => (message as ListedMessage).calls > 0,
  isHostsResult: (_, { role }) => role === 'tool',
  asText(block) {
    const { name, input = null, content = null, caller: _, ...rest } = block;
    const tool = textOr(name, 'a tool');
    if (serverCallId(block) !== undefined)
      return { type: 'text', text: callAsText(tool, jsonText(input)) };
    if (serverResultId(block) !== undefined)
      return { type: 'text', text: resultAsText(readableJson(content)) };
    return { ...rest, name, input };
  },
};

interface ListedMessage extends WireMessage {
  /** How many of the host's tools it calls: LangChain names them next to the content. */
  readonly calls: number;
}

/** The same messages with only whole pairs of the provider's own tools. */
export function withWholePairs(messages: readonly BaseMessage[]): readonly BaseMessage[] {
  const wire = messages.map((message): ListedMessage => {
    const { type, content } = message;
    return {
      role: type === 'ai' ? 'assistant' : type === 'tool' ? 'tool' : 'user',
      content: type === 'tool' ? [{ type: 'tool_result' }] : content,
      calls: ((message as AIMessage).tool_calls ?? []).length,
    };
  });
  const whole = wholeServerPairs(wire, SERVER_BLOCKS);
  return messages.map((message, i) =>
    whole[i] === wire[i] ? message : withContent(message as AIMessage, whole[i]?.content),
  );
}

function withContent(message: AIMessage, content: unknown): AIMessage {
  const { tool_calls: calls = [], name, id } = message;
  return new AIMessage({
    content: content as AIMessage['content'],
    tool_calls: calls,
    ...(name === undefined ? {} : { name }),
    ...(id === undefined ? {} : { id }),
  });
}
