import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '@bobbin/core/internal';
import type { DialectName } from '@bobbin/testing';

/** What a client saw of one answer. */
export interface SeenAnswer {
  readonly text: string;
  /** The names of the tools that it must call. */
  readonly calls: readonly string[];
  readonly stop: unknown;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A program over an official client: it keeps its own list, as agents do. */
export interface ToolClient {
  readonly protocol: DialectName;
  readonly isStream: boolean;
  say(text: string): void;
  /** A call of the client's own tool in its list, with a result. */
  used(id: string, result: string): void;
  /** Asks the model, through another gateway if one is named. */
  ask(headers?: Record<string, string>, gateway?: string): Promise<SeenAnswer>;
  /** Offers one more tool. */
  offer(name: string): void;
  /** Takes another text for what the last answer said. */
  forget(text: string): void;
  /** Answers the calls of the last answer. */
  answer(result: string): void;
}

const MODEL = { openai: 'gpt-5', anthropic: 'claude-haiku-4-5' };
const PARAMETERS = { type: 'object' as const, properties: {} };

function chatTool(name: string): OpenAI.ChatCompletionFunctionTool {
  return { type: 'function', function: { name, parameters: PARAMETERS } };
}

function responsesTool(name: string): OpenAI.Responses.FunctionTool {
  return { type: 'function', name, parameters: PARAMETERS, strict: false };
}

function anthropicTool(name: string): Anthropic.Tool {
  return { name, input_schema: PARAMETERS };
}

export function chatClient(url: string, isStream: boolean): ToolClient {
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  const tools = [chatTool('read')];
  let open: readonly string[] = [];
  return {
    protocol: 'openai-chat',
    isStream,
    say: (content) => void messages.push({ role: 'user', content }),
    offer: (name) => void tools.push(chatTool(name)),
    forget: (content) => void messages.splice(-1, 1, { role: 'assistant', content }),
    used(id, content) {
      const called = { name: 'read', arguments: '{}' };
      messages.push(
        { role: 'assistant', tool_calls: [{ id, type: 'function', function: called }] },
        { role: 'tool', tool_call_id: id, content },
      );
    },
    async ask(headers = {}, gateway = url) {
      const client = new OpenAI({ apiKey: 'k', baseURL: `${gateway}/v1`, maxRetries: 0 });
      const request = { model: MODEL.openai, messages, tools };
      const usage = { stream_options: { include_usage: true } };
      const answer = isStream
        ? await client.chat.completions
            .stream({ ...request, ...usage }, { headers })
            .finalChatCompletion()
        : await client.chat.completions.create(request, { headers });
      const [choice] = answer.choices;
      const message = choice?.message as OpenAI.ChatCompletionMessage;
      messages.push(message);
      const calls = (message.tool_calls ?? []) as OpenAI.ChatCompletionMessageFunctionToolCall[];
      open = calls.map(({ id }) => id);
      return {
        text: message.content ?? '',
        calls: calls.map(({ function: called }) => called.name),
        stop: choice?.finish_reason,
        inputTokens: answer.usage?.prompt_tokens ?? 0,
        outputTokens: answer.usage?.completion_tokens ?? 0,
      };
    },
    answer(content) {
      for (const id of open) messages.push({ role: 'tool', tool_call_id: id, content });
    },
  };
}

export function responsesClient(url: string, isStream: boolean): ToolClient {
  const input: OpenAI.Responses.ResponseInputItem[] = [];
  const tools = [responsesTool('read')];
  let open: readonly string[] = [];
  return {
    protocol: 'openai-responses',
    isStream,
    say: (content) => void input.push({ role: 'user', content }),
    offer: (name) => void tools.push(responsesTool(name)),
    forget: (content) => void input.splice(-1, 1, { role: 'assistant', content }),
    used(id, output) {
      input.push(
        { type: 'function_call', call_id: id, name: 'read', arguments: '{}' },
        { type: 'function_call_output', call_id: id, output },
      );
    },
    async ask(headers = {}, gateway = url) {
      const client = new OpenAI({ apiKey: 'k', baseURL: `${gateway}/v1`, maxRetries: 0 });
      const request = { model: MODEL.openai, input, tools, store: false };
      const answer = isStream
        ? await client.responses.stream(request, { headers }).finalResponse()
        : await client.responses.create(request, { headers });
      const calls = answer.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      open = calls.map((item) => item.call_id);
      input.push(...(answer.output as OpenAI.Responses.ResponseInputItem[]));
      return {
        text: answer.output_text,
        calls: calls.map(({ name }) => name),
        stop: answer.status,
        inputTokens: answer.usage?.input_tokens ?? 0,
        outputTokens: answer.usage?.output_tokens ?? 0,
      };
    },
    answer(output) {
      for (const call_id of open) input.push({ type: 'function_call_output', call_id, output });
    },
  };
}

export function anthropicClient(url: string, isStream: boolean): ToolClient {
  const messages: Anthropic.MessageParam[] = [];
  const tools = [anthropicTool('read')];
  let open: readonly string[] = [];
  return {
    protocol: 'anthropic',
    isStream,
    say: (content) => void messages.push({ role: 'user', content }),
    offer: (name) => void tools.push(anthropicTool(name)),
    forget: (content) => void messages.splice(-1, 1, { role: 'assistant', content }),
    used(id, content) {
      messages.push(
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
      );
    },
    async ask(headers = {}, gateway = url) {
      const client = new Anthropic({ apiKey: 'k', baseURL: gateway, maxRetries: 0 });
      const request = { model: MODEL.anthropic, max_tokens: 500, tools, messages };
      const answer = isStream
        ? await client.messages.stream(request, { headers }).finalMessage()
        : await client.messages.create(request, { headers });
      messages.push({ role: 'assistant', content: answer.content });
      const calls = answer.content.filter((block) => block.type === 'tool_use');
      open = calls.map(({ id }) => id);
      const texts = answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
      return {
        text: texts.join('\n\n'),
        calls: calls.map(({ name }) => name),
        stop: answer.stop_reason,
        inputTokens: answer.usage.input_tokens,
        outputTokens: answer.usage.output_tokens,
      };
    },
    answer(content) {
      const results = open.map((tool_use_id) => ({
        type: 'tool_result' as const,
        tool_use_id,
        content,
      }));
      messages.push({ role: 'user', content: results });
    },
  };
}

/** The messages of a request that a provider got. */
export function messagesOf(body: JsonObject): readonly string[] {
  const list = (body['messages'] ?? body['input']) as readonly JsonObject[];
  return list.map((message) => JSON.stringify(withoutMarkers(message)));
}

function withoutMarkers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarkers);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== 'cache_control');
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutMarkers(inner)]));
}
