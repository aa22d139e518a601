import { contentWords } from './names.ts';
import type { Fact, Speaker } from './summary.ts';

/** Whose word counts more. A statement is only taken back by somebody of at least the same standing. */
const STANDING: Readonly<Record<Speaker, number>> = { tool: 0, assistant: 1, user: 2, system: 3 };

export interface Superseded {
  readonly fact: Fact;
  readonly by: Fact;
}

/**
 * The facts that still hold, each once with the turn in which it was last said, in the order in which they came up. A later fact takes the place of an
 * earlier one, said in an earlier turn by somebody of no higher standing, in three cases only, because a stale
 * constraint does less harm than a lost one:
 *
 * 1. both give a value to the same thing, in the same words but for the value: "the limit is 500" → "the limit is 800";
 * 2. both speak of the same things in the same words, and one forbids what the other allows or asks for;
 * 3. the later one takes back in words ("no longer", "instead of", "not … any more", "forget") and names all that the
 *    earlier one names.
 */
export function standingFacts(facts: readonly Fact[]): {
  readonly facts: readonly Fact[];
  readonly superseded: readonly Superseded[];
} {
  const kept = new Map<string, Fact>();
  for (const fact of facts) {
    const key = plain(fact.text);
    const known = kept.get(key);
    if (known === undefined || isLater(fact, known) || STANDING[fact.by] > STANDING[known.by])
      kept.set(key, fact);
  }
  const unique = [...kept.values()].map((fact) => ({ fact, ...termsOf(fact.text) }));
  const superseded: Superseded[] = [];
  const standing = unique.filter((earlier, i) => {
    const later = unique.find(
      (other, j) => j !== i && isLater(other.fact, earlier.fact) && replaces(other, earlier),
    );
    if (later !== undefined) superseded.push({ fact: earlier.fact, by: later.fact });
    return later === undefined;
  });
  return { facts: standing.map(({ fact }) => fact), superseded };
}

function isLater(a: Fact, b: Fact): boolean {
  return a.turn > b.turn && STANDING[a.by] >= STANDING[b.by];
}

interface Terms {
  /** The words with the value left out; undefined where the fact gives no value. */
  readonly frame: string | undefined;
  readonly things: ReadonlySet<string>;
  readonly forbids: boolean;
  readonly takesBack: boolean;
}

const VALUE =
  /\b(is|are|was|=|be|use|using|to|at most|at least|no more than|up to|within|below|under|over|version|v|port|budget|limit|timeout)\s*:?\s*(?:[$€£]\s?)?(\d[\d.,_]*\s?(?:[kKmM%]\b|[a-zA-Z]{0,3}\b)?|"[^"]{1,60}"|`[^`]{1,60}`|'[^']{1,60}')/gi;
const FORBIDS = /\b(?:never|not|n't|don't|no|avoid|without|stop|forbid(?:den)?)\b|n't\b/i;
const TAKES_BACK = /\b(?:no longer|instead of|rather than|any ?more|forget|scrap|drop the)\b/i;
/** Words that say how strongly, not what. */
const MODAL =
  /\b(?:never|always|must|only|please|now|from now on|may|can|should|ok(?:ay)?|allowed|again|do|don't|not|n't|no|avoid|without|stop|you|we|i|actually|instead|fine)\b/gi;

function termsOf(text: string): Terms {
  const values = [...text.matchAll(VALUE)];
  const things = new Set(contentWords(text.replace(MODAL, ' ')));
  return {
    frame: values.length === 1 ? plain(text.replace(VALUE, '$1 #').replace(MODAL, ' ')) : undefined,
    things,
    forbids: FORBIDS.test(text),
    takesBack: TAKES_BACK.test(text),
  };
}

function replaces(later: Terms, earlier: Terms): boolean {
  if (later.frame !== undefined && later.frame === earlier.frame) return true;
  if (earlier.things.size === 0) return false;
  const namesAll = [...earlier.things].every((thing) => later.things.has(thing));
  if (later.takesBack) return namesAll && !earlier.takesBack;
  return namesAll && later.things.size === earlier.things.size && later.forbids !== earlier.forbids;
}

/** The words of a text without case, punctuation and spacing. */
export function plain(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}#]+/gu) ?? []).join(' ');
}
