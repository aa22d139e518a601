import {
  textOf,
  type CallPart,
  type Codec,
  type Message,
  type OpaquePart,
  type Part,
  type ReasoningPart,
  type ResultPart,
  type Role,
} from '@bobbin/core';
import { OPENAI_RULES, type ContentPart, type Json, type JsonObject } from '@bobbin/core/internal';
import { dataUrl, mediaTypeField, parseDataUrl } from '../wire/data-url.ts';
import { mismatchOf, refuseOtherFormats } from '../wire/format.ts';
import { KnownCalls } from '../wire/known-calls.ts';
import { lasting, leftover, Place } from '../wire/place.ts';
import { resultsAfterCalls } from '../wire/results-after-calls.ts';
import { serverToolsAsText } from '../wire/server-tool.ts';
import { responseUsage } from '../response-usage.ts';
import { CHAT_TOOLS, type ChatTool, type ChatToolResult } from '../tools.ts';

// The wire types name what the codec reads; they take and give what OpenAI's own types describe, and other fields pass.

export type ChatContentPart =
  | { type: 'text'; text: string }
  | { type: 'refusal'; refusal: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } }
  | { type: 'file'; file: { file_data?: string; file_id?: string; filename?: string } };

export type ChatToolCall =
  | { id: string; type: 'function'; function: { name: string; arguments: string } }
  | { id: string; type: 'custom'; custom: { name: string; input: string } };

type ChatText = { type: 'text'; text: string };

export interface ChatSystemMessage {
  role: 'system' | 'developer';
  content: string | ChatText[];
  name?: string;
}

export interface ChatUserMessage {
  role: 'user';
  content: string | Exclude<ChatContentPart, { type: 'refusal' }>[];
  name?: string;
}

export interface ChatAssistantMessage {
  role: 'assistant';
  content?: string | (ChatText | { type: 'refusal'; refusal: string })[] | null;
  tool_calls?: ChatToolCall[];
  refusal?: string | null;
  name?: string;
  /** Before there were tool calls. */
  function_call?: { name: string; arguments: string } | null;
  /** What compatible servers call the model's thoughts. */
  reasoning_content?: string | null;
}

export interface ChatToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string | ChatText[];
}

/** The answer to a `function_call`. */
export interface ChatFunctionMessage {
  role: 'function';
  name: string;
  content: string | null;
}

export type ChatMessage =
  | ChatSystemMessage
  | ChatUserMessage
  | ChatAssistantMessage
  | ChatToolMessage
  | ChatFunctionMessage;

/** OpenAI Chat Completions: the `messages` of a request. */
export const openaiChat: Codec<ChatMessage, ChatTool, ChatToolResult> = {
  name: 'openai-chat',
  rules: OPENAI_RULES,
  decode(wire, before) {
    const calls = new KnownCalls(before);
    const places = new Place('messages', wire).list();
    refuseOtherFormats(places, 'openai-chat');
    return places.map((place) => decodeMessage(place, calls));
  },
  encode: (messages) => resultsAfterCalls(messages).flatMap(encodeMessage),
  tools: CHAT_TOOLS,
  mismatch: (wire) => mismatchOf(wire, 'openai-chat'),
  usage: (response) => responseUsage(response)?.usage,
};

function decodeMessage(place: Place, calls: KnownCalls): Message {
  const wire = place.object();
  const known = ROLES.get(place.at('role').text());
  // A role that is not known is carried as a system message is: in its place.
  if (known === undefined)
    return {
      role: 'system',
      parts: [{ kind: 'opaque', type: 'message', value: lasting(wire) }],
      original: wire,
    };
  const { role, fields } = known;
  const unread = leftover(wire, fields);
  const parts = known.parts(place, calls);
  const extra = { ...unread, ...customCalls(wire) };
  return Object.keys(extra).length === 0
    ? { role, parts, original: wire }
    : { role, parts, extra, original: wire };
}

interface RoleShape {
  readonly role: Role;
  /** The fields that become parts. */
  readonly fields: ReadonlySet<string>;
  readonly parts: (place: Place, calls: KnownCalls) => readonly Part[];
}

const system: RoleShape = {
  role: 'system',
  fields: new Set(['role', 'content']),
  parts: decodeContent,
};

const ROLES: ReadonlyMap<string, RoleShape> = new Map(
  Object.entries({
    system,
    developer: { ...system, fields: new Set(['content']) },
    user: { ...system, role: 'user' },
    assistant: {
      role: 'assistant',
      fields: new Set([
        'role',
        'content',
        'refusal',
        'tool_calls',
        'function_call',
        'reasoning_content',
        'reasoning',
        'reasoning_details',
      ]),
      parts: decodeAssistant,
    },
    tool: {
      role: 'tool',
      fields: new Set(['role', 'content', 'tool_call_id']),
      parts: decodeResult,
    },
    function: {
      role: 'tool',
      fields: new Set(['role', 'content', 'name']),
      parts: (place) => [
        {
          kind: 'result',
          callId: legacyId(place.at('name').text()),
          tool: place.at('name').text(),
          content: decodeContent(place),
        },
      ],
    },
  }),
);

