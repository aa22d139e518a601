import { openaiResponsesProblems } from '@bobbin/codecs';
import { isJsonObject, type JsonObject } from '@bobbin/core';
import { openaiError } from './provider-server-chat.ts';
import type { Dialect } from './provider-server.ts';
import { commonProblem, objectsIn, strictSchemaProblem } from './provider-server-rules.ts';

/** OpenAI's Responses API. */
export const responsesDialect: Dialect = {
  path: '/v1/responses',
  problem(body, headers) {
    if (!headers['authorization']?.startsWith('Bearer ')) return 'You must provide an API key.';
    const [problem] = openaiResponsesProblems(objectsIn(body['input']));
    return commonProblem(body, 'input') ?? problem ?? formatProblem(body);
  },
  answer(text, finish, usage, body) {
    const part =
      finish === 'refusal'
        ? { type: 'refusal', refusal: text }
        : { type: 'output_text', text, annotations: [] };
    const incomplete = finish === 'length' ? { reason: 'max_output_tokens' } : null;
    return {
      id: 'resp_scripted',
      object: 'response',
      created_at: 0,
      model: body['model'],
      status: incomplete === null ? 'completed' : 'incomplete',
      incomplete_details: incomplete,
      error: null,
      output: [
        {
          type: 'message',
          id: 'msg_scripted',
          role: 'assistant',
          status: 'completed',
          content: [part],
        },
      ],
      usage: {
        input_tokens: usage.inputTokens + usage.cacheReadTokens,
        input_tokens_details: { cached_tokens: usage.cacheReadTokens },
        output_tokens: usage.outputTokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage.inputTokens + usage.cacheReadTokens + usage.outputTokens,
      },
    };
  },
  error: openaiError,
  overflow: {
    status: 400,
    message:
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
};

function formatProblem(body: JsonObject): string | undefined {
  const { text } = body;
  const format = isJsonObject(text) ? text['format'] : undefined;
  if (!isJsonObject(format) || format['type'] !== 'json_schema') return undefined;
  if (typeof format['name'] !== 'string') return 'text.format.name: is required';
  return format['strict'] === true ? strictSchemaProblem(format['schema']) : undefined;
}
