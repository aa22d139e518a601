import type { MessageId } from '../message/message.ts';
import { contentWords, namesIn } from '../message/words.ts';
import { baseOf, coverage, pathsIn, type Evidence, type Match } from './evidence.ts';

/** What becomes of a sentence of an account. */
export type Verdict =
  | { readonly kind: 'keep' }
  /** The messages are certain of another number or name. */
  | {
      readonly kind: 'correct';
      readonly text: string;
      readonly because: string;
      readonly id: MessageId | undefined;
    }
  /** Names that no message contains. */
  | { readonly kind: 'mark'; readonly names: readonly string[] }
  /** A message says the opposite. */
  | { readonly kind: 'remove'; readonly because: string; readonly id: MessageId | undefined };

const KEEP: Verdict = { kind: 'keep' };

/** Compares a sentence with what the messages say about the same. */
export function judge(sentence: string, evidence: Evidence): Verdict {
  return (
    reversed(sentence, evidence) ??
    otherFile(sentence, evidence) ??
    otherNumber(sentence, evidence) ??
    unknownNames(sentence, evidence) ??
    KEEP
  );
}

/** A statement with this share of a claim's words, which has this share of the statement's, says the same. */
const SAME = 0.75;
const COVERED = 0.55;
/** A sentence is removed only for a statement that is nearly the same but for what it denies. */
const REVERSED = 0.85;
const REVERSED_COVERED = 0.7;
/** With this share it is nearly the same sentence. */
const EXACT = 0.92;
/** No statement that is nearly as near may agree with the claim. */
const NEARLY = 0.8;
/** A sentence of fewer words is a heading, or says too little to be compared. */
const LEAST_WORDS = 4;

