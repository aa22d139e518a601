import { lastOf } from '../check/list.ts';
import { startsTurn, type MessageId } from '../message/message.ts';
import { messageLimit, type Budget } from '../tokens/budget.ts';
import type { Draft } from './draft.ts';

/** Which parts that are never compacted were shortened, in words for a person. */
export function shortenedPins(draft: Draft, pins: readonly MessageId[]): string {
  const { entries } = draft;
  const newest = lastOf(entries, ({ message }) => startsTurn(message));
  const shortened = entries.filter((entry) => entry.pinned && draft.action(entry) !== undefined);
  const names = shortened.map(({ message, unit, pending }) => {
    if (message.role === 'system') return 'system messages';
    if (unit === newest?.unit) return 'the newest user message';
    if (pending) return 'calls that wait for results';
    // What belongs to a pinned message stays with it.
    const isPinned = entries.some(
      ({ node, unit: of }) =>
        of === unit && (pins.includes(node.id) || node.message.meta?.pinned === true),
    );
    return isPinned ? 'pinned messages' : 'messages that could not be read';
  });
  return [...new Set(names)].join(' and ');
}

/** What leaves the messages so little space, by the names of the budget's parts. */
export function limitText(budget: Budget): string {
  const { windowTokens, softShare: _, ...reserves } = budget;
  const taken = Object.entries(reserves).flatMap(([name, tokens]) =>
    tokens > 0 ? [`${name} ${tokens}`] : [],
  );
  const less = taken.length === 0 ? '' : ` less ${taken.join(', ')}`;
  return `a window of ${windowTokens}${less} leaves ${messageLimit(budget)} for messages`;
}
