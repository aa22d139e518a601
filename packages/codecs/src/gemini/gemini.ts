import type { Codec, Message, Part, ProviderRules } from '@bobbin/core';
import { mismatchOf, refuseOtherFields, refuseOtherFormats } from '../wire/format.ts';
import {
  joinMixed,
  mergedRoles,
  rememberOrder,
  splitMixed,
  withoutJoin,
  type Block,
  type MixedFormat,
} from '../wire/mixed-message.ts';
import { lasting, leftover, Place } from '../wire/place.ts';
import type { WireObject } from '../wire/wire-object.ts';
import { encodeParts, partDecoder, signatures, SIGNATURES } from './part.ts';
import { responseUsage } from '../response-usage.ts';
import { GEMINI_TOOLS, type GeminiTool, type GeminiToolResult } from '../tools.ts';

/** A `Content` of Gemini's `generateContent`: any that Google's own types describe, and those to come. */
export type GeminiContent = WireObject<{ role?: string; parts?: WireObject<object>[] }>;

/** A function call follows the user, and its thought signature does not depend on the bytes before it. */
/** Requests with inline data may have 20 MB. */
export const GEMINI_RULES: ProviderRules = {
  name: 'gemini',
  first: 'user',
  alternate: false,
  bindsReasoning: false,
  mediaBytes: 15_000_000,
};

/**
 * Gemini: the `contents` of a request to `generateContent`. Calls may have no id; their responses then follow in the
 * same order. A content of function responses and words is two messages inside, and one again on the wire.
 */
export const gemini: Codec<GeminiContent, GeminiTool, GeminiToolResult> = {
  name: 'gemini',
  rules: GEMINI_RULES,
  decode(wire) {
    const places = new Place('contents', wire).list();
    refuseOtherFormats(places, 'gemini');
    refuseOtherFields(places, 'gemini');
    rememberOrder(wire);
    return places.flatMap(decodeContent);
  },
  encode: (messages) => mergedRoles(joinMixed(messages, encodeContent, MIXED), 'parts'),
  tools: GEMINI_TOOLS,
  mismatch: (wire) => mismatchOf(wire, 'gemini'),
  usage: (response) => responseUsage(response)?.usage,
};

const MIXED: MixedFormat = {
  field: 'parts',
  isResult: ({ functionResponse }) => functionResponse !== undefined,
  isNote: () => false,
};

const ROLES: ReadonlySet<unknown> = new Set(['user', 'model', 'function', undefined, null]);
const KNOWN = new Set(['role', 'parts']);

function decodeContent(place: Place): readonly Message[] {
  const wire = place.object();
  const { role } = wire;
  if (!ROLES.has(role)) {
    const value = lasting(wire);
    const parts: readonly Part[] = [{ kind: 'opaque', type: 'content', value }];
    return [{ role: 'system', parts, original: wire }];
  }
  const blocks = decodeBlocks(place);
  const mixed = role === 'model' ? undefined : splitMixed(wire, blocks, MIXED);
  if (mixed !== undefined) return mixed;
  const extra = { ...leftover(wire, KNOWN), ...signatures(blocks) };
  const isResults = blocks.some(({ wire: block }) => MIXED.isResult(block));
  return [
    {
      role: role === 'model' ? 'assistant' : isResults ? 'tool' : 'user',
      parts: blocks.flatMap(({ parts }) => parts),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
      original: wire,
    },
  ];
}

function decodeBlocks(place: Place): readonly Block[] {
  if (!place.has('parts')) return [];
  const places = place.at('parts').list();
  const decode = partDecoder(places);
  return places.map((part) => ({ wire: part.object(), parts: decode(part) }));
}

function encodeContent(message: Message): GeminiContent | undefined {
  if (message.original !== undefined) return message.original as GeminiContent;
  const { [SIGNATURES]: _, ...extra } = withoutJoin(message);
  const parts = encodeParts(message);
  if (parts.length === 0) return undefined;
  return { role: message.role === 'assistant' ? 'model' : 'user', parts: [...parts], ...extra };
}