const NEGATION =
  /^(?:not|never|cannot|without|neither|nor|no|nothing|avoid|avoids|avoiding|avoided|forbid|forbids|forbidden|forbade|prohibits?|prohibited|disallow(?:s|ed)?|.+n['’]t|dont|stop)$/i;
/** How far a negation reaches, in words. */
const REACH = 4;

/** The words of a sentence that it denies: those after a negation, within its clause. */
function deniedWords(text: string): ReadonlySet<string> {
  const denied = new Set<string>();
  let left = 0;
  for (const [token] of text.matchAll(/[\p{L}\p{N}_'’]+|[.,;:()[\]—–!?"“”]/gu)) {
    if (!/[\p{L}\p{N}]/u.test(token)) left = 0;
    else if (NEGATION.test(token)) left = REACH;
    else if (left > 0) {
      left -= 1;
      for (const word of contentWords(token)) denied.add(word);
    }
  }
  return denied;
}

/** Words for the same thing ended well or badly, and done or not: one of each pair excludes the other. */
const PAIRS: readonly (readonly [RegExp, RegExp])[] = [
  [/\bpass(?:es|ed|ing)?\b|\bsucceed(?:s|ed)?\b/i, /\bfail(?:s|ed|ing|ures?)?\b/i],
  [
    /\b(?:done|completed?|finished)\b|\[x\]/i,
    /\b(?:pending|in[ _]progress|incomplete|unfinished|not started|to-?do)\b|\[ \]/i,
  ],
  [/\b(?:always|must|required)\b/i, /\b(?:never|must not|forbidden)\b/i],
  [
    /\b(?:allow(?:s|ed)?|permitted|may)\b/i,
    /\b(?:forbidden|never|must not|may not|prohibited|not allowed)\b/i,
  ],
];

/** "No, revert it" denies nothing that it says. */
const INTERJECTION = /^\s*(?:no|nope|nah)[,.!]\s+/i;

/** True if one of two sentences about the same denies what the other says. */
function denies(claim: string, said: string, isExact: boolean): boolean {
  const statement = said.replace(INTERJECTION, '');
  const [words, others] = [new Set(contentWords(claim)), new Set(contentWords(statement))];
  const [denied, otherDenied] = [deniedWords(claim), deniedWords(statement)];
  if (!isExact && denied.size > 0 && otherDenied.size > 0) return false;
  return (
    [...otherDenied].some((word) => words.has(word) && !denied.has(word)) ||
    [...denied].some((word) => others.has(word) && !otherDenied.has(word))
  );
}

/** The statement that a sentence denies, if no other that is as near agrees with it. */
function deniedMatch(sentence: string, near: readonly Match[]): Match | undefined {
  const isQuestion = /\?["'”)*]*$/.test(sentence);
  const against = near.filter(({ statement, share }) =>
    denies(sentence, statement.text, share >= EXACT),
  );
  const isDenied = against.length === near.length && !isQuestion;
  return isDenied ? against[0] : undefined;
}

/** The newest statement that says the other word of a pair. */
function pairedAgainst(sentence: string, matches: readonly Match[]): Match | undefined {
  for (const [a, b] of PAIRS) {
    const own = side(sentence, a, b);
    if (own === undefined) continue;
    const sided = matches.filter(({ statement }) => side(statement.text, a, b) !== undefined);
    const against = sided.filter(({ statement }) => side(statement.text, a, b) !== own);
    if (against.length > 0 && against.length === sided.length) return against[0];
  }
  return undefined;
}

function side(text: string, a: RegExp, b: RegExp): 'a' | 'b' | undefined {
  const [isA, isB] = [a.test(text), b.test(text)];
  if (isA === isB) return undefined;
  const isDenied = /\b(?:not|never|no|without)\b|n['’]t\b/i.test(text);
  return isA === isDenied ? 'b' : 'a';
}

/** The statements of people and the agent that say the same as a claim in other respects. */
function sayingTheSame(claim: string, evidence: Evidence, least: number): readonly Match[] {
  return evidence
    .matches(claim)
    .filter(
      ({ share, statement }) =>
        statement.isSaid && share >= least && coverage(claim, statement.text) >= COVERED,
    );
}

/** A sentence that says the opposite of the statements nearest to it. */
function reversed(sentence: string, evidence: Evidence): Verdict | undefined {
  for (const claim of sentenceAndQuotes(sentence)) {
    if (evidence.size(claim) < LEAST_WORDS || claim.endsWith(':')) continue;
    const best = sayingTheSame(claim, evidence, REVERSED).filter(
      ({ statement }) => coverage(claim, statement.text) >= REVERSED_COVERED,
    );
    const [first] = best;
    if (first === undefined) continue;
    const near = best.filter(({ share }) => share >= first.share * NEARLY);
    const against = deniedMatch(claim, near) ?? pairedAgainst(claim, best);
    if (against === undefined) continue;
    const { text, id } = against.statement;
    return { kind: 'remove', because: text.trim().slice(0, 200), id };
  }
  return undefined;
}

const QUOTE = /["“]([^"“”]{16,400})["”]/g;

/** What a sentence quotes. */
function quotesIn(sentence: string): readonly string[] {
  return [...sentence.matchAll(QUOTE)].map(([, quote = '']) => quote);
}

/** The texts that a sentence is compared by. */
export function sentenceAndQuotes(sentence: string): readonly string[] {
  return [sentence, ...quotesIn(sentence)];
}

/** A file that the messages never connect with what a sentence says, if one of them says the same of another. */
function otherFile(sentence: string, evidence: Evidence): Verdict | undefined {
  const names = [...new Set(pathsIn(sentence).map(baseOf))];
  const [name = ''] = names;
  if (names.length !== 1 || evidence.size(sentence) < LEAST_WORDS) return undefined;
  if (evidence.aboutFiles(sentence).has(name)) return undefined;
  const extension = name.slice(name.lastIndexOf('.'));
  const same = sayingTheSame(sentence, evidence, SAME);
  const others = new Set(same.flatMap(({ statement }) => pathsIn(statement.text).map(baseOf)));
  const [other] = others;
  if (others.size !== 1 || other === undefined || !other.endsWith(extension)) return undefined;
  const [{ statement }] = same as [Match];
  return {
    kind: 'correct',
    text: sentence.replaceAll(name, other),
    because: statement.text.trim().slice(0, 200),
    id: statement.id,
  };
}

/** What counts things in order or says where they are: later edits move it. */
const ORDINAL =
  /\b(?:lines?|task|step|item|phase|part|option|issue|pr|section|round|chapter|page|column|version|no\.?)\s*[#:~]?\s*$/i;

/** The same for a sentence whose number, one of its words, is in question. */
const SAYS_NUMBER = 0.65;

interface Numbered {
  readonly value: string;
  readonly index: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const NUMBER = /(?<![\w./#:@-])[$€£~]?(\d[\d,]*(?:\.\d+)?)(?![\w/]|[.:-]\d)(%?)/g;

/** The numbers of a text that are not part of a name, with the words next to them. */
function numbersIn(text: string): readonly Numbered[] {
  return [...text.matchAll(NUMBER)].map(({ 0: whole, 1: value = '', index }) => ({
    value: value.replaceAll(',', ''),
    index: index + whole.indexOf(value),
    before: contentWords(text.slice(Math.max(0, index - 40), index)).at(-1),
    after: contentWords(text.slice(index + whole.length, index + whole.length + 40))[0],
  }));
}

/** A number next to a word, if the statements nearest to the sentence have another number next to the same word. */
function otherNumber(sentence: string, evidence: Evidence): Verdict | undefined {
  const matches = sayingTheSame(sentence, evidence, SAYS_NUMBER);
  const numbers = numbersIn(sentence);
  for (const number of numbers) {
    if (number.index < 3 || ORDINAL.test(sentence.slice(0, number.index))) continue;
    const found = matches.map((match) => ({ match, values: valuesBeside(match, number) }));
    if (
      found.some(({ match, values }) => values.includes(number.value) || has(match, number.value))
    )
      continue;
    const values = new Set(found.flatMap((one) => one.values));
    const [value] = values;
    if (values.size !== 1 || value === undefined) continue;
    if (numbers.some((one) => one.value === value)) continue;
    const { id, text } = (found.find((one) => one.values.length > 0) as { match: Match }).match
      .statement;
    const end = number.index + number.value.length;
    return {
      kind: 'correct',
      text: sentence.slice(0, number.index) + value + sentence.slice(end),
      because: text.trim().slice(0, 200),
      id,
    };
  }
  return undefined;
}

const has = ({ statement }: Match, value: string): boolean =>
  numbersIn(statement.text).some((one) => one.value === value);

function valuesBeside({ statement }: Match, { before, after }: Numbered): readonly string[] {
  return numbersIn(statement.text)
    .filter(
      (one) =>
        (after !== undefined && one.after === after) ||
        (before !== undefined && one.before === before),
    )
    .map(({ value }) => value);
}

/** What only the messages can name: a file with its ending, a hash, the number of an issue. */
const SPECIFIC =
  /^[\w./~@-]*\w\.[a-z]{1,5}$|^(?=.*\d)(?=.*[a-f])[a-f0-9]{7,40}$|^[A-Z]{2,10}-\d+$/i;
const COMMON = /^(?:utf|sha|iso|rfc|aes|md|http|ipv|es|web|gpt|top)-?\d+$/i;

/** `PR-79` is also written `PR 79` and `PR #79`; a file is known by its name. */
function isMentioned(name: string, evidence: Evidence): boolean {
  if (evidence.mentions(baseOf(name))) return true;
  const [, word, number] = /^([A-Za-z]+)-(\d+)$/.exec(name) ?? [];
  return (
    word !== undefined &&
    [' ', ' #', '#'].some((gap) => evidence.mentions(`${word}${gap}${number}`))
  );
}

/** Names that no message contains. A number may be counted or added up: it is not marked. */
function unknownNames(sentence: string, evidence: Evidence): Verdict | undefined {
  const names = [...namesIn(sentence)].filter(
    (name) => SPECIFIC.test(name) && !COMMON.test(name) && !isMentioned(name, evidence),
  );
  return names.length === 0 ? undefined : { kind: 'mark', names };
}
