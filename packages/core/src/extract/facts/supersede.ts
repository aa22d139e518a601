import { sorted } from '../../check/list.ts';
import { contentWords } from '../../message/text.ts';
import type { Fact, Speaker } from '../../plan/summary.ts';

/** Whose word counts more. Only a speaker of at least the same rank takes a statement back. */
const RANK: Readonly<Record<Speaker, number>> = { tool: 0, assistant: 1, user: 2, system: 3 };

export interface Superseded {
  readonly fact: Fact;
  readonly by: Fact;
}

/**
 * The facts that still hold, each once with the turn in which it was last said, in the order in which they came up. A
 * later fact replaces one that a speaker of no higher rank said in an earlier turn, in three cases only, because a
 * stale constraint does less harm than a lost one:
 *
 * 1. both give a value to the same thing, in the same words but for the value: "the limit is 500" → "the limit is 800";
 * 2. both speak of the same things in the same words, and one forbids what the other allows or asks for;
 * 3. the later one takes back in words ("no longer", "instead of", ", not 7443", "any more", "forget") and names all
 *    that the earlier one names.
 */
export function standingFacts(facts: readonly Fact[]): {
  readonly facts: readonly Fact[];
  readonly superseded: readonly Superseded[];
} {
  const kept = new Map<string, Fact>();
  for (const fact of facts) {
    const key = saying(fact.text);
    const known = kept.get(key);
    if (known === undefined || isLater(fact, known) || RANK[fact.by] > RANK[known.by])
      kept.set(key, fact);
  }
  const statements = bounded([...kept.values()], MOST_COMPARED).map((fact) => ({
    fact,
    ...claimOf(fact.text),
  }));
  const latestFirst = sorted(statements, (a, b) => b.fact.turn - a.fact.turn);
  const superseded: Superseded[] = [];
  const current = statements.filter((earlier) => {
    const taker = latestFirst.find((later) => takesBack(later, earlier));
    if (taker !== undefined) superseded.push({ fact: earlier.fact, by: taker.fact });
    return taker === undefined;
  });
  const standing = current.map(({ fact }) => fact);
  return { facts: bounded(standing, MOST_FACTS), superseded };
}

const MOST_FACTS = 500;
/** Facts are compared pairwise: of more, only so many are looked at. */
const MOST_COMPARED = 2_000;
const WEIGHT: Readonly<Record<Fact['kind'], number>> = { constraint: 2, value: 1, preference: 0 };

/**
 * A summary carries a bounded number of facts: constraints by those who give orders go last, the oldest of them first.
 */
function bounded(facts: readonly Fact[], most: number): readonly Fact[] {
  if (facts.length <= most) return facts;
  const kept = sorted(
    facts,
    (a, b) => RANK[b.by] - RANK[a.by] || WEIGHT[b.kind] - WEIGHT[a.kind] || b.turn - a.turn,
  ).slice(0, most);
  const stays = new Set(kept);
  return facts.filter((fact) => stays.has(fact));
}

function isLater(a: Fact, b: Fact): boolean {
  return a.turn > b.turn && RANK[a.by] >= RANK[b.by];
}

/** The later facts that must be read with some facts: they take one back, give another value, or name what is wrong. */
export function corrections(facts: readonly Fact[], later: readonly Fact[]): readonly Fact[] {
  const { superseded } = standingFacts([...facts, ...later]);
  const takers = new Set(superseded.filter(({ fact }) => facts.includes(fact)).map(({ by }) => by));
  return standingFacts(later).facts.filter(
    (one) => takers.has(one) || facts.some((fact) => isLater(one, fact) && corrects(one, fact)),
  );
}

/** A thing with its number: "the port must stay 7443". */
const GIVEN =
  /([\p{L}_][\p{L}\p{N}_]*)\s+(?:(?:must|should|has|have|needs?|is|are|be|stays?|remains?|to|now|of|at|=|:)\s+){0,4}[$€£]?(\d(?:[\d.,]*\d)?)/giu;
/** What is named as wrong, in a few words. */
const WRONG = /(?:, not|\binstead of|\brather than|\bno longer)\s+((?:[^\s,;.]+ ?){1,3})/gi;

function corrects({ text }: Fact, fact: Fact): boolean {
  const words = new Set(contentWords(fact.text));
  const wrong = [...text.matchAll(WRONG)].flatMap(([, named = '']) => contentWords(named));
  if (wrong.some((word) => words.has(word))) return true;
  const given = new Map(
    [...fact.text.matchAll(GIVEN)].map(([, of = '', value]) => [plain(of), value]),
  );
  return [...text.matchAll(GIVEN)].some(([, of = '', value]) => {
    const known = given.get(plain(of));
    return known !== undefined && known !== value;
  });
}

