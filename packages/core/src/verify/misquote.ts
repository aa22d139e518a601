import { contentWords } from '../message/text.ts';
import type { Speaker } from '../plan/summary.ts';
import { repeatedPassage, tokensOf, type Step, type Token } from './alignment.ts';
import { AUXILIARY } from './denied-words.ts';
import type { Evidence, Statement } from './evidence.ts';
import { isSameNumber, ORDINAL } from './other-number.ts';

/** A sentence that repeats a statement except for one word that matters. */
export interface Misquote {
  /** The sentence with the statement's word. */
  readonly text: string;
  /** The statement's words around that place. */
  readonly said: string;
  readonly statement: Statement;
}

/** Fewer equal words may be a coincidence. */
const LEAST_EQUAL = 4;
const LEAST_CONTENT = 3;
/** Of a passage that repeats another, at least this share of the words is equal. */
const REPEATS = 0.8;
/** A sentence that has more words than the statement repeats may be about something else. */
const COVERS = 0.6;
/** A statement with fewer equal words, relative to the one that is misquoted, cannot confirm the sentence. */
const CONFIRMS = 0.7;
const LEAST_SHARE = 0.4;

/** The statement that a sentence misquotes, if the messages nowhere say it as the sentence does. */
export function misquoted(
  sentence: string,
  claim: string,
  evidence: Evidence,
): Misquote | undefined {
  if (claim.length > LONGEST) return undefined;
  const own = tokensOf(claim);
  const isSentence = claim === sentence;
  const alike = evidence
    .matches(claim)
    .filter(
      ({ share, statement }) =>
        share >= LEAST_SHARE &&
        statement.text.length <= LONGEST &&
        statement.id !== undefined &&
        (!isSentence || statement.by !== 'tool'),
    )
    .map(({ statement }) => {
      const other = tokensOf(statement.text);
      return { statement, other, passage: repeatedPassage(own, other) };
    });
  const most = Math.max(0, ...alike.map(({ passage }) => equalIn(passage)));
  for (const { statement, other, passage } of alike) {
    if (!repeats(own, passage)) continue;
    // Another statement is nearer: it may be a template, as in "got %d".
    if (!statement.isSaid && equalIn(passage) < most) continue;
    if (isSentence && equalIn(passage) < own.length * COVERS) continue;
    const change = changeThatMatters(own, other, statement.by, passage);
    if (change === undefined) continue;
    const isCorrectedThere = alike.some(
      (one) => one.statement.id === statement.id && hasWords(one.other, own, change),
    );
    if (isCorrectedThere) continue;
    const least = equalIn(passage) * CONFIRMS;
    const isConfirmed = alike.some(
      (one) => equalIn(one.passage) >= least && confirms(one.passage, change),
    );
    const isSaidElsewhere = isSentence && evidence.mentions(surroundings(claim, own, change));
    if (isConfirmed || isSaidElsewhere) continue;
    return corrected(sentence, claim, own, change, statement);
  }
  return undefined;
}

const LONGEST = 1_200;

const equalIn = (passage: readonly Step[]): number =>
  passage.filter(({ isEqual }) => isEqual).length;

function repeats(own: readonly Token[], passage: readonly Step[]): boolean {
  const equal = passage.filter(({ isEqual }) => isEqual);
  if (equal.length < LEAST_EQUAL || equal.length < passage.length * REPEATS) return false;
  const words = equal.map(({ own: i }) => own[i as number]?.text ?? '').join(' ');
  return new Set(contentWords(words)).size >= LEAST_CONTENT;
}

/** Words of the sentence, and those of the statement in their place. Either may be empty. */
interface Change {
  readonly from: number;
  readonly beyond: number;
  readonly otherFrom: number;
  readonly otherBeyond: number;
  /** True if the words before and after it are equal. */
  readonly isInside: boolean;
}

interface Contradiction extends Change {
  /** The statement's words in the place of the sentence's. */
  readonly words: readonly Token[];
}

/** The first place where two passages differ in what they say, rather than in how they say it. */
function changeThatMatters(
  own: readonly Token[],
  other: readonly Token[],
  by: Speaker,
  passage: readonly Step[],
): Contradiction | undefined {
  for (const change of changesIn(passage)) {
    const mine = own.slice(change.from, change.beyond);
    const words = other.slice(change.otherFrom, change.otherBeyond);
    const isWordless = mine.length === 0 || words.length === 0;
    if (isOpposite(mine, words) && (!isWordless || isBetweenEqual(own, passage, change)))
      return { ...change, words };
    // A model numbers things in its own way; a person's words are quoted as they are.
    const isPlace = by !== 'user' && ORDINAL.test(own[change.from - 1]?.key ?? '');
    const isLast = change.from > 0 && change.beyond === own.length;
    if ((change.isInside || isLast) && !isPlace && isOtherNumberOrFile(mine, words))
      return { ...change, words };
  }
  return undefined;
}

/** True if a text has the words of a change, as "it is 30: make it 60" has the 60. */
function hasWords(
  other: readonly Token[],
  own: readonly Token[],
  { from, beyond }: Change,
): boolean {
  const words = own.slice(from, beyond).filter(({ key }) => !IS_AUXILIARY.test(key));
  return words.length > 0 && words.every(({ key }) => other.some((token) => token.key === key));
}

