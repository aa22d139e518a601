import type { AgentInputItem } from '@openai/agents';
import { textOf, type Codec, type Message, type Part, type Role } from '@bobbin/core';
import {
  isJsonObject,
  OPENAI_RULES,
  resultText,
  type ContentPart,
  type Json,
  type JsonObject,
  jsonText,
} from '@bobbin/core/internal';
import {
  encodeItems,
  isCompactionPart,
  openaiResponses,
  readableJson,
  serverToolsAsText,
  summariesAfterCompaction,
} from '@bobbin/codecs';

/** The items of the OpenAI Agents SDK, one message each. Ids and provider data stay in the original alone. */
export const agentItems: Codec<AgentInputItem> = {
  name: 'openai-agents',
  rules: OPENAI_RULES,
  decode: (wire) => wire.map((item) => decodeItem(item as unknown as JsonObject)),
  encode: (messages) =>
    encodeItems(
      summariesAfterCompaction(messages, () => true),
      encodeMessage,
    ),
};

function decodeItem(item: JsonObject): Message {
  const { callId } = item;
  const type = typeOf(item);
  const name = typeof item['name'] === 'string' ? item['name'] : type;
  if (type === 'message' && isRole(item['role']))
    return { role: item['role'], parts: contentOf(item['content']), original: item };
  if (type === 'reasoning') return { role: 'assistant', parts: [thoughtOf(item)], original: item };
  if (type === 'hosted_tool_call') {
    const parts = hostedPair(item);
    if (parts !== undefined) return { role: 'assistant', parts, original: item };
  }
  if (type === 'compaction') return compactionItem(item);
  if (typeof callId !== 'string') return opaqueItem(item);
  if (type === 'function_call') {
    const args = typeof item['arguments'] === 'string' ? item['arguments'] : '';
    return {
      role: 'assistant',
      parts: [{ kind: 'call', callId, tool: name, args }],
      original: item,
    };
  }
  if (type === 'function_call_result') {
    const content = outputOf(item['output']);
    const result = { kind: 'result', callId, tool: name, content } as const;
    return { role: 'tool', parts: [result], original: item };
  }
  return otherPair(item, callId, type);
}

function isRole(role: Json | undefined): role is Role {
  return role === 'user' || role === 'assistant' || role === 'system';
}

/** Computers, shells and patches: the pair is known, what they say is not. */
function otherPair(item: JsonObject, callId: string, type: string): Message {
  const value = lasting(item);
  if (!/_(?:result|output)$/.test(type)) {
    const args = jsonText(value);
    return {
      role: 'assistant',
      parts: [{ kind: 'call', callId, tool: type, args }],
      original: item,
    };
  }
  const content: readonly ContentPart[] = [{ kind: 'opaque', type, value }];
  return { role: 'tool', parts: [{ kind: 'result', callId, content }], original: item };
}

const HOSTED = /^(?:web_search|file_search|code_interpreter|image_generation|mcp)(?=_call$|$)/;

/**
 * The call and the result of a tool that the provider ran. The SDK keeps the provider's item in its data and moves what
 * came of it into `output` for some tools. Undefined for other items: lists of tools and approvals.
 */
function hostedPair(item: JsonObject): readonly Part[] | undefined {
  const { id, name, status, output } = item;
  const data = isJsonObject(item['providerData']) ? item['providerData'] : {};
  const said = data['type'] ?? name;
  const [kind] = typeof said === 'string' ? (HOSTED.exec(said) ?? []) : [];
  if (kind !== undefined) {
    const moved =
      output === undefined ? {} : { output, outputs: output, result: output, results: output };
    const own = {
      ...moved,
      ...data,
      type: `${kind}_call`,
      ...(typeof id === 'string' ? { id } : {}),
      status,
    };
    return openaiResponses.decode([own])[0]?.parts;
  }
  if (output === undefined || typeof id !== 'string' || typeof name !== 'string') return undefined;
  const args = typeof item['arguments'] === 'string' ? item['arguments'] : '';
  const content: readonly ContentPart[] = [{ kind: 'text', text: readableJson(output) }];
  return [
    { kind: 'call', callId: id, tool: name, args },
    { kind: 'result', callId: id, tool: name, content },
  ];
}

/** A compaction of the provider's is the same item in the API. */
function compactionItem(item: JsonObject): Message {
  const [message] = openaiResponses.decode([lasting(item)]);
  return { ...(message as Message), original: item };
}

function opaqueItem(item: JsonObject): Message {
  const type = typeOf(item);
  return {
    role: 'assistant',
    parts: [{ kind: 'opaque', type, value: lasting(item) }],
    original: item,
  };
}

/** A message may leave its type out. */
function typeOf({ type }: JsonObject): string {
  return typeof type === 'string' ? type : 'message';
}

const PASSING = new Set(['id', 'providerData']);

/** Without what the SDK adds and takes away as items pass through it. */
function lasting(item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !PASSING.has(name)));
}

function contentOf(content: Json | undefined): readonly ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return Array.isArray(content) ? content.map((part: Json) => contentPart(part as JsonObject)) : [];
}

function contentPart(part: JsonObject): ContentPart {
  const text = part['text'] ?? part['refusal'];
  if (typeof text === 'string') return { kind: 'text', text };
  const { image, file, filename } = part;
  if (typeof image === 'string') return { kind: 'image', source: image };
  if (typeof file === 'string')
    return {
      kind: 'file',
      source: file,
      ...(typeof filename === 'string' ? { name: filename } : {}),
    };
  return { kind: 'opaque', type: typeOf(part), value: lasting(part) };
}

function outputOf(output: Json | undefined): readonly ContentPart[] {
  return isJsonObject(output) ? [contentPart(output)] : contentOf(output);
}

function thoughtOf(item: JsonObject): Part {
  const text = contentOf(item['content']).flatMap((part) =>
    part.kind === 'text' ? [part.text] : [],
  );
  const data = isJsonObject(item['providerData']) ? item['providerData'] : {};
  const signature = data['encryptedContent'] ?? data['encrypted_content'];
  return {
    kind: 'reasoning',
    text: text.join('\n'),
    ...(typeof signature === 'string' ? { signature } : {}),
  };
}

function encodeMessage(message: Message): AgentInputItem[] {
  if (message.original !== undefined) return [message.original as AgentInputItem];
  if (message.parts.some(isCompactionPart))
    return [...openaiResponses.encode([message])] as unknown as AgentInputItem[];
  const items: object[] = [];
  const parts = serverToolsAsText(message);
  const said = textOf({ ...message, parts });
  if (said !== '') items.push(saidItem(message.role, said));
  for (const part of parts) {
    if (part.kind === 'call') {
      const { callId, tool: name, args } = part;
      items.push({ type: 'function_call', callId, name, arguments: args, status: 'completed' });
    }
    if (part.kind === 'result') {
      const { callId, tool: name = 'unknown' } = part;
      const output = { type: 'text', text: resultText(part) };
      items.push({ type: 'function_call_result', callId, name, status: 'completed', output });
    }
    if (part.kind === 'opaque') items.push(part.value as object);
  }
  return items as AgentInputItem[];
}

function saidItem(role: Role, text: string): object {
  if (role !== 'assistant')
    return { type: 'message', role: role === 'tool' ? 'user' : role, content: text };
  return { type: 'message', role, status: 'completed', content: [{ type: 'output_text', text }] };
}
