import { openaiResponsesProblems } from '@bobbin/codecs';
import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { openaiError } from './chat.ts';
import type { Dialect, Finish, ProviderUsage } from './provider-server.ts';
import { commonProblem, objectsIn, strictSchemaProblem } from './rules.ts';
import { responseEvents } from './stream.ts';

/** OpenAI's Responses API. */
export const responsesDialect: Dialect = {
  path: '/v1/responses',
  problem(body, headers) {
    if (!headers['authorization']?.startsWith('Bearer ')) return 'You must provide an API key.';
    const [problem] = openaiResponsesProblems(objectsIn(body['input']), body);
    return commonProblem(body, 'input') ?? problem ?? formatProblem(body);
  },
  answer(text, finish, usage, body) {
    const part =
      finish === 'refusal'
        ? { type: 'refusal', refusal: text }
        : { type: 'output_text', text, annotations: [] };
    const message = { type: 'message', id: 'msg_scripted', role: 'assistant', content: [part] };
    return response({ ...message, status: 'completed' }, finish, usage, body);
  },
  call(tool, args, usage, body, index) {
    const ids = { id: `fc_${index}`, call_id: `call_${tool}_${index}` };
    const called = { type: 'function_call', ...ids, name: tool };
    const item = { ...called, arguments: JSON.stringify(args), status: 'completed' };
    return response(item, 'stop', usage, body);
  },
  calls(text, calls, usage, body, index) {
    const part = { type: 'output_text', text, annotations: [] };
    const message = { type: 'message', id: 'msg_scripted', role: 'assistant', content: [part] };
    const said = text === '' ? [] : [{ ...message, status: 'completed' }];
    const called = calls.map(({ tool, args }, i) => ({
      type: 'function_call',
      id: `fc_${index}_${i}`,
      call_id: `call_${tool}_${index}_${i}`,
      name: tool,
      arguments: JSON.stringify(args),
      status: 'completed',
    }));
    const output = [...said, ...called];
    return { ...response({}, 'stop', usage, body), output };
  },
  reads(body) {
    const items = objectsIn(body['input']);
    const from = items.findLastIndex(({ type }) => type === 'compaction');
    if (from < 0) return body;
    const input = items.filter((item, i) => i >= from || isSaid(item));
    return { ...body, input: input.map((item) => ({ ...item, ...decrypted(item) })) };
  },
  compaction(summary, text, usage, body) {
    const encrypted_content = Buffer.from(summary).toString('base64');
    const part = { type: 'output_text', text, annotations: [] };
    const message = { type: 'message', id: 'msg_scripted', role: 'assistant', content: [part] };
    const said = response({ ...message, status: 'completed' }, 'stop', usage, body);
    const item = { type: 'compaction', id: 'cmp_scripted', encrypted_content };
    return { ...said, output: [item, ...objectsIn(said['output'])] };
  },
  error: openaiError,
  stream: responseEvents,
  overflow: {
    status: 400,
    message:
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
};

/** What the user and the developer said stays next to a compaction. */
function isSaid({ type = 'message', role }: JsonObject): boolean {
  return type === 'message' && role !== 'assistant';
}

function decrypted({ type, encrypted_content: content }: JsonObject): JsonObject {
  if (type !== 'compaction' || typeof content !== 'string') return {};
  return { encrypted_content: Buffer.from(content, 'base64').toString('utf8') };
}

function response(
  item: JsonObject,
  finish: Finish,
  usage: ProviderUsage,
  body: JsonObject,
): JsonObject {
  const incomplete = finish === 'length' ? { reason: 'max_output_tokens' } : null;
  const inputTokens = usage.inputTokens + usage.cacheReadTokens;
  return {
    id: 'resp_scripted',
    object: 'response',
    created_at: 0,
    model: body['model'],
    status: incomplete === null ? 'completed' : 'incomplete',
    incomplete_details: incomplete,
    error: null,
    output: [item],
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: usage.cacheReadTokens },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + usage.outputTokens,
    },
  };
}

function formatProblem(body: JsonObject): string | undefined {
  const { text } = body;
  const format = isJsonObject(text) ? text['format'] : undefined;
  if (!isJsonObject(format) || format['type'] !== 'json_schema') return undefined;
  if (typeof format['name'] !== 'string') return 'text.format.name: is required';
  return format['strict'] === true ? strictSchemaProblem(format['schema']) : undefined;
}