/** A call part does not distinguish custom calls from functions: they are named in `extra`. */
function customCalls({ tool_calls: calls }: JsonObject): JsonObject {
  const custom = Array.isArray(calls)
    ? (calls as readonly JsonObject[]).filter(({ type }) => type === 'custom')
    : [];
  return custom.length === 0 ? {} : { [CUSTOM_CALLS]: custom.map(({ id }) => id as Json) };
}

const CUSTOM_CALLS = 'custom_calls';
const LEGACY = 'function_call:';

/** Functions have no call ids: a call and its answer share the name. */
function legacyId(name: string): string {
  return LEGACY + name;
}

function decodeAssistant(place: Place, calls: KnownCalls): readonly Part[] {
  const parts: Part[] = [...decodeReasoning(place), ...decodeContent(place)];
  const refusal = place.at('refusal').optionalText();
  if (refusal !== undefined) parts.push({ kind: 'text', text: refusal });
  if (place.has('tool_calls'))
    for (const call of place.at('tool_calls').list()) parts.push(...decodeCall(call));
  if (place.has('function_call')) {
    const call = place.at('function_call');
    const tool = call.at('name').text();
    const args = call.at('arguments').text();
    parts.push({ kind: 'call', callId: legacyId(tool), tool, args });
  }
  for (const part of parts) if (part.kind === 'call') calls.tools.set(part.callId, part.tool);
  return parts;
}

function decodeContent(message: Place): readonly ContentPart[] {
  return contentParts(message.at('content'), decodePart);
}

/** The content of a message in both of OpenAI's formats: absent, a string or a list of parts. */
export function contentParts(
  place: Place,
  decode: (part: Place) => ContentPart,
): readonly ContentPart[] {
  if (place.value === undefined || place.value === null || place.value === '') return [];
  if (typeof place.value === 'string') return [{ kind: 'text', text: place.value }];
  if (!Array.isArray(place.value)) return place.fail('must be a string or a list of parts');
  return place.list().map(decode);
}

function decodePart(place: Place): ContentPart {
  const wire = place.object();
  const type = place.at('type').text();
  switch (type) {
    case 'text':
      return { kind: 'text', text: place.at('text').text() };
    case 'refusal':
      return { kind: 'text', text: place.at('refusal').text() };
    case 'image_url': {
      const source = place.at('image_url').at('url').text();
      return { kind: 'image', source, ...mediaTypeField(source) };
    }
    case 'input_audio': {
      const audio = place.at('input_audio');
      const mediaType = `audio/${audio.at('format').text()}`;
      return { kind: 'file', source: dataUrl(mediaType, audio.at('data').text()), mediaType };
    }
    case 'file':
      return decodeFile(place.at('file'));
    default:
      return { kind: 'opaque', type, value: lasting(wire) };
  }
}

function decodeFile(file: Place): ContentPart {
  const source = file.at('file_data').optionalText() ?? file.at('file_id').optionalText();
  if (source === undefined) return file.fail('must have file_data or file_id');
  const name = file.at('filename').optionalText();
  return {
    kind: 'file',
    source,
    ...(name === undefined ? {} : { name }),
    ...mediaTypeField(source),
  };
}

/** Thoughts as compatible servers send them: one text, or OpenRouter's list of details, which repeats the text. */
function decodeReasoning(place: Place): readonly ReasoningPart[] {
  if (place.has('reasoning_details'))
    return place.at('reasoning_details').list().map(decodeReasoningDetail);
  const text =
    place.at('reasoning_content').optionalText() ?? place.at('reasoning').optionalText() ?? '';
  return text === '' ? [] : [{ kind: 'reasoning', text }];
}

function decodeReasoningDetail(place: Place): ReasoningPart {
  const text = place.at('text').optionalText() ?? place.at('summary').optionalText() ?? '';
  const signature = place.at('signature').optionalText() ?? place.at('data').optionalText();
  return signature === undefined
    ? { kind: 'reasoning', text }
    : { kind: 'reasoning', text, signature };
}

