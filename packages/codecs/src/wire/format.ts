import { didYouMean, isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { DecodeError } from './decode-error.ts';
import type { Place } from './place.ts';

/** What a format is called, and how messages of it are read. */
const FORMATS = {
  'openai-chat': { title: 'OpenAI Chat Completions', use: '`openaiChat` of bobbin/openai' },
  'openai-responses': { title: 'OpenAI Responses', use: '`openaiResponses` of bobbin/openai' },
  anthropic: { title: 'Anthropic Messages', use: '`anthropic` of bobbin/anthropic' },
  'ai-sdk': { title: 'the AI SDK (ModelMessage)', use: '`aiSdk` of bobbin/ai-sdk' },
  'ai-sdk-ui': {
    title: 'the AI SDK (UIMessage)',
    use: '`convertToModelMessages` of `ai` first, then `aiSdk` of bobbin/ai-sdk',
  },
  gemini: { title: 'Gemini generateContent', use: '`gemini` of bobbin/gemini' },
  bedrock: { title: 'Bedrock Converse', use: '`bedrock` of bobbin/bedrock' },
  langchain: { title: 'LangChain', use: '`langchainMessages` of bobbin/langchain' },
} as const;

export type FormatName = keyof typeof FORMATS;

export interface MessageFormat {
  readonly name: FormatName;
  /** The format as people call it. */
  readonly title: string;
  /** What reads it. */
  readonly use: string;
}

/**
 * The format of a list of messages, by what is in it. Messages of nothing but text look alike in many formats: they
 * count as OpenAI Chat's. Undefined if nothing in the list is specific, and a message has no role that a format knows.
 */
export function detectFormat(messages: readonly unknown[]): MessageFormat | undefined {
  for (const message of messages) {
    const name = certainFormat(message) ?? likelyFormat(message);
    if (name !== undefined) return { name, ...FORMATS[name] };
  }
  const name = 'openai-chat';
  return messages.every(speaks) ? { name, ...FORMATS[name] } : undefined;
}

function speaks(message: unknown): boolean {
  return isJsonObject(message) && ROLES_OF['openai-chat'].some((role) => role === message['role']);
}

/**
 * Refuses a list that is certainly of another format than its codec's. A guess would lose what it cannot read.
 * @throws DecodeError that names the codec which reads it.
 */
export function refuseOtherFormats(places: readonly Place[], own: FormatName): void {
  for (const place of places) {
    const name = certainFormat(place.value);
    if (name !== undefined && name !== own) refuse(place, own, name);
  }
}

/**
 * Refuses a list whose messages have content, but not in the fields of a format that has its own.
 * @throws DecodeError that names the codec which probably reads it.
 */
export function refuseOtherFields(places: readonly Place[], own: 'gemini' | 'bedrock'): void {
  const strange = places.find(({ value }) => isJsonObject(value) && lacksParts(value, own));
  const likely = strange && detectFormat(places.map(({ value }) => value));
  if (likely !== undefined) refuse(strange as Place, own, likely.name);
}

function refuse({ path }: Place, own: FormatName, other: FormatName): never {
  const { title, use } = FORMATS[other];
  const expected = `must be a message of ${FORMATS[own].title}`;
  throw new DecodeError(path, `${expected}, is one of ${title}: use ${use}`);
}

function lacksParts({ content, parts }: JsonObject, own: 'gemini' | 'bedrock'): boolean {
  if (own === 'gemini') return content !== undefined && parts === undefined;
  return Array.isArray(content) ? content.some(isTyped) : typeof content === 'string';
}

function isTyped(block: unknown): boolean {
  return isJsonObject(block) && typeof block['type'] === 'string';
}

type RoledFormat = Exclude<FormatName, 'ai-sdk-ui' | 'langchain'>;

/** The roles of the formats in which a message has one. */
const ROLES_OF: Readonly<Record<RoledFormat, readonly string[]>> = {
  'openai-chat': ['system', 'developer', 'user', 'assistant', 'tool', 'function'],
  'openai-responses': ['system', 'developer', 'user', 'assistant'],
  anthropic: ['user', 'assistant', 'system'],
  'ai-sdk': ['system', 'user', 'assistant', 'tool'],
  gemini: ['user', 'model', 'function'],
  bedrock: ['user', 'assistant'],
};

/** Why messages are probably of another format than their codec's: a role that it lacks, or blocks of another one. */
export function mismatchOf(messages: readonly object[], own: RoledFormat): string | undefined {
  for (const message of messages) {
    if (!isJsonObject(message)) continue;
    const { role } = message;
    const roles = ROLES_OF[own];
    if (typeof role === 'string' && !roles.includes(role))
      return `${FORMATS[own].title} has no role ${JSON.stringify(role)}${didYouMean(role, roles)}: its message is sent as it is, and never compacted`;
    const likely = likelyFormat(message);
    if (likely !== undefined && likely !== own)
      return `a message looks like one of ${FORMATS[likely].title}, not of ${FORMATS[own].title}: use ${FORMATS[likely].use}`;
  }
  return undefined;
}

/** The format that a message can only be of. */
function certainFormat(message: unknown): FormatName | undefined {
  if (!isJsonObject(message)) return undefined;
  const { role, parts, content } = message;
  if (typeof message['toDict'] === 'function') return 'langchain';
  if (Array.isArray(parts) && content === undefined)
    return partsFormat(message, parts as readonly unknown[]);
  if (typeof role !== 'string') return typedFormat(message);
  if (Array.isArray(message['tool_calls']) || typeof message['tool_call_id'] === 'string')
    return 'openai-chat';
  if (!Array.isArray(content)) return undefined;
  for (const kind of kindsOf(content)) {
    if (kind === 'tool_use' || kind === 'tool_result') return 'anthropic';
    if (kind === 'tool-call' || kind === 'tool-result') return 'ai-sdk';
    if (BEDROCK_KIND.test(kind)) return 'bedrock';
  }
  return undefined;
}

const STORED_LANGCHAIN = new Set<unknown>(['human', 'ai', 'system', 'tool']);
const RESPONSES_TYPE = /(?:_call|_output|^reasoning|^item_reference|^compaction|^program)$/;

/** The format of an object without a role, by its type: LangChain's has two stored forms. */
function typedFormat({ lc, type, data }: JsonObject): FormatName | undefined {
  if (lc === 1 && type === 'constructor') return 'langchain';
  if (STORED_LANGCHAIN.has(type) && isJsonObject(data)) return 'langchain';
  return typeof type === 'string' && RESPONSES_TYPE.test(type) ? 'openai-responses' : undefined;
}

/** Gemini and the AI SDK's UI both have parts; only the latter's name their type. */
function partsFormat({ role }: JsonObject, parts: readonly unknown[]): FormatName | undefined {
  const [first] = parts;
  if (isJsonObject(first)) return typeof first['type'] === 'string' ? 'ai-sdk-ui' : 'gemini';
  return role === 'model' ? 'gemini' : undefined;
}

const BEDROCK_KIND =
  /^bedrock:(?:toolUse|toolResult|reasoningContent|cachePoint|guardContent|image|document|video|audio|text)$/;

/** The kinds of a message's blocks: their types, or for blocks without one the name of their only field. */
function kindsOf(blocks: readonly unknown[]): readonly string[] {
  return blocks.flatMap((block) => {
    if (!isJsonObject(block)) return [];
    if (typeof block['type'] === 'string') return [block['type']];
    const names = Object.keys(block);
    return names.length === 1 ? [`bedrock:${names[0]}`] : [];
  });
}

const ANTHROPIC_BLOCK =
  /^(?:thinking|redacted_thinking|image|document|compaction|.*_tool_(?:use|result))$/;
const AI_SDK_PART = /^(?:tool-.*|reasoning|reasoning-file|custom)$/;
const RESPONSES_PART = /^(?:input_text|output_text|input_image|input_file)$/;

/** The format that a message is most likely of. */
function likelyFormat(message: unknown): FormatName | undefined {
  if (!isJsonObject(message)) return undefined;
  const { type, content } = message;
  if (typeof type === 'string' && (type !== 'message' || !('stop_reason' in message)))
    return 'openai-responses';
  if ('function_call' in message) return 'openai-chat';
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : [];
  if (blocks.some((part) => isJsonObject(part) && part['type'] === 'image' && 'image' in part))
    return 'ai-sdk';
  for (const kind of kindsOf(blocks)) {
    if (ANTHROPIC_BLOCK.test(kind)) return 'anthropic';
    if (AI_SDK_PART.test(kind)) return 'ai-sdk';
    if (RESPONSES_PART.test(kind)) return 'openai-responses';
    if (kind === 'image_url' || kind === 'input_audio') return 'openai-chat';
  }
  return undefined;
}
