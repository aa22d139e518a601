import { callsOf } from '../../message/message.ts';
import { isDocument } from '../../summary/file-texts.ts';
import type { Node } from '../../thread/thread.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import { functionsIn, replacementsIn, type Replacement } from './changes.ts';

const IDENTIFIER = /[A-Za-z_$][\w$]*/g;
const COMMENT = /^\s*(?:\/\/|#|\*(?:\s|\/|$)|\/\*|--\s|"""|''')/;
/** A runner of tests, the language or its library calls these. */
const CALLED =
  /^(?:[Tt]est|Benchmark|Example|Fuzz|__|(?:[Uu]nm|[Mm])arshal(?:[A-Z]|$)|(?:String|Error|Unwrap|ServeHTTP|toString|toJSON)$)/;
const MOST_NAMES = 8;

/**
 * The functions that edits after a message add and that no other line of these edits names: nothing calls them yet.
 * Empty if some of these edits are not known.
 */
export function uncalledFunctions(
  nodes: readonly Node[],
  statistics: AnchorStatistics,
  since: number,
): readonly string[] {
  if ((nodes[0]?.index ?? 0) > since + 1) return [];
  const later = nodes.filter(({ index }) => index > since);
  const edits = later.flatMap((node) => editsIn(node, statistics));
  const declared = addedFunctions(edits);
  if (declared.size === 0) return [];
  const named = namedIn(edits, declared);
  for (const name of namedInCommands(later, declared)) named.set(name, 2);
  return [...declared]
    .filter((name) => named.get(name) === 1 && !CALLED.test(name))
    .slice(-MOST_NAMES);
}

/** The functions that the first edit which names them adds: others were there before. */
function addedFunctions(edits: readonly Replacement[]): ReadonlySet<string> {
  const added = new Set<string>();
  const known = new Set<string>();
  for (const { before, after } of edits) {
    for (const name of functionsIn(before)) known.add(name);
    for (const name of functionsIn(after)) {
      if (!known.has(name)) added.add(name);
      known.add(name);
    }
  }
  return added;
}

/** What the calls of a message put into files. What they write over a file that was read may be older. */
function editsIn({ message, index }: Node, statistics: AnchorStatistics): readonly Replacement[] {
  return callsOf(message).flatMap(({ callId, args }) => {
    const files = statistics.changedBy(callId, index);
    const isKnown = files.some(({ reads }) => reads > 0);
    // A document that names a function calls nothing.
    return files.every(({ path }) => isDocument(path))
      ? []
      : replacementsIn(args).filter(({ before }) => before !== '' || !isKnown);
  });
}

/** How many lines of code that the edits added, and did not take away again, have some names. */
function namedIn(edits: readonly Replacement[], names: ReadonlySet<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [line, times] of linesLeft(edits))
    for (const [name] of times > 0 ? line.matchAll(IDENTIFIER) : [])
      if (names.has(name)) counts.set(name, (counts.get(name) ?? 0) + times);
  return counts;
}

/** The lines of code that the edits added, by how many of them are left. */
function linesLeft(edits: readonly Replacement[]): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const add = (text: string, by: number): void => {
    for (const line of text.split('\n')) {
      const left = (lines.get(line.trim()) ?? 0) + by;
      // Only what an edit added is taken away: other code was there before.
      if (left >= 0 && !COMMENT.test(line)) lines.set(line.trim(), left);
    }
  };
  for (const { before, after } of edits) {
    add(before, -1);
    add(after, 1);
  }
  return lines;
}

/** The names in texts that commands of a shell write into files. */
function namedInCommands(nodes: readonly Node[], names: ReadonlySet<string>): readonly string[] {
  return nodes
    .flatMap(({ message }) => callsOf(message))
    .filter(({ args }) => args.includes('<<'))
    .flatMap(({ args }) => args.replace(/\\[nrt]/g, ' ').match(IDENTIFIER) ?? [])
    .filter((name) => names.has(name));
}
