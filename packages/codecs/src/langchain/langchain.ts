import {
  AIMessage,
  HumanMessage,
  mapStoredMessageToChatMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
  type StoredMessage,
  type UsageMetadata,
} from '@langchain/core/messages';
import {
  textOf,
  type Codec,
  type Message,
  type Part,
  type ResultPart,
  type Role,
  type Usage,
} from '@bobbin/core';
import {
  callsOf,
  isJsonObject,
  parseJson,
  resultsOf,
  resultText,
  STRICT_RULES,
  type Json,
  type JsonObject,
  jsonText,
} from '@bobbin/core/internal';
import {
  compactionExtra,
  compactionPart,
  splitCompactions,
  summariesAfterCompaction,
  withoutCompactions,
} from '../wire/compaction.ts';
import { refuseOtherFormats } from '../wire/format.ts';
import { KnownCalls, OPEN_SERVER_CALLS, openServerCalls } from '../wire/known-calls.ts';
import { lasting, Place } from '../wire/place.ts';
import { resultsAfterCalls } from '../wire/results-after-calls.ts';
import { serverToolsAsText } from '../wire/server-tool.ts';
import { openCalls, serverBlocks, withWholePairs } from './server-tool.ts';
import { CHAT_TOOLS, fieldsOf, toolCallOf, type ChatTool } from '../tools.ts';

/**
 * LangChain's messages. Which provider will read them is not known, so the rules are the strictest. A message is kept in
 * LangChain's own stored form, so that any store can hold it, and comes back as the object that came in while that lives.
 */
export const langchainMessages: Codec<BaseMessage, ChatTool, ToolMessage> = {
  name: 'langchain',
  rules: STRICT_RULES,
  decode(wire, before) {
    const places = new Place('messages', wire).list();
    refuseOtherFormats(places, 'langchain');
    const calls = new KnownCalls(before);
    return places.map((place) => decodePlace(place, calls));
  },
  encode(messages) {
    const read = summariesAfterCompaction(messages, ({ role }) => role === 'system');
    return withWholePairs(resultsAfterCalls(read).flatMap(encodeMessage));
  },
  tools: {
    tool: (definition) => CHAT_TOOLS.tool(definition),
    call(call) {
      const { id, name, args } = fieldsOf(call);
      return toolCallOf(id, name, args);
    },
    result: ({ callId, tool }, text) =>
      new ToolMessage({ tool_call_id: callId, name: tool, content: text }),
  },
};

/** Instances alone: LangChain's stored forms and other formats are plain objects. */
function decodePlace(place: Place, calls: KnownCalls): Message {
  const wire = place.object() as unknown as Partial<BaseMessage>;
  if (typeof wire.toDict !== 'function')
    return place.fail('must be a message of LangChain’s classes');
  if (wire.type === 'remove')
    return place.fail('must not be a RemoveMessage: apply it to the list first');
  return decodeMessage(wire as BaseMessage, calls);
}

const decoded = new WeakMap<BaseMessage, Message>();
const live = new WeakMap<object, BaseMessage>();

function decodeMessage(wire: BaseMessage, calls: KnownCalls): Message {
  const known = decoded.get(wire);
  if (known !== undefined) {
    calls.addServerCalls(known);
    return known;
  }
  const original = wire.toDict();
  live.set(original, wire);
  const usage = usageOf(wire);
  const extra = extraOf(wire);
  const message: Message = {
    role: roleOf(wire),
    parts: partsOf(wire, calls),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...(usage === undefined ? {} : { meta: { usage } }),
    original,
  };
  decoded.set(wire, message);
  return message;
}

/** What a message says that is in none of its parts: its name, calls that it leaves open, a provider's compactions. */
function extraOf(wire: BaseMessage): JsonObject {
  const blocks = Array.isArray(wire.content) ? (wire.content as readonly JsonObject[]) : [];
  const open = openCalls(blocks);
  return {
    ...(wire.name === undefined || isTool(wire) ? {} : { name: wire.name }),
    ...compactionExtra(blocks.filter(isCompaction).map(lasting)),
    ...(open.length === 0 ? {} : { [OPEN_SERVER_CALLS]: open.map(lasting) }),
  };
}

function isCompaction({ type, content }: JsonObject): boolean {
  return type === 'compaction' && typeof content === 'string';
}

const ROLES: Readonly<Record<string, Role>> = {
  human: 'user',
  ai: 'assistant',
  tool: 'tool',
  function: 'tool',
  system: 'system',
  developer: 'system',
};

function roleOf(wire: BaseMessage): Role {
  return ROLES[wire.type] ?? 'user';
}

function isTool(wire: BaseMessage): wire is ToolMessage {
  return wire.type === 'tool';
}

function isAssistant(wire: BaseMessage): wire is AIMessage {
  return wire.type === 'ai';
}

function partsOf(wire: BaseMessage, known: KnownCalls): readonly Part[] {
  const content = contentOf(wire.content, known);
  if (isTool(wire)) return [resultOf(wire, content)];
  if (!isAssistant(wire)) return content;
  const calls = (wire.tool_calls ?? []).map(({ id, name, args }) =>
    callOf(id, name, jsonText(args as Json)),
  );
  const broken = (wire.invalid_tool_calls ?? []).map(({ id, name, args }) =>
    callOf(id, name, args),
  );
  return [...content, ...calls, ...broken];
}

function callOf(id: string | undefined, name: string | undefined, args: string | undefined): Part {
  return { kind: 'call', callId: id ?? '', tool: name ?? '', args: args ?? '' };
}