function decodeCall(place: Place): readonly Part[] {
  const callId = place.at('id').text();
  const type = place.at('type').optionalText() ?? 'function';
  switch (type) {
    case 'function': {
      const call = place.at('function');
      const [tool, args] = [call.at('name').text(), call.at('arguments').text()];
      return [{ kind: 'call', callId, tool, args }];
    }
    case 'custom': {
      const call = place.at('custom');
      const [tool, args] = [call.at('name').text(), call.at('input').text()];
      return [{ kind: 'call', callId, tool, args }];
    }
    default:
      // A kind of call that is not known still has its result: both stay where they are.
      return [
        { kind: 'call', callId, tool: type, args: '' },
        { kind: 'opaque', type: UNKNOWN_CALL, value: place.json() },
      ];
  }
}

const UNKNOWN_CALL = 'tool_call';

function decodeResult(place: Place, calls: KnownCalls): readonly Part[] {
  const callId = place.at('tool_call_id').text();
  const content = decodeContent(place);
  return [{ kind: 'result', callId, ...calls.field(callId), content }];
}

function encodeMessage(message: Message): readonly ChatMessage[] {
  if (message.original !== undefined) return [message.original as ChatMessage];
  const parts = serverToolsAsText(message);
  const results = parts.filter((part) => part.kind === 'result');
  const rest = parts.filter((part) => part.kind !== 'result');
  const { [CUSTOM_CALLS]: custom, ...extra } = message.extra ?? {};
  const encoded: object[] = results.map((result) => ({ ...encodeResult(result), ...extra }));
  if (rest.length > 0) {
    const body =
      message.role === 'assistant'
        ? encodeAssistant(rest, Array.isArray(custom) ? custom : [])
        : { role: message.role === 'system' ? 'system' : 'user', content: encodeContent(rest) };
    encoded.push({ ...body, ...extra });
  }
  return encoded as ChatMessage[];
}

function encodeResult(result: ResultPart): object {
  const content = encodeContent(result.content);
  return result.callId.startsWith(LEGACY)
    ? { role: 'function', name: result.callId.slice(LEGACY.length), content }
    : { role: 'tool', tool_call_id: result.callId, content };
}

function encodeAssistant(parts: readonly Part[], custom: readonly Json[]): object {
  const reasoning = parts.filter((part) => part.kind === 'reasoning');
  const unknown = parts.filter((part) => part.kind === 'opaque' && part.type === UNKNOWN_CALL);
  const content = parts.filter(
    (part) => part.kind !== 'call' && part.kind !== 'reasoning' && !unknown.includes(part),
  );
  const unknownCalls = unknown.map((part) => (part as OpaquePart).value as JsonObject);
  const unknownIds = new Set(unknownCalls.map(({ id }) => id));
  const calls = parts
    .filter((part) => part.kind === 'call')
    .filter(({ callId }) => !unknownIds.has(callId));
  const legacy = calls.find(({ callId }) => callId.startsWith(LEGACY));
  const tools = [
    ...calls.filter((call) => call !== legacy).map((call) => encodeCall(call, custom)),
    ...unknownCalls,
  ];
  return {
    role: 'assistant',
    content: content.length === 0 && tools.length > 0 ? null : encodeContent(content),
    ...(reasoning.length === 0
      ? {}
      : { reasoning_content: reasoning.map(({ text }) => text).join('\n') }),
    ...(tools.length === 0 ? {} : { tool_calls: tools }),
    ...(legacy === undefined
      ? {}
      : { function_call: { name: legacy.tool, arguments: legacy.args } }),
  };
}

function encodeCall({ callId, tool, args }: CallPart, custom: readonly Json[]): object {
  return custom.includes(callId)
    ? { id: callId, type: 'custom', custom: { name: tool, input: args } }
    : { id: callId, type: 'function', function: { name: tool, arguments: args } };
}

/** Text alone is a string; anything else is a list of parts. */
function encodeContent(parts: readonly Part[]): string | object[] {
  if (parts.length === 0) return '';
  if (parts.length === 1 && parts[0]?.kind === 'text') return textOf({ parts });
  return parts.flatMap(encodePart);
}

function encodePart(part: Part): object[] {
  switch (part.kind) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image':
      return [{ type: 'image_url', image_url: { url: part.source } }];
    case 'file':
      return [encodeFile(part)];
    case 'opaque':
      return [part.value as object];
    case 'reasoning':
    case 'call':
    case 'result':
      return [];
  }
}

function encodeFile({ source, name, mediaType }: Extract<Part, { kind: 'file' }>): object {
  const data = parseDataUrl(source);
  if (data !== undefined && mediaType?.startsWith('audio/') === true)
    return {
      type: 'input_audio',
      input_audio: { data: data.base64, format: mediaType.slice('audio/'.length) },
    };
  const file = data === undefined ? { file_id: source } : { file_data: source };
  return { type: 'file', file: name === undefined ? file : { ...file, filename: name } };
}
