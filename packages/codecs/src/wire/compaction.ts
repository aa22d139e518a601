import type { Message, Part } from '@bobbin/core';
import { hasResults, isJsonObject, type JsonObject, lastIndex } from '@bobbin/core/internal';

/**
 * The field of `extra` that holds what a provider made of the conversation before it, in its wire form. It is there and
 * not in the part, so that no plan can put a note in its place.
 */
const COMPACTION = 'compaction';

/** The part that marks a provider's own compaction. */
export function compactionPart(type: string): Part {
  return { kind: 'opaque', type, value: { type }, compaction: true };
}

/** The field of `extra` for the compactions of a message, as they are on the wire. */
export function compactionExtra(wire: readonly JsonObject[]): JsonObject {
  return wire.length === 0 ? {} : { [COMPACTION]: wire };
}

/** The compactions of a message in their wire form, and the rest of its `extra`. */
export function splitCompactions(
  extra: JsonObject = {},
): readonly [readonly JsonObject[], JsonObject] {
  const { [COMPACTION]: wire, ...rest } = extra;
  return [Array.isArray(wire) ? wire.filter(isJsonObject) : [], rest];
}

/** The parts of a message without the marks of compactions. */
export function withoutCompactions(parts: readonly Part[]): readonly Part[] {
  return parts.filter((part) => !isCompactionPart(part));
}

export function isCompactionPart(part: Part): boolean {
  return part.kind === 'opaque' && part.compaction === true;
}

function hasCompaction({ extra }: Message): boolean {
  return extra?.[COMPACTION] !== undefined;
}

/**
 * The messages as a provider reads them that compacted the conversation itself. It drops what comes before its newest
 * compaction, so summaries that were put there go after it. `isRead` says which other messages may stay before it. If
 * everything before it is unchanged, nothing changes.
 */
export function summariesAfterCompaction(
  messages: readonly Message[],
  isRead: (message: Message) => boolean,
): readonly Message[] {
  const at = lastIndex(messages, hasCompaction);
  const before = messages.slice(0, Math.max(0, at));
  if (before.every(({ original }) => original !== undefined)) return messages;
  const summaries = before.filter(({ meta }) => meta?.synthetic === true);
  let round = at + 1;
  while (messages[round] !== undefined && hasResults(messages[round] as Message)) round++;
  return [
    ...before.filter((message) => message.original !== undefined && isRead(message)),
    ...messages.slice(at, round),
    ...summaries,
    ...messages.slice(round),
  ];
}
