import type { Codec } from '@bobbin/core';
import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { aiSdk } from './ai-sdk/ai-sdk.ts';
import { anthropic } from './anthropic/anthropic.ts';
import { openaiChat } from './openai/chat.ts';
import { openaiResponses } from './openai/responses.ts';

/**
 * The codec of a list of messages, by what is in it. Messages of nothing but text look alike: they are OpenAI Chat's.
 * Undefined where nothing in the list tells, and one of it has no role that a format knows.
 */
export function recogniseMessages(messages: readonly unknown[]): Codec<object> | undefined {
  for (const message of messages) {
    const codec = isJsonObject(message) ? codecOf(message) : undefined;
    if (codec !== undefined) return codec;
  }
  return messages.every(speaks) ? openaiChat : undefined;
}

const ROLES = new Set<unknown>(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

function speaks(message: unknown): boolean {
  return isJsonObject(message) && ROLES.has(message['role']);
}

const ANTHROPIC_BLOCK = /^(?:tool_use|tool_result|thinking|redacted_thinking|image|document)$/;
const AI_SDK_PART = /^(?:tool-|reasoning$|reasoning-file$|custom$)/;
const RESPONSES_PART = /^(?:input_text|output_text|input_image|input_file)$/;
const CHAT_FIELDS = ['tool_calls', 'tool_call_id', 'function_call'];

function codecOf(message: JsonObject): Codec<object> | undefined {
  const { type, role, content } = message;
  if (typeof type === 'string' && (type !== 'message' || !('stop_reason' in message)))
    return openaiResponses;
  if (CHAT_FIELDS.some((field) => field in message) || role === 'developer') return openaiChat;
  for (const part of Array.isArray(content) ? (content as readonly unknown[]) : []) {
    const kind = isJsonObject(part) && typeof part['type'] === 'string' ? part['type'] : '';
    if (isJsonObject(part) && kind === 'image' && 'image' in part) return aiSdk;
    if (ANTHROPIC_BLOCK.test(kind)) return anthropic;
    if (AI_SDK_PART.test(kind)) return aiSdk;
    if (RESPONSES_PART.test(kind)) return openaiResponses;
    if (kind === 'image_url' || kind === 'input_audio') return openaiChat;
  }
  return undefined;
}
