import { textOf, type Codec, type Message, type Part, type Role } from '@bobbin/core';
import { isJsonObject, STRICT_RULES, type Json, type JsonObject } from '@bobbin/core/internal';
import { lastingOptions, revived, serializable } from './data.ts';
import { decodePart, encodePart, isApproval, isCompaction } from './part.ts';
import { encodeResult } from './result.ts';
import { AI_SDK_SERVER_PARTS, openCalls, serverParts } from './server-tool.ts';
import {
  compactionExtra,
  splitCompactions,
  summariesAfterCompaction,
  withoutCompactions,
} from '../wire/compaction.ts';
import { mismatchOf, refuseOtherFormats } from '../wire/format.ts';
import { KnownCalls, OPEN_SERVER_CALLS, openServerCalls } from '../wire/known-calls.ts';
import { lasting, leftover, Place } from '../wire/place.ts';
import { resultsAfterCalls } from '../wire/results-after-calls.ts';
import { serverToolsAsText } from '../wire/server-tool.ts';
import { wholeServerPairs } from '../wire/whole-server-pairs.ts';
import type { WireObject } from '../wire/wire-object.ts';
import { AI_SDK_TOOLS, type AiSdkFunctionTool, type AiSdkToolResult } from '../tools.ts';

/** A `ModelMessage` of the AI SDK, major 6 or 7: any that its own types describe, and those to come. */
export type AiSdkMessage = WireObject<{
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | WireObject<{ type: string }>[];
}>;

/**
 * The AI SDK's `ModelMessage`. Which provider will read it is not known, so its rules are the strictest. Bytes become
 * base64, which means the same to the SDK, so that what is kept can be stored as JSON.
 */
export const aiSdk: Codec<AiSdkMessage, AiSdkFunctionTool, AiSdkToolResult> = {
  name: 'ai-sdk',
  rules: STRICT_RULES,
  decode(wire, before) {
    const calls = new KnownCalls(before);
    const places = new Place('messages', wire).list();
    refuseOtherFormats(places, 'ai-sdk');
    return places.map((place) => decodeMessage(place, calls));
  },
  encode(messages) {
    const read = summariesAfterCompaction(messages, ({ role }) => role === 'system');
    const ordered = resultsAfterCalls(read);
    return wholeServerPairs(ordered.flatMap(encodeMessage), AI_SDK_SERVER_PARTS);
  },
  tools: AI_SDK_TOOLS,
  mismatch: (wire) => mismatchOf(wire, 'ai-sdk'),
};

const ROLES: ReadonlySet<string> = new Set<Role>(['system', 'user', 'assistant', 'tool']);
const KNOWN = new Set(['role', 'content', 'providerOptions']);

function decodeMessage(place: Place, calls: KnownCalls): Message {
  const role = place.at('role').text();
  const original = serializable(place.object());
  if (!ROLES.has(role)) {
    const value = lasting(original);
    return { role: 'system', parts: [{ kind: 'opaque', type: 'message', value }], original };
  }
  const parts = decodeContent(role, place.holding(original).at('content'), calls);
  const extra = extraOf(original);
  return {
    role: role as Role,
    parts,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    original,
  };
}

function decodeContent(role: string, place: Place, calls: KnownCalls): readonly Part[] {
  if (typeof place.value === 'string')
    return place.value === '' ? [] : [{ kind: 'text', text: place.value }];
  if (!Array.isArray(place.value)) return place.fail('must be a string or a list of parts');
  const places = place.list();
  const decodeServer = serverParts(role, places, calls);
  return places.flatMap((part) => decodeServer(part) ?? decodePart(part));
}

/** Approvals and the provider's notes on calls belong to the content, but mean nothing to the engine. */
function extraOf(wire: JsonObject): JsonObject {
  const content = Array.isArray(wire['content']) ? (wire['content'] as readonly JsonObject[]) : [];
  const approvals = content.filter(isApproval);
  const callOptions = content.flatMap(({ type, toolCallId, providerOptions }) => {
    const options = type === 'tool-call' ? callOptionsOf(providerOptions) : undefined;
    return options === undefined ? [] : [[toolCallId, options]];
  });
  const providerOptions = lastingOptions(wire['providerOptions']);
  const open = openCalls(content);
  return {
    ...leftover(wire, KNOWN),
    ...compactionExtra(content.filter(isCompaction).map(lasting)),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(approvals.length === 0 ? {} : { approvals }),
    ...(open.length === 0 ? {} : { [OPEN_SERVER_CALLS]: open.map(lasting) }),
    ...(callOptions.length === 0 ? {} : { callOptions: Object.fromEntries(callOptions) as Json }),
  };
}

/** OpenAI's item id names a stored call with the reasoning before it; a message that was changed has neither. */
function callOptionsOf(providerOptions: Json | undefined): JsonObject | undefined {
  const options = lastingOptions(providerOptions) ?? {};
  const kept = Object.entries(options).flatMap(([provider, own]) => {
    const { itemId: _, ...rest } = own as JsonObject;
    return Object.keys(rest).length === 0 ? [] : [[provider, rest] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function encodeMessage(message: Message): readonly AiSdkMessage[] {
  if (message.original !== undefined) return [revived(message.original) as AiSdkMessage];
  const [compactions, own] = splitCompactions(message.extra);
  const { approvals, callOptions, [OPEN_SERVER_CALLS]: _, ...extra } = own;
  const parts = withoutCompactions(serverToolsAsText(message));
  const results = parts.filter((part) => part.kind === 'result').map(encodeResult);
  const carried = [...compactions, ...openServerCalls(message)].map(carriedPart);
  const said = [...carried, ...parts.filter(isSaid)];
  const approved = Array.isArray(approvals) ? (approvals as object[]) : [];
  const role = message.role === 'tool' ? 'user' : message.role;
  const answers = role === 'assistant' ? results : [...approved, ...results];
  return [
    ...(answers.length === 0 ? [] : [{ role: 'tool', content: answers, ...extra }]),
    ...(said.length === 0
      ? []
      : [{ role, content: encodeSaid(message, said, callOptions, approved), ...extra }]),
  ] as AiSdkMessage[];
}

/** Calls that a later message answers and compactions go out as they came. */
function carriedPart(value: JsonObject): Part {
  return { kind: 'opaque', type: 'part', value };
}

function isSaid(part: Part): boolean {
  return part.kind !== 'result';
}

/** Text alone is a string, and a system message is nothing else. */
function encodeSaid(
  { role }: Message,
  parts: readonly Part[],
  callOptions: Json | undefined,
  approved: readonly object[],
): string | object[] {
  const isPlain = parts.length === 1 && parts[0]?.kind === 'text' && approved.length === 0;
  if (role === 'system' || isPlain) return textOf({ parts });
  const options = isJsonObject(callOptions) ? callOptions : {};
  const encoded = parts.map((part) => encodePart(part, options));
  return role === 'assistant' ? [...encoded, ...approved] : encoded;
}
