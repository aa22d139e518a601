import type { Codec, Message, Part } from '@bobbin/core';
import { ANTHROPIC_RULES, isJsonObject } from '@bobbin/core/internal';
import { blockExtra, CALLERS, decodeBlocks, encodeBlocks } from './block.ts';
import { ANTHROPIC_SERVER_BLOCKS } from './server-tool.ts';
import {
  isCompactionPart,
  splitCompactions,
  summariesAfterCompaction,
} from '../wire/compaction.ts';
import { mismatchOf, refuseOtherFormats } from '../wire/format.ts';
import { KnownCalls, OPEN_SERVER_CALLS } from '../wire/known-calls.ts';
import { joinMixed, splitMixed, withoutJoin, type MixedFormat } from '../wire/mixed-message.ts';
import { lasting, leftover, Place } from '../wire/place.ts';
import { wholeServerPairs } from '../wire/whole-server-pairs.ts';
import type { WireObject } from '../wire/wire-object.ts';
import { providerReports, responseUsage } from '../response-usage.ts';
import { ANTHROPIC_TOOLS, type AnthropicTool, type AnthropicToolResult } from '../tools.ts';

/** A message of the Messages API: any that Anthropic's own types describe, and those to come. */
export type AnthropicMessage = WireObject<{
  role: 'user' | 'assistant' | 'system';
  content?: string | WireObject<{ type: string }>[];
}>;

/**
 * Anthropic Messages: the `messages` of a request. A user message that begins with tool results and goes on with what
 * the user says becomes two messages inside, so that the words start a separate turn; they are joined again on the way
 * out.
 */
export const anthropic: Codec<AnthropicMessage, AnthropicTool, AnthropicToolResult> = {
  name: 'anthropic',
  rules: ANTHROPIC_RULES,
  decode(wire, before) {
    const calls = new KnownCalls(before);
    const places = new Place('messages', wire).list();
    refuseOtherFormats(places, 'anthropic');
    wire.forEach((message, i) => {
      if (isJsonObject(message) && message.role === 'system')
        neighbours.set(message, [wire[i - 1], wire[i + 1]]);
    });
    return places.flatMap((place) => decodeAnthropic(place, calls));
  },
  encode(messages) {
    const read = summariesAfterCompaction(messages, () => false);
    return wholeServerPairs(
      placeSystem(joinMixed(read, encodeMessage, MIXED)),
      ANTHROPIC_SERVER_BLOCKS,
    );
  },
  tools: ANTHROPIC_TOOLS,
  mismatch: (wire) => mismatchOf(wire, 'anthropic'),
  usage: (response) => responseUsage(response)?.usage,
  reports: providerReports,
};

/** One message of the wire, independent of where it is kept. */
export function decodeAnthropic(place: Place, calls: KnownCalls): readonly Message[] {
  const wire = place.object();
  const role = place.at('role').text();
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    const value = lasting(wire);
    return [
      { role: 'system', parts: [{ kind: 'opaque', type: 'message', value }], original: wire },
    ];
  }
  // A system message that only changes the tools has no content.
  const isBare = role === 'system' && wire['content'] === undefined;
  const blocks = isBare ? [] : decodeBlocks(place.at('content'), calls);
  const mixed = role === 'user' ? splitMixed(wire, blocks, MIXED) : undefined;
  if (mixed !== undefined) return mixed;
  const parts = blocks.flatMap((block) => block.parts);
  const extra = { ...leftover(wire, KNOWN), ...blockExtra(blocks) };
  return [
    {
      role: roleOf(role, parts),
      parts,
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
      original: wire,
    },
  ];
}

const KNOWN = new Set(['role', 'content']);

/** Claude Code puts its own notes after tool results: no speaker said them. */
const MIXED: MixedFormat = {
  field: 'content',
  isResult: ({ type }) => type === 'tool_result',
  isNote: ({ text }) => typeof text === 'string' && text.startsWith('<system-reminder>'),
};

/** A compaction block may have to be the first of the conversation: nothing must be put before it. */
function roleOf(role: AnthropicMessage['role'], parts: readonly Part[]): Message['role'] {
  if (parts.some((part) => part.kind === 'result') && role === 'user') return 'tool';
  const isCompaction = parts.length > 0 && parts.every(isCompactionPart);
  return isCompaction ? 'system' : role;
}

function encodeMessage(message: Message): AnthropicMessage | undefined {
  if (message.original !== undefined) return message.original as AnthropicMessage;
  const content = encodeBlocks(message);
  if (content.length === 0) return undefined;
  const [compactions, own] = splitCompactions(withoutJoin(message));
  const { [CALLERS]: _, [OPEN_SERVER_CALLS]: __, ...extra } = own;
  const role =
    compactions.length > 0 ? 'assistant' : message.role === 'tool' ? 'user' : message.role;
  const [only] = content;
  const isText = content.length === 1 && only?.['type'] === 'text';
  return { role, content: isText ? only['text'] : content, ...extra } as AnthropicMessage;
}

/** What came before and after a system message on its way in. */
const neighbours = new WeakMap<object, readonly [unknown, unknown]>();

/**
 * Within the messages, `system` may only follow the user's side, and only the assistant may follow it. If a compaction
 * took its neighbours away, it becomes a user message; if they are unchanged, so is it.
 */
function placeSystem(messages: readonly AnthropicMessage[]): readonly AnthropicMessage[] {
  return messages.map((message, i) => {
    if (message.role !== 'system') return message;
    const [before, after] = [messages[i - 1], messages[i + 1]];
    const isValid = before?.role === 'user' && (after?.role ?? 'assistant') === 'assistant';
    return isValid || isAsItCame(message, before, after) ? message : { ...message, role: 'user' };
  });
}

/** A server that took a system message at the beginning takes it there again. */
function isAsItCame(message: object, before: unknown, after: unknown): boolean {
  const came = neighbours.get(message);
  if (came === undefined || came[0] !== before) return false;
  return before === undefined || came[1] === after || came[1] === undefined;
}
