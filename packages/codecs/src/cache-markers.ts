import type { Codec, Prompt } from '@bobbin/core';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  lastIndex,
  reversed,
} from '@bobbin/core/internal';
import { aiSdk } from './ai-sdk/ai-sdk.ts';
import { anthropic } from './anthropic/anthropic.ts';
import { bedrock } from './bedrock/bedrock.ts';
import { openaiChat } from './openai/chat.ts';
import { openaiResponses } from './openai/responses.ts';

/** How many markers a request may hold, those of the host included. */
const MOST_MARKERS = 4;

/** A request to the Messages API with `cache_control` at the cache points of the prompt that its messages are. */
export function anthropicCacheMarkers<Request extends { readonly messages: readonly object[] }>(
  request: Request,
  prompt: Prompt,
): Request {
  const { tools, system, cache_control: automatic } = request as unknown as JsonObject;
  const own = [tools, system, automatic && [{ cache_control: automatic }]].flatMap(markersIn);
  const inMessages = request.messages.map((message) =>
    markersIn((message as JsonObject)['content']),
  );
  const free = MOST_MARKERS - own.length - inMessages.flat().length;
  // One that lives for an hour may not follow one that lives for five minutes.
  const lastLong = lastIndex(inMessages, (markers) => markers.some(({ ttl }) => ttl === '1h'));
  const mark: Mark = (message, blocks, i) => {
    const marker = { type: 'ephemeral', ...(i <= lastLong ? { ttl: '1h' } : {}) };
    return markBlock(message, 'content', blocks, ['cache_control', marker], isCacheable);
  };
  return { ...request, messages: marked(request.messages, anthropic, prompt, free, mark) };
}

/** A request to the Converse API with `cachePoint` blocks at the cache points of the prompt that its messages are. */
export function bedrockCacheMarkers<
  Request extends { readonly messages?: readonly object[] | undefined },
>(request: Request, prompt: Prompt): Request {
  const { system, toolConfig } = request as unknown as JsonObject;
  const messages = request.messages ?? [];
  const tools = isJsonObject(toolConfig) ? toolConfig['tools'] : undefined;
  const inMessages = messages.map((message) => (message as JsonObject)['content']);
  const own = [tools, system, ...inMessages].flatMap(cachePointsIn);
  const free = MOST_MARKERS - own.length;
  return { ...request, messages: marked(messages, bedrock, prompt, free, markCachePoint) };
}

/** A point goes after blocks that are not reasoning. */
const markCachePoint: Mark = (message, blocks) => {
  const content = Array.isArray(message['content']) ? (message['content'] as JsonObject[]) : [];
  for (let i = Math.min(blocks, content.length) - 1; i >= 0; i--) {
    const block = content[i] as JsonObject;
    if (block['cachePoint'] !== undefined) return message;
    if (block['reasoningContent'] !== undefined) continue;
    const point = { cachePoint: { type: 'default' } };
    return { ...message, content: [...content.slice(0, i + 1), point, ...content.slice(i + 1)] };
  }
  return undefined;
};

function cachePointsIn(value: unknown): readonly unknown[] {
  const blocks: readonly unknown[] = Array.isArray(value) ? value : [];
  return blocks.filter((block) => isJsonObject(block) && block['cachePoint'] !== undefined);
}

export interface OpenAICacheOptions {
  /** Requests of one conversation share it, so that they meet the same cache: the thread's id, say. */
  readonly key: string;
  /** How many breakpoints the model takes: none before GPT-5.6. */
  readonly markers: number;
}

/** A request to Chat Completions or Responses with a cache key and, if the model takes them, breakpoints. */
export function openaiCacheMarkers<Request extends object>(
  request: Request,
  prompt: Prompt,
  { key, markers }: OpenAICacheOptions,
): Request {
  const { messages, input, prompt_cache_key: own } = request as unknown as JsonObject;
  const [field, codec, wire] = Array.isArray(messages)
    ? (['messages', openaiChat, messages as readonly object[]] as const)
    : ([
        'input',
        openaiResponses,
        Array.isArray(input) ? (input as readonly object[]) : [],
      ] as const);
  const free = markers - wire.flatMap((item) => breakpointsIn(item as JsonObject)).length;
  const list = free <= 0 ? wire : marked(wire, codec, prompt, free, markBreakpoint);
  return {
    ...request,
    prompt_cache_key: own ?? key,
    ...(wire.length === 0 ? {} : { [field]: list }),
  };
}

/**
 * `ModelMessage`s with Anthropic's marker in their provider options, which other providers do not read. `beside` are the
 * tools and system messages of the request, which may hold markers too.
 */
export function aiSdkCacheMarkers<Wire extends object>(
  messages: readonly Wire[],
  prompt: Prompt,
  beside: readonly object[] = [],
): readonly Wire[] {
  const own = [...beside, ...messages].map((each) => optionsIn(each as JsonObject));
  const free = MOST_MARKERS - own.reduce((sum, count) => sum + count, 0);
  return marked(messages, aiSdk, prompt, free, (message) => {
    if (optionsIn(message) > 0) return message;
    const options = isJsonObject(message['providerOptions']) ? message['providerOptions'] : {};
    const provider = isJsonObject(options['anthropic']) ? options['anthropic'] : {};
    const now = { ...provider, cacheControl: { type: 'ephemeral' } };
    return { ...message, providerOptions: { ...options, anthropic: now } };
  });
}