/** What negates a report of a preference; "without" belongs to the preference itself. */
const UNWANTED =
  /\b(?:never|not|no|nothing|nobody|forbids?|forbade|forbidden|prohibit\w*|refus\w*|against|avoid|stop)\b|n't\b/i;

/** The fact that a report of what a person wants or allows reverses: it names all of it, with the opposite meaning. */
export function turnedRound(report: string, facts: readonly Fact[]): Fact | undefined {
  const words = new Set(contentWords(report));
  const forbids = UNWANTED.test(report);
  return facts.find((fact) => {
    const { things, forbids: forbidden } = claimOf(fact.text);
    return things.size > 0 && forbidden !== forbids && [...things].every((one) => words.has(one));
  });
}

interface Statement extends Claim {
  readonly fact: Fact;
}

/** True in the three cases in which a later fact replaces an earlier one. */
function takesBack(later: Statement, earlier: Statement): boolean {
  const { frame, things, forbids } = earlier;
  if (!isLater(later.fact, earlier.fact)) return false;
  if (frame !== undefined && frame === later.frame) return true;
  if (things.size === 0 || [...things].some((thing) => !later.things.has(thing))) return false;
  const isOpposite = forbids !== later.forbids && things.size === later.things.size;
  return isOpposite || (later.takesBack && !earlier.takesBack);
}

interface Claim {
  /** The words with the value left out; undefined if the fact gives no value. */
  readonly frame: string | undefined;
  readonly things: ReadonlySet<string>;
  readonly forbids: boolean;
  readonly takesBack: boolean;
}

const VALUE =
  /\b(is|are|was|=|be|use|using|to|after|every|than|at most|at least|at|no more than|up to|within|below|under|over|version|v|port|budget|limit|timeout)\s*:?\s*(?:[$€£]\s?)?(\d[\d.,_]*\s?(?:[kKmM%]\b|[a-zA-Z]{0,3}\b)?|"[^"]{1,60}"|`[^`]{1,60}`|'[^']{1,60}')/gi;
/** "Node 20", "Python v3.9": a name with its version. */
const VERSION =
  /\b((?:[Uu]se|[Uu]sing|[Tt]arget|[Oo]n|to|with|[Rr]equires?|[Ss]upport)\s+(?:\w+\s+)?(?:[A-Z][\w.+#]*|node|python|java|go|ruby|php|rust))\s+v?\d+(?:\.\d+)*\b/g;
const FORBIDS = /\b(?:never|not|n't|don't|no|avoid|without|stop|forbid(?:den)?)\b|n't\b/i;
const TAKES_BACK =
  /\b(?:no longer|instead of|rather than|any ?more|forget|scrap|drop the)\b|, not [\d"'`$€£]/i;
/** Words that say how strongly, not what. */
const MODAL =
  /\b(?:never|always|must|only|please|now|from now on|may|can|should|ok(?:ay)?|allowed|again|do|don't|not|n't|no|avoid|without|stop|you|we|i|actually|instead|fine|stays?|remains?)\b/gi;

/** Words that say nothing of what a value is for: "use #" is true of many things at once. */
const BARE =
  /\b(?:use|using|used|set|take|run|go with|to|make|have|need|at most|at least|no more than|up to|within|below|under|over)\b/gi;

function claimOf(text: string): Claim {
  const bare = text.replace(MODAL, ' ');
  return {
    frame: frameOf(text),
    things: new Set(contentWords(bare)),
    forbids: FORBIDS.test(text),
    takesBack: TAKES_BACK.test(text),
  };
}

/** The words around the only value of a text, if they or its unit say what it is the value of. */
function frameOf(text: string): string | undefined {
  if (!/[\d"`']/.test(text)) return undefined;
  const pattern = [VERSION, VALUE].find((one) => text.match(one)?.length === 1);
  if (pattern === undefined) return undefined;
  const frame = text.replace(pattern, '$1 #').replace(MODAL, ' ');
  if (contentWords(frame.replace(BARE, ' ')).length > 0) return plain(frame);
  const unit = /\d\s?([a-z%]{1,3})\b/i.exec(text)?.[1];
  return unit === undefined ? undefined : `${plain(frame)} ${unit.toLowerCase()}`;
}

/** The words of a text without case, punctuation and spacing. */
export function plain(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}#]+/gu) ?? []).join(' ');
}

const LEAD =
  /^(?:(?:yes|yeah|ok|okay|sure|please|also|and|but|so|again|just|now|remember|important|note|oh|hey) )+/;

/** The same without the words that only lead to what is said. */
function saying(text: string): string {
  return plain(text)
    .replace(LEAD, '')
    .replace(/(?: (?:please|thanks|again))+$/, '');
}
