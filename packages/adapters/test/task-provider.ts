import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  anthropicProblems,
  openaiChatProblems,
  openaiResponsesProblems,
  signThinking,
  type AnthropicRequest,
} from '@bobbin/codecs';
import { isJsonObject, parseJson, type Json, type JsonObject } from '@bobbin/core';
import type { StepArguments, Task } from './task.ts';

export type Dialect = 'openai-chat' | 'openai-responses' | 'anthropic';

export interface TaskProvider {
  readonly url: string;
  /** The size of every request that was answered, in order. */
  readonly sizes: readonly number[];
  /** Why requests were refused. */
  readonly faults: readonly string[];
  /** How often a request was smaller than the one before: the prompt was compacted. */
  readonly shrunk: number;
  readonly close: () => Promise<void>;
}

/** How one provider takes a request and answers it. */
interface Speech {
  readonly path: string;
  problems(body: JsonObject): readonly string[];
  call(id: string, args: StepArguments, body: JsonObject): JsonObject;
  text(text: string, body: JsonObject): JsonObject;
  usage(inputTokens: number): JsonObject;
  error(message: string): JsonObject;
  tooLong(tokens: number, limit: number): string;
}

/**
 * A provider on loopback whose model works at a task: it reads nothing but the request. It refuses whatever the real
 * one would: separated pairs, wrong order, thinking that was signed for another conversation, and prompts larger than
 * its window by its own tokenizer, which no client knows.
 */
export async function taskProvider(
  dialect: Dialect,
  task: Task,
  windowTokens: number = 16_000,
): Promise<TaskProvider> {
  const speech = SPEECHES[dialect];
  const sizes: number[] = [];
  const faults: string[] = [];
  const answer = (body: JsonObject): [status: number, JsonObject] => {
    const problems = speech.problems(body);
    const tokens = tokensIn(body);
    const fault =
      problems[0] ?? (tokens > windowTokens ? speech.tooLong(tokens, windowTokens) : undefined);
    if (fault !== undefined) {
      faults.push(`request ${sizes.length + faults.length + 1}: ${fault}`);
      return [400, speech.error(fault)];
    }
    sizes.push(tokens);
    const next = task.next(textsIn(body).join('\n'));
    const said =
      typeof next === 'string'
        ? speech.text(next, body)
        : speech.call(`call_${sizes.length}`, next, body);
    const id = `answer_${sizes.length}`;
    return [200, { ...said, id, model: body['model'] ?? 'scripted', ...speech.usage(tokens) }];
  };
  const server = createServer((incoming, outgoing) => {
    void read(incoming).then((body) => {
      const isKnown = incoming.url === speech.path && isJsonObject(body);
      const [status, reply] = isKnown ? answer(body) : [404, speech.error(`no ${incoming.url}`)];
      if (status === 200 && isKnown && body['stream'] === true)
        return outgoing
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(streamed(reply));
      outgoing.writeHead(status, { 'content-type': 'application/json' });
      return outgoing.end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    sizes,
    faults,
    get shrunk() {
      return sizes.filter((size, i) => size < (sizes[i - 1] ?? 0)).length;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function read(incoming: IncomingMessage): Promise<Json | undefined> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return parseJson(Buffer.concat(pieces).toString('utf8'));
}

/** The provider's own tokens: everything in the request counts, tools and field names included. */
function tokensIn(body: JsonObject): number {
  const { messages, input, system, instructions, tools } = body;
  const counted = JSON.stringify([messages, input, system, instructions, tools]);
  return Math.ceil(Buffer.byteLength(counted) / 3.1);
}

const SPEECHES: Readonly<Record<Dialect, Speech>> = {
  'openai-chat': {
    path: '/v1/chat/completions',
    problems: ({ messages }) => openaiChatProblems(objectsIn(messages)),
    call: (id, args) =>
      chatChoice({ content: null, tool_calls: [chatCall(id, args)] }, 'tool_calls'),
    text: (content) => chatChoice({ content }, 'stop'),
    usage: (prompt) => ({
      usage: { prompt_tokens: prompt, completion_tokens: 40, total_tokens: prompt + 40 },
    }),
    error: (message) => openaiError(message),
    tooLong: openaiTooLong,
  },
  'openai-responses': {
    path: '/v1/responses',
    problems: ({ input }) => openaiResponsesProblems(objectsIn(input)),
    call: (id, args) => response([responseCall(id, args)]),
    text: (text) => response([responseText(text)]),
    usage: (input) => ({
      usage: {
        input_tokens: input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 40,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: input + 40,
      },
    }),
    error: (message) => openaiError(message),
    tooLong: openaiTooLong,
  },
  anthropic: {
    path: '/v1/messages',
    problems: (body) => anthropicProblems(anthropicRequest(body)),
    call: (id, args, body) => {
      const signature = signThinking(anthropicRequest(body));
      return anthropicMessage('tool_use', [
        { type: 'thinking', thinking: `step ${args.step} is next`, signature },
        { type: 'tool_use', id, name: 'run_step', input: args },
      ]);
    },
    text: (text) => anthropicMessage('end_turn', [{ type: 'text', text }]),
    usage: (input) => ({
      usage: {
        input_tokens: input,
        output_tokens: 40,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    }),
    error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
    tooLong: (tokens, limit) => `prompt is too long: ${tokens} tokens > ${limit} maximum`,
  },
};

function anthropicRequest(body: JsonObject): AnthropicRequest {
  return { ...body, messages: objectsIn(body['messages']) };
}

/** An answer of Chat Completions as a stream: all at once, then how it ended, then what it cost. */
function streamed({ choices, usage, ...rest }: JsonObject): string {
  const [{ message, finish_reason: finish } = {}] = objectsIn(choices);
  const { tool_calls: calls, ...said } = isJsonObject(message) ? message : {};
  const indexed = objectsIn(calls).map((call, index) => ({ index, ...call }));
  const delta = indexed.length === 0 ? said : { ...said, tool_calls: indexed };
  const events = [
    { choices: [{ index: 0, delta, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { choices: [], usage },
  ];
  const object = 'chat.completion.chunk';
  const lines = events.map((event) => `data: ${JSON.stringify({ ...rest, object, ...event })}`);
  return [...lines, 'data: [DONE]', ''].join('\n\n');
}

function chatCall(id: string, args: StepArguments): JsonObject {
  return { id, type: 'function', function: { name: 'run_step', arguments: JSON.stringify(args) } };
}

function chatChoice(message: JsonObject, finish: string): JsonObject {
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: finish };
  return { object: 'chat.completion', created: 0, choices: [choice] };
}

function response(output: readonly JsonObject[]): JsonObject {
  return { object: 'response', created_at: 0, status: 'completed', output };
}

function responseCall(id: string, args: StepArguments): JsonObject {
  return {
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name: 'run_step',
    arguments: JSON.stringify(args),
    status: 'completed',
  };
}

function responseText(text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
}

function anthropicMessage(stop: string, content: readonly JsonObject[]): JsonObject {
  return {
    type: 'message',
    role: 'assistant',
    stop_reason: stop,
    stop_sequence: null,
    content,
  };
}

function openaiError(message: string): JsonObject {
  const code = message.includes('maximum context length') ? 'context_length_exceeded' : null;
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}

function openaiTooLong(tokens: number, limit: number): string {
  return `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`;
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item: Json) => (isJsonObject(item) ? item : {})) : [];
}

function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (value === null || typeof value !== 'object') return [];
  return (Array.isArray(value) ? value : Object.values(value as JsonObject)).flatMap(textsIn);
}
