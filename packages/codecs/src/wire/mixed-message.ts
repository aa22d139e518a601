import type { Message, Part } from '@bobbin/core';
import { hasResults, type JsonObject, lastIndex } from '@bobbin/core/internal';

/** A block of a message with the parts that it became. */
export interface Block {
  readonly wire: JsonObject;
  readonly parts: readonly Part[];
}

/**
 * Formats in which the user's message holds tool results first and then what the user says. Such a message is two
 * messages inside, so that the words start a turn. They are one again on the wire.
 */
export interface MixedFormat {
  /** The field that holds the blocks. */
  readonly field: string;
  readonly isResult: (block: JsonObject) => boolean;
  /** True for a block after results that no speaker said: a note of the host's, a cache marker. */
  readonly isNote: (block: JsonObject) => boolean;
}

/** The messages that mixed ones were cut from: while both are in memory, the very same one goes out again. */
const wholes = new WeakMap<object, JsonObject>();
/** Marks the words of a message whose tool results are the message before. */
const JOINS = 'joins_results';

/** The two messages of a mixed one; undefined if it holds only results, or none. */
export function splitMixed(
  wire: JsonObject,
  blocks: readonly Block[],
  format: MixedFormat,
): readonly Message[] | undefined {
  const from = wordsFrom(blocks, format);
  if (from === undefined) return undefined;
  const part = (role: 'tool' | 'user', own: readonly Block[]): Message => {
    const original = { ...wire, [format.field]: own.map((block) => block.wire) };
    wholes.set(original, wire);
    return { role, parts: own.flatMap(({ parts }) => parts), original };
  };
  const said = part('user', blocks.slice(from));
  return [part('tool', blocks.slice(0, from)), { ...said, extra: { [JOINS]: true } }];
}

/** Where the user's own words begin after tool results. */
function wordsFrom(blocks: readonly Block[], format: MixedFormat): number | undefined {
  let last = -1;
  blocks.forEach(({ wire }, i) => {
    if (format.isResult(wire)) last = i;
  });
  const isSaid = last >= 0 && blocks.slice(last + 1).some(({ wire }) => !format.isNote(wire));
  return isSaid ? last + 1 : undefined;
}

/** The fields of `extra` that go to the wire. */
export function withoutJoin({ extra = {} }: Message): JsonObject {
  const { [JOINS]: _, ...rest } = extra;
  return rest;
}

/** The wire messages; what belongs to the tool results before it is one message with them. */
export function joinMixed<Wire extends object>(
  messages: readonly Message[],
  encode: (message: Message) => Wire | undefined,
  format: MixedFormat,
): readonly Wire[] {
  const wire: Wire[] = [];
  for (const message of messages) {
    const encoded = encode(message);
    const last = wire[wire.length - 1];
    if (encoded === undefined) continue;
    if (last !== undefined && belongsTo(last, message, format))
      wire[wire.length - 1] = join(last, encoded, format);
    else wire.push(encoded);
  }
  return wire;
}

/** Results go before the words that the message has already. */
function join<Wire extends object>(last: Wire, added: Wire, format: MixedFormat): Wire {
  const whole = wholes.get(last);
  if (whole !== undefined && whole === wholes.get(added)) return whole as Wire;
  const blocks = blocksIn(last, format.field);
  const more = blocksIn(added, format.field);
  const at = more.every(format.isResult) ? lastIndex(blocks, format.isResult) + 1 : blocks.length;
  return { ...last, [format.field]: [...blocks.slice(0, at), ...more, ...blocks.slice(at)] };
}

/** One message of two that follow one another. */
function concatenated<Wire extends object>(first: Wire, second: Wire, field: string): Wire {
  return { ...first, [field]: [...blocksIn(first, field), ...blocksIn(second, field)] };
}

/** Words join the results that they came with, and a result that was made up joins those of its round. */
function belongsTo(last: object, message: Message, format: MixedFormat): boolean {
  const isMadeUp = message.original === undefined && message.role === 'tool' && hasResults(message);
  const blocks = blocksIn(last, format.field);
  const end = blocks[blocks.length - 1];
  if (isMadeUp) return blocks.some(format.isResult);
  return message.extra?.[JOINS] === true && end !== undefined && format.isResult(end);
}

function blocksIn(message: object, field: string): readonly JsonObject[] {
  const blocks: unknown = (message as JsonObject)[field];
  if (typeof blocks === 'string') return [{ type: 'text', text: blocks }];
  return Array.isArray(blocks) ? (blocks as readonly JsonObject[]) : [];
}

const followers = new WeakMap<object, unknown>();

/** Remembers how messages came, so that those of one role that followed one another still do. */
export function rememberOrder(wire: readonly unknown[]): void {
  wire.forEach((message, i) => {
    if (typeof message === 'object' && message !== null) followers.set(message, wire[i + 1]);
  });
}

/** Formats that take no two messages of one role in a row: what a compaction brought together is one message. */
export function mergedRoles<Wire extends { readonly role?: unknown }>(
  messages: readonly Wire[],
  field: string,
): readonly Wire[] {
  const merged: Wire[] = [];
  for (const message of messages) {
    const last = merged[merged.length - 1];
    const isApart = last === undefined || last.role !== message.role;
    if (isApart || followers.get(last) === message) merged.push(message);
    else merged[merged.length - 1] = concatenated(last, message, field);
  }
  return merged;
}
