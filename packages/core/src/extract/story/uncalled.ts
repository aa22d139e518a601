import { callsOf } from '../../message/message.ts';
import type { Node } from '../../thread/thread.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import { functionsIn, replacementsIn, type Replacement } from './changes.ts';

const IDENTIFIER = /[A-Za-z_$][\w$]*/g;
const COMMENT = /^\s*(?:\/\/|#|\*|\/\*|--|"""|''')/;
/** A runner of tests calls these. */
const TEST = /^(?:[Tt]est|Benchmark|Example|Fuzz)/;
const MOST_NAMES = 8;

/** The functions that edits after a message add and that no other line of these edits names: nothing calls them yet. */
export function uncalledFunctions(
  nodes: readonly Node[],
  statistics: AnchorStatistics,
  since: number,
): readonly string[] {
  const edits = nodes
    .filter(({ index }) => index > since)
    .flatMap(({ message, index }) =>
      callsOf(message)
        .filter(({ callId }) => statistics.changedBy(callId, index).length > 0)
        .flatMap(({ args }) => replacementsIn(args)),
    );
  const declared = new Map<string, number>();
  for (const { before, after } of edits) {
    for (const name of functionsIn(after)) add(declared, name, 1);
    for (const name of functionsIn(before)) add(declared, name, -1);
  }
  const named = namedIn(edits, declared);
  return [...declared]
    .filter(([name, times]) => times > 0 && (named.get(name) ?? 0) <= times && !TEST.test(name))
    .map(([name]) => name)
    .slice(-MOST_NAMES);
}

/** How often some names are in code that is left after the edits. */
function namedIn(
  edits: readonly Replacement[],
  names: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (names.size === 0) return counts;
  const count = (text: string, by: number): void => {
    for (const line of text.split('\n'))
      if (!COMMENT.test(line))
        for (const [name] of line.matchAll(IDENTIFIER)) if (names.has(name)) add(counts, name, by);
  };
  for (const { before, after } of edits) {
    count(after, 1);
    count(before, -1);
  }
  return counts;
}

function add(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