function resultOf(wire: ToolMessage, content: readonly Part[]): ResultPart {
  return {
    kind: 'result',
    callId: wire.tool_call_id,
    ...(wire.name === undefined ? {} : { tool: wire.name }),
    ...(wire.status === 'error' ? { outcome: 'failure' as const } : {}),
    content: content.filter(
      (part) => part.kind !== 'reasoning' && part.kind !== 'call' && part.kind !== 'result',
    ),
  };
}

function contentOf(content: BaseMessage['content'], calls: KnownCalls): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  const blocks = content as readonly JsonObject[];
  const decodeServer = serverBlocks(blocks, calls);
  return blocks.flatMap((block) => decodeServer(block) ?? blockParts(block));
}

/** Calls are among the blocks too, if the provider puts them there: `tool_calls` has them all. */
const CALL_BLOCKS = new Set<unknown>([
  'tool_use',
  'tool_call',
  'function_call',
  'input_json_delta',
]);

function blockParts(block: JsonObject): readonly Part[] {
  const { type } = block;
  if (type === 'text' && typeof block['text'] === 'string')
    return [{ kind: 'text', text: block['text'] }];
  if (CALL_BLOCKS.has(type)) return [];
  if (isCompaction(block)) return [compactionPart('compaction')];
  const thought = thoughtOf(block);
  if (thought !== undefined) return [thought];
  const source = imageOf(block);
  if (source !== undefined) return [{ kind: 'image', source }];
  return [
    { kind: 'opaque', type: typeof type === 'string' ? type : 'block', value: lasting(block) },
  ];
}

function thoughtOf(block: JsonObject): Part | undefined {
  const { type, data, signature } = block;
  if (type === 'redacted_thinking' && typeof data === 'string')
    return { kind: 'reasoning', text: '', signature: data };
  if (type !== 'thinking' && type !== 'reasoning') return undefined;
  const text = block['thinking'] ?? block['reasoning'] ?? '';
  const said = typeof text === 'string' ? text : jsonText(text);
  return { kind: 'reasoning', text: said, ...(typeof signature === 'string' ? { signature } : {}) };
}

function imageOf({ type, image_url: named, url, data, mimeType }: JsonObject): string | undefined {
  if (type === 'image_url') {
    const inner = isJsonObject(named) ? named['url'] : named;
    return typeof inner === 'string' ? inner : undefined;
  }
  if (type !== 'image') return undefined;
  if (typeof url === 'string') return url;
  const isInline = typeof data === 'string' && typeof mimeType === 'string';
  return isInline ? `data:${mimeType};base64,${data}` : undefined;
}

/** LangChain counts cached tokens as part of the input. */
function usageOf(wire: BaseMessage): Usage | undefined {
  // Its type depends on what a message is declared to hold, which is not known here.
  const { usage_metadata: reported } = wire as { readonly usage_metadata?: UsageMetadata };
  if (reported === undefined) return undefined;
  const { cache_read: cacheReadTokens = 0, cache_creation: cacheWriteTokens = 0 } =
    reported.input_token_details ?? {};
  return {
    inputTokens: Math.max(0, reported.input_tokens - cacheReadTokens - cacheWriteTokens),
    outputTokens: reported.output_tokens,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

function encodeMessage(message: Message): readonly BaseMessage[] {
  const { original } = message;
  if (original === undefined) return written(message);
  return [live.get(original as object) ?? mapStoredMessageToChatMessage(original as StoredMessage)];
}

/** What Bobbin wrote or changed: each result is a separate message, before the other content. */
function written(message: Message): readonly BaseMessage[] {
  const parts = serverToolsAsText(message);
  const said = parts.filter((part) => part.kind !== 'result');
  const results = resultsOf({ ...message, parts }).map(writtenResult);
  return said.length === 0 && results.length > 0
    ? results
    : [...results, writtenSaid({ ...message, parts: said })];
}

function writtenSaid(message: Message): BaseMessage {
  const [compactions] = splitCompactions(message.extra);
  const carried = [...compactions, ...openServerCalls(message)] as unknown as { type: string }[];
  const parts = withoutCompactions(message.parts);
  const content = [...carried, ...parts.flatMap(writtenBlock)];
  const only = content.length === 1 ? content[0] : undefined;
  const plain = only?.type === 'text' || content.length === 0 ? textOf(message) : content;
  switch (message.role) {
    case 'system':
      return new SystemMessage(textOf(message));
    case 'assistant':
      return new AIMessage({ content: plain, tool_calls: callsOf(message).map(writtenCall) });
    case 'user':
    case 'tool':
      return new HumanMessage({ content: plain });
  }
}

function writtenResult(result: ResultPart): ToolMessage {
  const { callId, tool, outcome } = result;
  return new ToolMessage({
    content: resultText(result),
    tool_call_id: callId,
    ...(tool === undefined ? {} : { name: tool }),
    ...(outcome === 'failure' ? { status: 'error' as const } : {}),
  });
}

function writtenCall({ callId, tool, args }: { callId: string; tool: string; args: string }): {
  type: 'tool_call';
  id: string;
  name: string;
  args: JsonObject;
} {
  const parsed = parseJson(args);
  return { type: 'tool_call', id: callId, name: tool, args: isJsonObject(parsed) ? parsed : {} };
}

/** Thoughts without their signature say nothing to a provider, and are left out. */
function writtenBlock(part: Part): readonly { type: string }[] {
  switch (part.kind) {
    case 'text':
      return [{ type: 'text', text: part.text } as { type: string }];
    case 'image':
      return [{ type: 'image_url', image_url: { url: part.source } } as { type: string }];
    case 'opaque':
      return [part.value as unknown as { type: string }];
    case 'file':
      return [{ type: 'text', text: `[${part.name ?? part.source}]` } as { type: string }];
    case 'reasoning':
    case 'call':
    case 'result':
      return [];
  }
}
