import { openaiChatProblems } from '@bobbin/codecs';
import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import type { Dialect, ProviderUsage } from './provider-server.ts';
import { commonProblem, objectsIn, strictSchemaProblem } from './rules.ts';
import { chatChunks } from './stream.ts';

/** OpenAI's Chat Completions API. */
export const chatDialect: Dialect = {
  path: '/v1/chat/completions',
  problem(body, headers) {
    if (!headers['authorization']?.startsWith('Bearer ')) return 'You must provide an API key.';
    const [problem] = openaiChatProblems(objectsIn(body['messages']));
    return commonProblem(body, 'messages') ?? problem ?? formatProblem(body);
  },
  answer(text, finish, usage, body) {
    return finish === 'refusal'
      ? completion({ content: null, refusal: text }, 'content_filter', usage, body)
      : completion({ content: text }, finish, usage, body);
  },
  call(tool, args, usage, body, index) {
    const called = { name: tool, arguments: JSON.stringify(args) };
    const calls = [{ id: `call_${tool}_${index}`, type: 'function', function: called }];
    return completion({ content: null, tool_calls: calls }, 'tool_calls', usage, body);
  },
  calls(text, calls, usage, body, index) {
    const tool_calls = calls.map(({ tool, args }, i) => ({
      id: `call_${tool}_${index}_${i}`,
      type: 'function',
      function: { name: tool, arguments: JSON.stringify(args) },
    }));
    const content = text === '' ? null : text;
    return completion({ content, tool_calls }, 'tool_calls', usage, body);
  },
  error: openaiError,
  stream: chatChunks,
  overflow: {
    status: 400,
    message:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 143021 tokens.",
  },
};

function completion(
  message: JsonObject,
  finishReason: string,
  usage: ProviderUsage,
  body: JsonObject,
): JsonObject {
  const inputTokens = usage.inputTokens + usage.cacheReadTokens;
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 0,
    model: body['model'],
    choices: [
      { index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason },
    ],
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: usage.outputTokens,
      total_tokens: inputTokens + usage.outputTokens,
      prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    },
  };
}

/** The form of errors that both of OpenAI's APIs use. */
export function openaiError(status: number, message: string): JsonObject {
  const isOverflow = /maximum context length|context window/.test(message);
  return {
    error: {
      message,
      type:
        status === 429
          ? 'rate_limit_exceeded'
          : status >= 500
            ? 'server_error'
            : 'invalid_request_error',
      param: null,
      code: isOverflow ? 'context_length_exceeded' : null,
    },
  };
}

function formatProblem(body: JsonObject): string | undefined {
  const format = body['response_format'];
  if (!isJsonObject(format) || format['type'] !== 'json_schema') return undefined;
  const { json_schema: named } = format;
  if (!isJsonObject(named) || typeof named['name'] !== 'string')
    return 'response_format.json_schema.name: is required';
  return named['strict'] === true ? strictSchemaProblem(named['schema']) : undefined;
}
