import { anthropicProblems } from '@bobbin/codecs';
import { isJsonObject, parseJson, type JsonObject } from '@bobbin/core/internal';
import type { Dialect, ProviderUsage } from './provider-server.ts';
import { commonProblem, objectsIn } from './rules.ts';
import { anthropicEvents } from './stream.ts';

const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const FINISHES = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal' } as const;

/** Anthropic's Messages API. */
export const anthropicDialect: Dialect = {
  path: /^\/v1\/messages(?:\?beta=true)?$/,
  problem(body, headers) {
    if (headers['x-api-key'] === undefined && headers['authorization'] === undefined)
      return 'x-api-key: is required';
    if (headers['anthropic-version'] === undefined) return 'anthropic-version: is required';
    const { max_tokens: most } = body;
    const messages = objectsIn(body['messages']);
    if (!Number.isInteger(most) || (most as number) < 1) return 'max_tokens: must be at least 1';
    return commonProblem(body, 'messages') ?? anthropicProblems({ ...body, messages })[0];
  },
  answer(text, finish, usage, body) {
    const asksForJson = objectsIn(body['tools']).some(({ name }) => name === 'json');
    const json = asksForJson && finish === 'stop' ? parseJson(text) : undefined;
    if (isJsonObject(json)) return message([toolUse('json', json)], 'tool_use', usage, body);
    const content = text === '' ? [] : [{ type: 'text', text }];
    return message(content, FINISHES[finish], usage, body);
  },
  reads(body) {
    const messages = objectsIn(body['messages']);
    const from = messages.findLastIndex(({ content }) => objectsIn(content).some(isCompaction));
    return from < 0 ? body : { ...body, messages: messages.slice(from).map(fromCompaction) };
  },
  compaction(summary, text, usage, body) {
    const block = { type: 'compaction', content: summary, encrypted_content: null };
    const isAlone = body['compaction'] !== undefined || pauses(body);
    const content = isAlone ? [block] : [block, { type: 'text', text }];
    return message(content, isAlone ? 'compaction' : 'end_turn', usage, body, [
      { type: 'compaction', ...counted({ ...usage, inputTokens: 9_000, outputTokens: 300 }) },
      ...(isAlone ? [] : [{ type: 'message', ...counted(usage) }]),
    ]);
  },
  call: (tool, args, usage, body, index) =>
    message([toolUse(tool, args, `_${index}`)], 'tool_use', usage, body),
  calls(text, calls, usage, body, index) {
    const said = text === '' ? [] : [{ type: 'text', text }];
    const uses = calls.map(({ tool, args }, i) => toolUse(tool, args, `_${index}_${i}`));
    return message([...said, ...uses], 'tool_use', usage, body);
  },
  error: (status, text) => ({
    type: 'error',
    error: { type: ERRORS[status] ?? 'api_error', message: text },
  }),
  stream: anthropicEvents,
  overflow: { status: 400, message: 'prompt is too long: 215012 tokens > 200000 maximum' },
};

function message(
  content: readonly JsonObject[],
  stopReason: string,
  usage: ProviderUsage,
  body: JsonObject,
  iterations?: readonly JsonObject[],
): JsonObject {
  return {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: body['model'],
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { ...counted(usage), ...(iterations === undefined ? {} : { iterations }) },
  };
}

function counted(usage: ProviderUsage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: 0,
  };
}

/** A block without content is a compaction that failed: nothing is dropped for it. */
function isCompaction({ type, content }: JsonObject): boolean {
  return type === 'compaction' && typeof content === 'string';
}

/** The message that holds a compaction, without what comes before it. */
function fromCompaction(wire: JsonObject): JsonObject {
  const blocks = objectsIn(wire['content']);
  const from = blocks.findLastIndex(isCompaction);
  return from < 0 ? wire : { ...wire, content: blocks.slice(from) };
}

function pauses({ context_management: managed }: JsonObject): boolean {
  const edits = isJsonObject(managed) ? objectsIn(managed['edits']) : [];
  return edits.some((edit) => edit['pause_after_compaction'] === true);
}

/** Clients that hold a model to a schema by a tool named `json` are answered by a call of it. */
function toolUse(name: string, input: JsonObject, mark: string = ''): JsonObject {
  return { type: 'tool_use', id: `toolu_${name}${mark}`, name, input };
}
