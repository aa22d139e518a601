import { sorted } from '../../check/list.ts';
import { callsOf } from '../../message/message.ts';
import { headOf } from '../../message/text.ts';
import type { Redact } from '../../summary/redact.ts';
import type { Node } from '../../thread/thread.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import type { Selection } from './select.ts';

const LONGEST_NAME = 60;
/** So many names are looked at for each character that there is space for. */
const CANDIDATES_PER_CHAR = 0.2;

/** Words with a slash between them, as in "create/edit": prose, not a path. */
const ALTERNATIVES = /^[A-Za-z]+(?:-[A-Za-z]+)*\/(?:[A-Za-z]+(?:-[A-Za-z]+)*|\d+)$/;

/** What must not be named. */
export interface Unnamed {
  /** The names of tools and of their arguments are in every request anyway. */
  readonly ofTools: ReadonlySet<string>;
  /** The indexes of messages that may expire: what only they say is not kept. */
  readonly expiring: ReadonlySet<number>;
  readonly redact: Redact;
}

/**
 * Exact names that nothing shows, the most needed first: an agent that knows how a thing is called need not look for it.
 */
export function furtherNames(
  statistics: AnchorStatistics,
  { need, shown }: Selection,
  unnamed: Unnamed,
  spaceChars: number,
): readonly string[] {
  if (spaceChars <= 0) return [];
  const ranked = sorted(
    [...need.keys()].filter((id) => shown[id] === 0),
    (a, b) => (need[b] as number) - (need[a] as number),
  ).slice(0, Math.ceil(spaceChars * CANDIDATES_PER_CHAR));
  const places = placesOf(ranked, statistics, unnamed.expiring);
  const names: string[] = [];
  let left = spaceChars;
  for (const id of ranked) {
    const name = statistics.anchors[id]?.full ?? '';
    const isShown = names.some((other) => other.includes(name));
    if (name.length > LONGEST_NAME || unnamed.ofTools.has(name) || isShown) continue;
    if (ALTERNATIVES.test(name)) continue;
    if (!isHarmless(name, places.get(id) ?? [], unnamed.redact)) continue;
    left -= name.length + 2;
    if (left < 0) break;
    names.push(name);
  }
  return names;
}

/** What may make a secret of a name is next to it: `password:` in its line, or in the line before. */
const [CHARS_BEFORE, CHARS_AFTER] = [200, 40];
const MOST_PLACES = 8;

/** The texts around each of some anchors, without messages that may expire. */
function placesOf(
  ids: readonly number[],
  { placed }: AnchorStatistics,
  expiring: ReadonlySet<number>,
): ReadonlyMap<number, readonly string[]> {
  const places = new Map<number, string[]>(ids.map((id) => [id, []]));
  for (const { segment, ids: mentioned, index } of placed) {
    if (expiring.has(index)) continue;
    for (const { start, end, mentions } of segment.pieces)
      for (const at of mentions) {
        const own = places.get(mentioned[at] as number);
        if (own !== undefined && own.length < MOST_PLACES)
          own.push(segment.text.slice(Math.max(0, start - CHARS_BEFORE), end + CHARS_AFTER));
      }
  }
  return places;
}

function isHarmless(name: string, places: readonly string[], redact: Redact): boolean {
  return (
    places.length > 0 && places.every((text) => !text.includes(name) || redact(text).includes(name))
  );
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
