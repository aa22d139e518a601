import type { Codec, Message, Part } from '@bobbin/core';
import { ANTHROPIC_RULES, hasResults, isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { blockExtra, CALLERS, decodeBlocks, encodeBlocks, type Block } from './block.ts';
import { ANTHROPIC_SERVER_BLOCKS } from './server-tool.ts';
import {
  isCompactionPart,
  splitCompactions,
  summariesAfterCompaction,
} from '../wire/compaction.ts';
import { KnownCalls, OPEN_SERVER_CALLS } from '../wire/known-calls.ts';
import { lasting, leftover } from '../wire/leftover.ts';
import { Place } from '../wire/place.ts';
import { wholeServerPairs } from '../wire/whole-server-pairs.ts';
import type { WireObject } from '../wire/wire-object.ts';

/** A message of the Messages API: any that Anthropic's own types describe, and those to come. */
export type AnthropicMessage = WireObject<{
  role: 'user' | 'assistant' | 'system';
  content?: string | WireObject<{ type: string }>[];
}>;

/**
 * Anthropic Messages: the `messages` of a request. A user message that begins with tool results and goes on with what
 * the user says is two messages inside, so that the words start a turn of their own; they are joined again on the way
 * out.
 */
export const anthropic: Codec<AnthropicMessage> = {
  name: 'anthropic',
  rules: ANTHROPIC_RULES,
  decode(wire, before) {
    const calls = new KnownCalls(before);
    const places = new Place('messages', wire).list();
    wire.forEach((message, i) => {
      if (isJsonObject(message) && message.role === 'system')
        neighbours.set(message, [wire[i - 1], wire[i + 1]]);
    });
    return places.flatMap((place) => decodeAnthropic(place, calls));
  },
  encode(messages) {
    const read = summariesAfterCompaction(messages, () => false);
    return wholeServerPairs(seatSystem(joined(read)), ANTHROPIC_SERVER_BLOCKS);
  },
};

/** One message of the wire, wherever it is kept. */
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
  const words = role === 'user' ? wordsFrom(blocks) : blocks.length;
  if (words < blocks.length) {
    const results = slice(wire, 'tool', blocks, 0, words);
    const said = slice(wire, 'user', blocks, words, blocks.length);
    wholes.set(results.original as object, wire).set(said.original as object, wire);
    return [results, { ...said, extra: { [JOINS]: true } }];
  }
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
/** The messages that slices were cut from: while both are in memory, the very same one goes out again. */
const wholes = new WeakMap<object, JsonObject>();
/** Marks the words of a user message whose tool results are the message before. */
const JOINS = 'joins_results';

/** Where the user's own words begin behind tool results; at the end where there are no results or no words. */
function wordsFrom(blocks: readonly Block[]): number {
  const last = blocks.findLastIndex(({ wire }) => wire['type'] === 'tool_result');
  const isSaid = last >= 0 && blocks.slice(last + 1).some(({ wire }) => !isReminder(wire));
  return isSaid ? last + 1 : blocks.length;
}

/** Claude Code puts notes of its own behind tool results; they are nobody's turn. */
function isReminder({ text }: JsonObject): boolean {
  return typeof text === 'string' && text.startsWith('<system-reminder>');
}

function slice(
  wire: JsonObject,
  role: 'tool' | 'user',
  blocks: readonly Block[],
  from: number,
  to: number,
): Message {
  const own = blocks.slice(from, to);
  const content = own.map((block) => block.wire);
  return { role, parts: own.flatMap(({ parts }) => parts), original: { ...wire, content } };
}

/** A compaction block may have to be the first of the conversation: nothing must be put before it. */
function roleOf(role: AnthropicMessage['role'], parts: readonly Part[]): Message['role'] {
  if (parts.some((part) => part.kind === 'result') && role === 'user') return 'tool';
  const isCompaction = parts.length > 0 && parts.every(isCompactionPart);
  return isCompaction ? 'system' : role;
}

/** The wire messages; what belongs to the tool results before it is one message with them. */
function joined(messages: readonly Message[]): readonly AnthropicMessage[] {
  const wire: AnthropicMessage[] = [];
  for (const message of messages) {
    const encoded = encodeMessage(message);
    const last = wire.at(-1);
    if (encoded === undefined) continue;
    if (last !== undefined && belongsTo(last, message)) wire[wire.length - 1] = join(last, encoded);
    else wire.push(encoded);
  }
  return wire;
}

function join(results: AnthropicMessage, said: AnthropicMessage): AnthropicMessage {
  const whole = wholes.get(results);
  if (whole !== undefined && whole === wholes.get(said))
    return whole as unknown as AnthropicMessage;
  return { ...results, content: [...blocksOf(results), ...blocksOf(said)] };
}

/** Words join the results that they came with, and a result that was made up joins those of its round. */
function belongsTo(last: AnthropicMessage, message: Message): boolean {
  const isMadeUp = message.original === undefined && message.role === 'tool' && hasResults(message);
  const joins = message.extra?.[JOINS] === true || isMadeUp;
  return joins && last.role === 'user' && blocksOf(last).at(-1)?.type === 'tool_result';
}

function blocksOf({ content = [] }: AnthropicMessage): readonly { type: string }[] {
  return typeof content === 'string' ? [textBlock(content)] : content;
}

function textBlock(text: string): { type: string; text: string } {
  return { type: 'text', text };
}

function encodeMessage(message: Message): AnthropicMessage | undefined {
  if (message.original !== undefined) return message.original as AnthropicMessage;
  const content = encodeBlocks(message);
  if (content.length === 0) return undefined;
  const [compactions, own] = splitCompactions(message.extra);
  const { [JOINS]: _, [CALLERS]: __, [OPEN_SERVER_CALLS]: ___, ...extra } = own;
  const role =
    compactions.length > 0 ? 'assistant' : message.role === 'tool' ? 'user' : message.role;
  const [only] = content;
  const isText = content.length === 1 && only?.['type'] === 'text';
  return { role, content: isText ? only['text'] : content, ...extra } as AnthropicMessage;
}

/** What stood before and behind a system message when it came in. */
const neighbours = new WeakMap<object, readonly [unknown, unknown]>();

/**
 * Within the messages, `system` may only follow the user's side, and nothing but the assistant may follow it. Where a
 * compaction took its neighbours away it is said in the user's place; where they are as they came, so is it.
 */
function seatSystem(messages: readonly AnthropicMessage[]): readonly AnthropicMessage[] {
  return messages.map((message, i) => {
    if (message.role !== 'system') return message;
    const [before, behind] = [messages[i - 1], messages[i + 1]];
    const isSeated = before?.role === 'user' && (behind?.role ?? 'assistant') === 'assistant';
    return isSeated || isAsItCame(message, before, behind) ? message : { ...message, role: 'user' };
  });
}

/** A server that took a system message at the beginning takes it there again. */
function isAsItCame(message: object, before: unknown, behind: unknown): boolean {
  const came = neighbours.get(message);
  if (came === undefined || came[0] !== before) return false;
  return before === undefined || came[1] === behind || came[1] === undefined;
}
