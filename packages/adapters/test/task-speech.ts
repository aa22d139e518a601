import {
  anthropicProblems,
  openaiChatProblems,
  openaiResponsesProblems,
  signThinking,
  type AnthropicRequest,
} from '@bobbin/codecs';
import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';
import type { StepArguments } from './task.ts';

export type Dialect = 'openai-chat' | 'openai-responses' | 'anthropic';

/** What the model says: what it thinks, and then what it calls, or its last word. */
export interface Said {
  /** Different for each answer; everything that it names is named by it. */
  readonly id: string;
  readonly thought: string;
  readonly calls: readonly StepArguments[];
  readonly text: string;
}

/** How one provider takes a request and answers it. */
export interface Speech {
  readonly path: string;
  /** What of a request is the conversation, in order. */
  messages(body: JsonObject): readonly JsonObject[];
  problems(body: JsonObject): readonly string[];
  /** The ids of all calls in the conversation, and how many thoughts are in it. */
  calls(messages: readonly JsonObject[]): readonly (Json | undefined)[];
  thoughts(messages: readonly JsonObject[]): number;
  answer(said: Said, body: JsonObject): JsonObject;
  usage(inputTokens: number): JsonObject;
  /** An answer as a stream of events. */
  events(answer: JsonObject): readonly JsonObject[];
  error(message: string): JsonObject;
  tooLong(tokens: number, limit: number): string;
}

/** The id of a call in an answer. */
function callId({ id }: Said, index: number): string {
  return index === 0 ? `call_${id}` : `call_${id}_${index}`;
}

const chat: Speech = {
  path: '/v1/chat/completions',
  messages: ({ messages }) => objectsIn(messages),
  problems: ({ messages }) => openaiChatProblems(objectsIn(messages)),
  calls: (messages) =>
    messages.flatMap(({ tool_calls: calls }) => objectsIn(calls).map(({ id }) => id)),
  thoughts: () => 0,
  answer(said) {
    const calls = said.calls.map((args, i) => ({
      id: callId(said, i),
      type: 'function',
      function: { name: 'run_step', arguments: JSON.stringify(args) },
    }));
    const message =
      calls.length > 0 ? { content: null, tool_calls: calls } : { content: said.text };
    const finish = calls.length > 0 ? 'tool_calls' : 'stop';
    const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: finish };
    return { object: 'chat.completion', created: 0, choices: [choice] };
  },
  usage: (prompt) => ({
    usage: { prompt_tokens: prompt, completion_tokens: 40, total_tokens: prompt + 40 },
  }),
  events({ choices, usage, ...rest }) {
    const [{ message, finish_reason: finish } = {}] = objectsIn(choices);
    const { tool_calls: calls, ...said } = isJsonObject(message) ? message : {};
    const indexed = objectsIn(calls).map((call, index) => ({ index, ...call }));
    const delta = indexed.length === 0 ? said : { ...said, tool_calls: indexed };
    const object = 'chat.completion.chunk';
    return [
      { ...rest, object, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...rest, object, choices: [{ index: 0, delta: {}, finish_reason: finish ?? null }] },
      { ...rest, object, choices: [], usage: usage ?? null },
    ];
  },
  error: (message) => openaiError(message),
  tooLong: openaiTooLong,
};

const responses: Speech = {
  path: '/v1/responses',
  messages: ({ input }) => objectsIn(input),
  problems: ({ input }) => openaiResponsesProblems(objectsIn(input)),
  calls: (items) =>
    items.flatMap(({ type, call_id: id }) => (type === 'function_call' ? [id] : [])),
  thoughts: (items) => items.filter(({ type }) => type === 'reasoning').length,
  answer(said) {
    const status = 'completed';
    const thought = {
      type: 'reasoning',
      id: `rs_${said.id}`,
      summary: [{ type: 'summary_text', text: said.thought }],
      encrypted_content: `sealed ${said.id}`,
    };
    const calls = said.calls.map((args, i) => ({
      type: 'function_call',
      id: `fc_${callId(said, i)}`,
      call_id: callId(said, i),
      name: 'run_step',
      arguments: JSON.stringify(args),
      status,
    }));
    const content = [{ type: 'output_text', text: said.text, annotations: [] }];
    const text = { type: 'message', id: `msg_${said.id}`, role: 'assistant', status, content };
    const output = [thought, ...(calls.length > 0 ? calls : [text])];
    return { object: 'response', created_at: 0, status, output };
  },
  usage: (input) => ({
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 40,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + 40,
    },
  }),
  events(answer) {
    const events = [
      { type: 'response.created', response: { ...answer, status: 'in_progress', output: [] } },
      ...objectsIn(answer['output']).flatMap(itemEvents),
      { type: 'response.completed', response: answer },
    ];
    return events.map((event, i) => ({ ...event, sequence_number: i }));
  },
  error: (message) => openaiError(message),
  tooLong: openaiTooLong,
};

