import type { Codec, Message, Part, ProviderRules } from '@bobbin/core';
import { mismatchOf, refuseOtherFields, refuseOtherFormats } from '../wire/format.ts';
import { KnownCalls } from '../wire/known-calls.ts';
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
import { answeredWithin, decodeBlock, encodeBlocks, isToolResult } from './block.ts';
import { revived, serializable } from './bytes.ts';
import { responseUsage } from '../response-usage.ts';
import { BEDROCK_TOOLS, type BedrockTool, type BedrockToolResult } from '../tools.ts';

/** A message of Bedrock's Converse API: any that the AWS SDK's own types describe, and those to come. */
export type BedrockMessage = WireObject<{
  role: 'user' | 'assistant' | 'system' | undefined;
  content: WireObject<object>[] | undefined;
}>;

/** User and assistant take turns; the codec joins what a compaction brings together. */
export const BEDROCK_RULES: ProviderRules = {
  name: 'bedrock',
  first: 'user',
  alternate: false,
  bindsReasoning: true,
};

/**
 * Amazon Bedrock Converse: the `messages` of a request. Bytes are kept as base64, so that a store can hold a message as
 * JSON, and go out as bytes. A message of tool results and words is two messages inside, and one again on the wire.
 */
export const bedrock: Codec<BedrockMessage, BedrockTool, BedrockToolResult> = {
  name: 'bedrock',
  rules: BEDROCK_RULES,
  decode(wire, before) {
    const calls = new KnownCalls(before);
    const places = new Place('messages', wire).list();
    refuseOtherFormats(places, 'bedrock');
    refuseOtherFields(places, 'bedrock');
    rememberOrder(wire);
    return places.flatMap((place) => decodeMessage(place, calls));
  },
  encode: (messages) => mergedRoles(joinMixed(messages, encodeMessage, MIXED), 'content'),
  tools: BEDROCK_TOOLS,
  mismatch: (wire) => mismatchOf(wire, 'bedrock'),
  usage: (response) => responseUsage(response)?.usage,
};

const MIXED: MixedFormat = {
  field: 'content',
  isResult: isToolResult,
  isNote: ({ cachePoint }) => cachePoint !== undefined,
};

const KNOWN = new Set(['role', 'content']);
/** The message that came in, by its kept form, if they differ. */
const live = new WeakMap<object, object>();

function decodeMessage(place: Place, calls: KnownCalls): readonly Message[] {
  const came = place.object();
  const wire = serializable(came);
  if (wire !== came) live.set(wire, came);
  const role = place.at('role').text();
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    const parts: readonly Part[] = [{ kind: 'opaque', type: 'message', value: lasting(wire) }];
    return [{ role: 'system', parts, original: wire }];
  }
  const places = place.holding(wire).at('content').list();
  const server = role === 'assistant' ? answeredWithin(places) : new Set();
  const blocks: readonly Block[] = places.map((block) => ({
    wire: block.object(),
    parts: decodeBlock(block, calls, server),
  }));
  const mixed = role === 'user' ? splitMixed(wire, blocks, MIXED) : undefined;
  if (mixed !== undefined) return mixed;
  const extra = leftover(wire, KNOWN);
  const isResults = role === 'user' && blocks.some((block) => isToolResult(block.wire));
  const parts = blocks.flatMap((block) => block.parts);
  return [
    {
      role: isResults ? 'tool' : role,
      parts,
      ...(extra === undefined ? {} : { extra }),
      original: wire,
    },
  ];
}

function encodeMessage(message: Message): BedrockMessage | undefined {
  const { original } = message;
  if (original !== undefined)
    return (live.get(original as object) ?? revived(original)) as BedrockMessage;
  const content = encodeBlocks(message);
  if (content.length === 0) return undefined;
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  return { role, content: [...content], ...withoutJoin(message) };
}