/**
 * Marks the end of so many blocks of a message. Returns the same message if that is marked already, undefined if there
 * is nothing to mark.
 */
type Mark = (message: JsonObject, blocks: number, position: number) => JsonObject | undefined;

/** Marks the cache points, the longest prefix first, while some are free. */
function marked<Wire extends object>(
  wire: readonly Wire[],
  codec: Codec<object>,
  prompt: Prompt,
  free: number,
  mark: Mark,
): readonly Wire[] {
  const list = [...wire] as unknown as JsonObject[];
  const shown = prompt.messages.map(({ message }) => message);
  let left = free;
  for (const point of reversed(prompt.cachePoints)) {
    const prefix = codec.encode(shown.slice(0, point + 1));
    if (left > 0) left -= markEnd(list, prefix as readonly JsonObject[], mark);
  }
  return list as unknown as readonly Wire[];
}

/** Marks the end of a prefix, or the nearest place before it. Returns how many markers that took. */
function markEnd(list: JsonObject[], prefix: readonly JsonObject[], mark: Mark): number {
  const end = Math.min(prefix.length, list.length) - 1;
  for (let i = end; i >= 0; i--) {
    const content = i === end ? prefix[i]?.['content'] : undefined;
    const blocks = Array.isArray(content) ? content.length : Number.POSITIVE_INFINITY;
    const message = list[i] as JsonObject;
    const now = mark(message, blocks, i);
    if (now === undefined) continue;
    list[i] = now;
    return now === message ? 0 : 1;
  }
  return 0;
}

function markBlock(
  message: JsonObject,
  field: string,
  blocks: number,
  [name, marker]: readonly [string, Json],
  canHold: (block: JsonObject) => boolean,
  textType = 'text',
): JsonObject | undefined {
  const content = message[field];
  const list = (
    typeof content === 'string' ? [{ type: textType, text: content }] : (content ?? [])
  ) as readonly JsonObject[];
  const at = lastIndex(list, (each, i) => i < blocks && canHold(each));
  const block = list[at];
  if (block === undefined) return undefined;
  if (isJsonObject(block[name])) return message;
  const now = { ...block, [name]: marker };
  return { ...message, [field]: [...list.slice(0, at), now, ...list.slice(at + 1)] };
}

const THINKING = new Set<unknown>(['thinking', 'redacted_thinking']);

function isCacheable({ type, text }: JsonObject): boolean {
  return !THINKING.has(type) && text !== '';
}

/** The host's markers in tools, system or a message's content, those in tool results included. */
function markersIn(value: unknown): readonly JsonObject[] {
  const markers: JsonObject[] = [];
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const list = rest.pop();
    for (const block of Array.isArray(list) ? (list as readonly unknown[]) : []) {
      if (!isJsonObject(block)) continue;
      const { cache_control: own, content } = block;
      if (isJsonObject(own)) markers.push(own);
      rest.push(content);
    }
  }
  return markers;
}

const BREAKPOINT = ['prompt_cache_breakpoint', { mode: 'explicit' }] as const;
const BREAKABLE = new Set<unknown>([
  'text',
  'image_url',
  'input_audio',
  'file',
  'input_text',
  'input_image',
  'input_file',
]);

function isBreakable({ type, text }: JsonObject): boolean {
  return BREAKABLE.has(type) && text !== '';
}

/** Items of the Responses API have no breakpoints in what the model said. */
const markBreakpoint: Mark = (message, blocks) => {
  const { type, role } = message;
  if (typeof message['output'] === 'string' || Array.isArray(message['output']))
    return markBlock(message, 'output', Infinity, BREAKPOINT, isBreakable, 'input_text');
  if (type === 'message' && role === 'assistant') return undefined;
  const textType = type === 'message' ? 'input_text' : 'text';
  return markBlock(message, 'content', blocks, BREAKPOINT, isBreakable, textType);
};

function breakpointsIn({ content, output }: JsonObject): readonly unknown[] {
  return [content, output].flatMap((list) => {
    const blocks: readonly unknown[] = Array.isArray(list) ? list : [];
    return blocks.filter((block) => isJsonObject(block) && block[BREAKPOINT[0]] !== undefined);
  });
}

/** How many markers of the host a message, a tool or a part holds, its own parts included. */
function optionsIn(message: JsonObject): number {
  const { content } = message;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return [message, ...parts].filter((each) => isJsonObject(each) && isMarked(each)).length;
}

function isMarked({ providerOptions }: JsonObject): boolean {
  const options = isJsonObject(providerOptions) ? Object.values(providerOptions) : [];
  return options.some(
    (each) => isJsonObject(each) && (each['cacheControl'] ?? each['cachePoint']) !== undefined,
  );
}
