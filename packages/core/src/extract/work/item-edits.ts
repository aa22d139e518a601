import { callsOf } from '../../message/message.ts';
import type { Item } from '../../plan/summary.ts';
import type { Node } from '../../thread/thread.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import { replacementsIn, type Replacement } from './changes.ts';

/** A name of code: a plain word is too common. */
const NAME = /\b[A-Za-z_]\w*(?:[a-z][A-Z]|_[a-z])\w*\b/g;
const MOST_EDITS = 5;

/**
 * Items of which nobody said that they are finished, each with the edits since its state was reported that put a name of
 * the item into a file.
 */
export function withEditsSince(
  items: readonly Item[],
  nodes: readonly Node[],
  statistics: AnchorStatistics,
): readonly Item[] {
  const first = Math.min(...items.map((item) => statedAt(item)));
  const edits = nodes
    .filter(({ index }) => index > first)
    .map((node) => ({ at: node.index, edits: editsIn(node, statistics) }));
  return items.map((item) => {
    if (item.state === 'done') return item;
    const names = item.text.match(NAME) ?? [];
    const found = edits
      .filter(({ at, edits: own }) => at > statedAt(item) && own.some((one) => puts(one, names)))
      .map(({ at }) => at);
    const editedAt = [...new Set([...(item.editedAt ?? []), ...found])].slice(-MOST_EDITS);
    return editedAt.length === 0 ? item : { ...item, editedAt };
  });
}

const statedAt = (item: Item): number => item.statedAt ?? Infinity;

/** What the calls of a message put into files. */
function editsIn({ message, index }: Node, statistics: AnchorStatistics): readonly Replacement[] {
  return callsOf(message).flatMap(({ callId, args }) =>
    statistics.changedBy(callId, index).length === 0 ? [] : replacementsIn(args),
  );
}

const puts = ({ before, after }: Replacement, names: readonly string[]): boolean =>
  names.some((name) => after.includes(name) && !before.includes(name));