/** True if two words on each side of a change are equal, or the last one: then a word that only one passage has counts too. */
function isBetweenEqual(
  own: readonly Token[],
  passage: readonly Step[],
  { from, beyond }: Change,
): boolean {
  const equal = new Set(passage.filter(({ isEqual }) => isEqual).map(({ own: at }) => at));
  return (
    [from - 2, from - 1, beyond].every((i) => equal.has(i)) &&
    (equal.has(beyond + 1) || beyond + 1 === own.length)
  );
}

function changesIn(passage: readonly Step[]): readonly Change[] {
  const changes: Change[] = [];
  let [i, j] = [passage[0]?.own ?? 0, passage[0]?.other ?? 0];
  if (i > 0 && j > 0)
    changes.push({ from: i - 1, beyond: i, otherFrom: j - 1, otherBeyond: j, isInside: false });
  let open: { from: number; otherFrom: number } | undefined;
  for (const step of passage) {
    if (step.isEqual && open !== undefined) {
      changes.push({ ...open, beyond: i, otherBeyond: j, isInside: true });
      open = undefined;
    } else if (!step.isEqual) open ??= { from: i, otherFrom: j };
    if (step.own !== undefined) i = step.own + 1;
    if (step.other !== undefined) j = step.other + 1;
  }
  // A passage ends before what differs: that may be the word that matters.
  changes.push({ from: i, beyond: i + 1, otherFrom: j, otherBeyond: j + 1, isInside: false });
  return changes;
}

const NUMBER = /^\d[\d.,]*$/;
const FILE = /\w\.[a-z]{1,5}$/i;

/** True for two different numbers, or two different files. */
function isOtherNumberOrFile(
  [mine, ...more]: readonly Token[],
  [theirs, ...others]: readonly Token[],
): boolean {
  if (mine === undefined || theirs === undefined || more.length + others.length > 0) return false;
  const [a, b] = [mine.key, theirs.key];
  if (NUMBER.test(a) && NUMBER.test(b)) return !isSameNumber(a, b);
  return FILE.test(a) && FILE.test(b) && a !== b;
}

function isOpposite(own: readonly Token[], other: readonly Token[]): boolean {
  const [mine, theirs] = [own, other].map((tokens) => tokens.map(({ key }) => key).join(' '));
  return OPPOSITES.some(
    ([x, y]) =>
      (x.test(mine as string) && y.test(theirs as string)) ||
      (y.test(mine as string) && x.test(theirs as string)),
  );
}

const IS_AUXILIARY = new RegExp(`^(?:${AUXILIARY}|be)$`);
/** What turns a sentence round if it is in the place of the other. */
const OPPOSITES: readonly (readonly [RegExp, RegExp])[] = [
  [
    new RegExp(`^(?:${AUXILIARY}|be)?$`),
    new RegExp(`^(?:(?:${AUXILIARY}|be) not|cannot|\\w+n't|not|never)(?: yet)?$`),
  ],
  [/^(?:always|may|must)?$/, /^(?:never|must not|may not)$/],
  [/^pass(?:es|ed|ing)?$/, /^fail(?:s|ed|ing)?$/],
  [/^(?:allowed|permitted)$/, /^(?:forbidden|prohibited|not allowed)$/],
  [/^(?:completed?|done|finished)$/, /^(?:pending|in progress|incomplete|not done|unfinished)$/],
];

/** True if a statement says what a sentence says in a place, word for word. */
function confirms(passage: readonly Step[], { from, beyond }: Change): boolean {
  const [first, last] = [Math.max(0, from - 1), beyond];
  const steps = passage.filter(({ own }) => own !== undefined && own >= first && own <= last);
  if (steps.length < last - first || !steps.every(({ isEqual }) => isEqual)) return false;
  const others = steps.map(({ other }) => other as number);
  return others.every((other, i) => i === 0 || other === (others[i - 1] as number) + 1);
}

function surroundings(claim: string, own: readonly Token[], { from, beyond }: Change): string {
  const first = own[Math.max(0, from - 1)];
  const last = own[Math.min(own.length - 1, beyond)];
  return claim.slice(first?.start, last?.end);
}

const WORDS_AROUND = 4;

/** The words of a statement at a place, and some before and after it. */
function wordsAround(text: string, { otherFrom, otherBeyond }: Change): string {
  const tokens = tokensOf(text);
  const first = tokens[Math.max(0, otherFrom - WORDS_AROUND)];
  const last = tokens[Math.min(tokens.length, otherBeyond + WORDS_AROUND) - 1];
  return text.slice(first?.start, last?.end);
}

function corrected(
  sentence: string,
  claim: string,
  own: readonly Token[],
  change: Contradiction,
  statement: Statement,
): Misquote {
  const { text } = statement;
  const said = text.slice(change.words[0]?.start ?? 0, change.words.at(-1)?.end ?? 0);
  const isInserted = change.from === change.beyond;
  const start = isInserted
    ? (own[change.from]?.start ?? claim.length)
    : (own[change.from]?.start ?? 0);
  const end = isInserted ? start : (own[change.beyond - 1]?.end ?? start);
  const put = isInserted ? `${said} ` : said;
  const fixed =
    claim.slice(0, start) +
    put +
    (put === '' ? claim.slice(end).replace(/^ /, '') : claim.slice(end));
  return {
    text: sentence.replace(claim, () => fixed),
    said: wordsAround(text, change),
    statement,
  };
}
