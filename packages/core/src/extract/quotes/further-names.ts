import { sorted } from '../../check/list.ts';
import { callsOf } from '../../message/message.ts';
import { headOf } from '../../message/text.ts';
import type { Node } from '../../thread/thread.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import type { Selection } from './select.ts';

const LONGEST_NAME = 60;

/**
 * Exact names that nothing shows, the most needed first: an agent that knows how a thing is called need not look for it.
 * The names of tools and of their arguments are in every request anyway.
 */
export function furtherNames(
  { anchors }: AnchorStatistics,
  { need, shown }: Selection,
  ofTools: ReadonlySet<string>,
  spaceChars: number,
): readonly string[] {
  const names: string[] = [];
  let left = spaceChars;
  const ranked = sorted(
    [...need.keys()].filter((id) => shown[id] === 0),
    (a, b) => (need[b] as number) - (need[a] as number),
  );
  for (const id of ranked) {
    const name = anchors[id]?.full ?? '';
    const isShown = names.some((other) => other.includes(name));
    if (name.length > LONGEST_NAME || ofTools.has(name) || isShown) continue;
    left -= name.length + 2;
    if (left < 0) break;
    names.push(name);
  }
  return names;
}

/** Arguments are read to here: the names of fields are at the beginning. */
const READ_CHARS = 2_000;

/** The names of the tools that were called, and of their arguments at any depth. */
export function namesOfTools(nodes: readonly Node[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { message } of nodes)
    for (const { tool, args } of callsOf(message)) {
      names.add(tool);
      for (const [, name = ''] of headOf(args, READ_CHARS).matchAll(/"(\w{1,60})"\s{0,2}:/g))
        names.add(name);
    }
  return names;
}