function itemEvents(item: JsonObject, index: number): readonly JsonObject[] {
  const { id: itemId = null, arguments: args = null, content = null } = item;
  const at = { item_id: itemId, output_index: index };
  const [{ text = null } = {}] = objectsIn(content);
  const said = { type: 'response.output_text.delta', ...at, content_index: 0, delta: text };
  const called = { type: 'response.function_call_arguments.delta', ...at, delta: args };
  const empty = {
    ...item,
    ...(args === null ? {} : { arguments: '' }),
    ...(content === null ? {} : { content: [] }),
  };
  return [
    { type: 'response.output_item.added', output_index: index, item: empty },
    ...(text === null ? [] : [said]),
    ...(args === null ? [] : [called]),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

const THINKING = new Set<unknown>(['thinking', 'redacted_thinking']);

const anthropic: Speech = {
  path: '/v1/messages',
  messages: ({ messages }) => objectsIn(messages),
  problems: (body) => anthropicProblems(anthropicRequest(body)),
  calls: (messages) =>
    blocksOf(messages).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : [])),
  thoughts: (messages) => blocksOf(messages).filter(({ type }) => THINKING.has(type)).length,
  answer(said, body) {
    const signature = signThinking(anthropicRequest(body));
    const calls = said.calls.map((args, i) => ({
      type: 'tool_use',
      id: callId(said, i),
      name: 'run_step',
      input: args,
    }));
    return {
      type: 'message',
      role: 'assistant',
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      content: [
        { type: 'thinking', thinking: said.thought, signature },
        ...(calls.length > 0 ? calls : [{ type: 'text', text: said.text }]),
      ],
    };
  },
  usage: (input) => ({
    usage: {
      input_tokens: input,
      output_tokens: 40,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  }),
  events(answer) {
    const { content = null, stop_reason: reason = null, usage = null } = answer;
    return [
      { type: 'message_start', message: { ...answer, content: [], stop_reason: null } },
      ...objectsIn(content).flatMap(blockEvents),
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
  },
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  tooLong: (tokens, limit) => `prompt is too long: ${tokens} tokens > ${limit} maximum`,
};

function blockEvents(block: JsonObject, index: number): readonly JsonObject[] {
  const { type = null, thinking = '', signature = '', text = '', input = {} } = block;
  const [empty, ...deltas]: readonly JsonObject[] =
    type === 'thinking'
      ? [
          { type, thinking: '' },
          { type: 'thinking_delta', thinking },
          { type: 'signature_delta', signature },
        ]
      : type === 'text'
        ? [
            { type, text: '' },
            { type: 'text_delta', text },
          ]
        : [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(input) },
          ];
  return [
    { type: 'content_block_start', index, content_block: empty ?? {} },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

export const SPEECHES: Readonly<Record<Dialect, Speech>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  anthropic,
};

function anthropicRequest(body: JsonObject): AnthropicRequest {
  return { ...body, messages: objectsIn(body['messages']) };
}

function blocksOf(messages: readonly JsonObject[]): readonly JsonObject[] {
  return messages.flatMap(({ content }) => objectsIn(content));
}

function openaiError(message: string): JsonObject {
  const code = message.includes('maximum context length') ? 'context_length_exceeded' : null;
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}

function openaiTooLong(tokens: number, limit: number): string {
  return `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`;
}

export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item: Json) => (isJsonObject(item) ? item : {})) : [];
}
