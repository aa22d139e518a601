import type { CallPart, Codec, Message, Part, ResultPart, Role } from '@bobbin/core';
import { OPENAI_RULES, parseJson, type JsonObject } from '@bobbin/core/internal';
import {
  compactionExtra,
  compactionPart,
  splitCompactions,
  summariesAfterCompaction,
} from '../wire/compaction.ts';
import { mismatchOf, refuseOtherFormats } from '../wire/format.ts';
import { KnownCalls } from '../wire/known-calls.ts';
import { encodeItems } from './parted-reasoning.ts';
import { lasting, leftover, Place } from '../wire/place.ts';
import { decodeContent, encodeContent } from './responses-content.ts';
import { CALL_ITEMS, decodeServerItem, OUTPUT_ITEMS } from './responses-tool.ts';
import { serverToolsAsText } from '../wire/server-tool.ts';
import type { WireObject } from '../wire/wire-object.ts';
import { responseUsage } from '../response-usage.ts';
import { RESPONSES_TOOLS, type ResponsesTool, type ResponsesToolResult } from '../tools.ts';

/** An item of the Responses API's `input`: any that OpenAI's own types describe, and those to come. */
export type ResponsesItem = WireObject<{ type?: string | null }>;

/** OpenAI Responses: the items of a request's `input`, each of them one message. */
export const openaiResponses: Codec<ResponsesItem, ResponsesTool, ResponsesToolResult> = {
  name: 'openai-responses',
  rules: OPENAI_RULES,
  decode(wire, before) {
    const calls = new KnownCalls(before);
    const places = new Place('input', wire).list();
    refuseOtherFormats(places, 'openai-responses');
    const continues = !places.some(isModels) && before?.some(isAssistants) !== true;
    return places.map((place) =>
      continues && isOutput(place)
        ? storedOutput(place.object())
        : decodeResponsesItem(place, calls),
    );
  },
  encode(messages) {
    const types = callTypes(messages);
    const read = summariesAfterCompaction(messages, () => true);
    return encodeItems(read, (message) => encodeMessage(message, types));
  },
  tools: RESPONSES_TOOLS,
  mismatch: (wire) => mismatchOf(wire, 'openai-responses'),
  usage: (response) => responseUsage(response)?.usage,
};

/**
 * An input without anything of the model's continues a stored response (`previous_response_id`, or a conversation): its
 * outputs answer calls that only the provider has.
 */
function storedOutput(wire: JsonObject): Message {
  const parts: readonly Part[] = [{ kind: 'opaque', type: 'stored_output', value: lasting(wire) }];
  return { role: 'system', parts, original: wire };
}

function isOutput(place: Place): boolean {
  return OUTPUT_ITEMS.has(typeOf(place)) && place.has('call_id');
}

function isModels(place: Place): boolean {
  const type = typeOf(place);
  return type === 'message'
    ? place.at('role').value === 'assistant'
    : type === 'reasoning' || MODEL_ITEM.test(type);
}

function isAssistants({ role }: Message): boolean {
  return role === 'assistant';
}

/** One item of the wire, independent of where it is kept. */
export function decodeResponsesItem(place: Place, calls: KnownCalls): Message {
  const wire = place.object();
  const type = typeOf(place);
  const read = readItem(type, place, calls);
  if (read === undefined) return opaqueItem(type, wire);
  for (const part of read.parts) if (part.kind === 'call') calls.tools.set(part.callId, part.tool);
  const extra = leftover(wire, new Set([...UNSTEADY, ...read.fields]));
  const { role, parts } = read;
  return extra === undefined
    ? { role, parts, original: wire }
    : { role, parts, extra, original: wire };
}

/** Items may leave out their type: those with a role are messages, the others refer to stored items. */
function typeOf(place: Place): string {
  return place.at('type').optionalText() ?? (place.has('role') ? 'message' : 'item_reference');
}

/** Ids and states come and go between an answer and the request that sends it back. */
const UNSTEADY = ['id', 'status'];

/**
 * Provider-made compactions, references, and kinds of items that are not known. The role keeps a call on the model's
 * side and its output after it; anything else is apart from the order of roles.
 */
function opaqueItem(type: string, wire: JsonObject): Message {
  if (type === 'compaction') {
    const extra = compactionExtra([lasting(wire)]);
    return { role: 'system', parts: [compactionPart(type)], extra, original: wire };
  }
  const role = type.endsWith('_output') ? 'tool' : MODEL_ITEM.test(type) ? 'assistant' : 'system';
  return { role, parts: [{ kind: 'opaque', type, value: lasting(wire) }], original: wire };
}

const MODEL_ITEM = /_call$|^(?:program|mcp_approval_request|mcp_list_tools)$/;

interface ReadItem {
  readonly role: Role;
  readonly parts: readonly Part[];
  /** The fields that became the role and the parts; a type that they do not imply is left over. */
  readonly fields: readonly string[];
}

function readItem(type: string, place: Place, calls: KnownCalls): ReadItem | undefined {
  if (type === 'message') return readMessage(place);
  if (type === 'reasoning') return readReasoning(place);
  const call = CALL_ITEMS.get(type);
  if (call !== undefined) {
    const part: Part = { kind: 'call', callId: place.at('call_id').text(), ...call.decode(place) };
    const fields = type === 'function_call' ? ['type', ...call.fields] : call.fields;
    return { role: 'assistant', parts: [part], fields: ['call_id', ...fields] };
  }
  if (OUTPUT_ITEMS.has(type) && place.has('call_id')) return readOutput(type, place, calls);
  const parts = decodeServerItem(type, place);
  return parts && { role: 'assistant', parts, fields: Object.keys(place.object()) };
}

const SPEAKERS: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

function readMessage(place: Place): ReadItem | undefined {
  const speaker = place.at('role').text();
  const role = SPEAKERS.get(speaker);
  if (role === undefined) return undefined;
  const fields = speaker === role ? ['type', 'role', 'content'] : ['type', 'content'];
  return { role, parts: decodeContent(place.at('content')), fields };
}

function readReasoning(place: Place): ReadItem {
  const texts = ['summary', 'content'].flatMap((name) =>
    place.has(name)
      ? place
          .at(name)
          .list()
          .map((part) => part.at('text').text())
      : [],
  );
  const signature = place.at('encrypted_content').optionalText();
  const thought = { kind: 'reasoning', text: texts.join('\n') } as const;
  return {
    role: 'assistant',
    parts: [signature === undefined ? thought : { ...thought, signature }],
    fields: ['type', 'summary', 'content', 'encrypted_content'],
  };
}

function readOutput(type: string, place: Place, calls: KnownCalls): ReadItem | undefined {
  const item = OUTPUT_ITEMS.get(type);
  if (item === undefined) return undefined;
  const callId = place.at('call_id').text();
  const failed = place.at('status').value === 'failed' ? { outcome: 'failure' as const } : {};
  const content = item.content(place);
  const fields = type === 'function_call_output' ? ['type', ...item.fields] : item.fields;
  return {
    role: 'tool',
    parts: [{ kind: 'result', callId, ...calls.field(callId), ...failed, content }],
    fields: ['call_id', ...fields],
  };
}

/** The kinds of the calls, by call id: an output is of the kind of its call. */
function callTypes(messages: readonly Message[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { parts, extra } of messages) {
    const type = extra?.['type'];
    if (typeof type !== 'string') continue;
    for (const part of parts) if (part.kind === 'call') types.set(part.callId, type);
  }
  return types;
}

function encodeMessage(
  message: Message,
  types: ReadonlyMap<string, string>,
): readonly ResponsesItem[] {
  if (message.original !== undefined) return [message.original as ResponsesItem];
  const [compactions, { type, ...extra }] = splitCompactions(message.extra);
  if (compactions.length > 0) return compactions;
  const items: object[] = [];
  const said: Part[] = [];
  for (const part of serverToolsAsText(message)) {
    if (part.kind === 'call') items.push({ ...encodeCall(part, type), ...extra });
    else if (part.kind === 'result')
      items.push(...encodeOutput(part, types.get(part.callId), message.extra ?? {}));
    else if (part.kind !== 'reasoning') said.push(part);
  }
  if (said.length > 0) items.unshift({ ...encodeSaid(message.role, said), ...extra });
  return items;
}

function encodeSaid(role: Role, parts: readonly Part[]): object {
  const speaker = role === 'tool' ? 'user' : role;
  return { type: 'message', role: speaker, content: encodeContent(parts, role === 'assistant') };
}

function encodeCall({ callId, tool, args }: CallPart, type: unknown): object {
  const [name, item] = itemOf(CALL_ITEMS, type, 'function_call');
  const known = name === 'function_call' || name === 'custom_tool_call';
  return {
    type: name,
    call_id: callId,
    ...item.encode(tool, known ? args : (parseJson(args) ?? {})),
  };
}

function encodeOutput(
  result: ResultPart,
  called: string | undefined,
  { type, ...extra }: JsonObject,
): readonly object[] {
  const { callId } = result;
  const own = called === undefined ? type : `${called}_output`;
  const [name, item] = itemOf(OUTPUT_ITEMS, own, 'function_call_output');
  const output = { type: name, call_id: callId, ...item.encode(result), ...extra };
  const note = item.note?.(result) ?? '';
  return note === '' ? [output] : [output, { type: 'message', role: 'user', content: note }];
}

function itemOf<Item>(
  items: ReadonlyMap<string, Item>,
  type: unknown,
  standard: string,
): readonly [string, Item] {
  const name = typeof type === 'string' && items.has(type) ? type : standard;
  return [name, items.get(name) as Item];
}
