import { contentWords } from '../message/text.ts';
import type { Detail, Evidence, Statement } from './evidence.ts';

/** Words of a line that affirm or deny something. */
interface Claimed {
  /** What is affirmed or denied: the same for "may push" and "must not push". */
  readonly key: string;
  readonly isDenied: boolean;
  /** Where these words are in the line. */
  readonly from: number;
  readonly to: number;
}

export const AUXILIARY: string =
  'can|could|do|does|did|is|are|was|were|will|should|would|may|must|has|have|had';
const WORD = new RegExp(
  String.raw`\b(?:(?:${AUXILIARY})(?:n['’]t| not)\b|cannot\b|can['’]t\b|won['’]t\b|not (?:only|just)\b|[\p{L}_][\p{L}\p{N}_]*)`,
  'giu',
);

const AUXILIARIES = AUXILIARY.split('|');
/** Words that say whether something is so: what they say it of, and whether they deny it. */
const SIGNS: ReadonlyMap<string, Pick<Token, 'about' | 'isDenied'>> = new Map([
  ...AUXILIARIES.map((word) => [word, { about: 'is', isDenied: false }] as const),
  ...AUXILIARIES.flatMap((word) => [`${word}n't`, `${word} not`])
    .concat('cannot', "can't", "won't", 'not')
    .map((word) => [word, { about: 'is', isDenied: true }] as const),
  ['always', { about: 'always', isDenied: false }],
  ['never', { about: 'always', isDenied: true }],
  ['passing', { about: 'passing', isDenied: false }],
  ['failing', { about: 'passing', isDenied: true }],
]);
const ADVERBS: ReadonlySet<string> = new Set([
  ...'just also now still already only even actually fully currently yet all its it be been'.split(
    ' ',
  ),
  'not only',
  'not just',
]);

interface Token {
  readonly word: string;
  readonly from: number;
  readonly to: number;
  /** What kind of word says that something is so or not; undefined for any other word. */
  readonly about: string | undefined;
  readonly isDenied: boolean;
  readonly isParticiple: boolean;
}

function signedWords(line: string): readonly Token[] {
  return [...line.matchAll(WORD)].flatMap(({ 0: text, index }): readonly Token[] => {
    const lower = text.toLowerCase().replace('’', "'");
    const place = { from: index, to: index + text.length };
    const sign = SIGNS.get(lower);
    if (sign !== undefined) return [{ ...place, ...sign, word: '', isParticiple: false }];
    const [word] = ADVERBS.has(lower) ? [] : contentWords(lower);
    if (word === undefined) return [];
    const isParticiple = /[a-z]ed$/.test(lower);
    return [{ ...place, word, about: undefined, isDenied: false, isParticiple }];
  });
}

/** What a line affirms and denies. */
function claimedIn(line: string): readonly Claimed[] {
  const tokens = signedWords(line);
  const claimed: Claimed[] = [];
  const add = (key: string, isDenied: boolean, first: Token, last: Token): void => {
    claimed.push({ key, isDenied, from: first.from, to: last.to });
  };
  const plain = (at: number): Token | undefined =>
    tokens[at]?.about === undefined ? tokens[at] : undefined;
  for (const [i, token] of tokens.entries()) {
    const [next, second, before] = [plain(i + 1), plain(i + 2), plain(i - 1)];
    const { about, word, isDenied } = token;
    if (about !== undefined) {
      if (next !== undefined) add(`${about} ${next.word}`, isDenied, token, next);
      if (next !== undefined && second !== undefined)
        add(`${about} ${next.word} ${second.word}`, isDenied, token, second);
      if (before !== undefined && next !== undefined)
        add(`${before.word} ${about} ${next.word}`, isDenied, before, next);
    } else if (token.isParticiple) {
      // "the flag updated", "the flag was updated" and "the flag not updated" are about the same.
      const [verb, subject] = [tokens[i - 1], plain(i - 2)];
      if (before !== undefined) add(`${before.word} ${word}`, false, before, token);
      else if (verb?.about === 'is' && subject !== undefined)
        add(`${subject.word} ${word}`, verb.isDenied, subject, token);
    }
  }
  return claimed;
}

/** What some texts affirm of what some claims affirm or deny. */
export function affirmedIn(
  texts: readonly string[],
  claims: readonly string[],
): ReadonlySet<string> {
  const claimed = new Set(claims.flatMap(claimedIn).map(({ key }) => key));
  const affirmed = new Set<string>();
  for (const text of texts)
    for (const line of text.split('\n'))
      for (const { key, isDenied } of claimedIn(line))
        if (!isDenied && claimed.has(key)) affirmed.add(key);
  return affirmed;
}

/** The statements of people and the agent that deny something that a claim affirms, by what they deny. */
export function deniedIn(
  statements: readonly Statement[],
  claims: readonly string[],
): ReadonlyMap<string, Detail> {
  const claimed = new Set(claims.flatMap(claimedIn).map(({ key }) => key));
  const denied = new Map<string, Detail>();
  for (const statement of statements) {
    const { text, by } = statement;
    if (by === 'tool' || !DENIES.test(text) || OPEN.test(text)) continue;
    for (const one of claimedIn(text))
      if (one.isDenied && claimed.has(one.key) && !isConditional(text, one))
        denied.set(one.key, { said: text.slice(one.from, one.to), statement });
  }
  return denied;
}

/** A subject and what is said of it, or "always" with its verb: these are seldom about something else. */
const WITH_SUBJECT = /^\S+ (?:is|always|passing) |^always \S+$/;
const DENIES = /not\b|n['’]t\b|never|failing/i;

/** A question affirms and denies nothing; nor does a heading. */
const OPEN = /\?|:$|\b(?:asks?|asked|wonder\w*)\b/i;
const CONDITION = /\b(?:if|whether|unless|until|when)\b/i;
const LONGEST_CLAUSE = 300;
const CLAUSE_END = /[.;:]\s|\s[-—–→|]+\s/;

/** True if a place of a line is in a condition, or depends on one. */
function isConditional(line: string, { from, to }: Claimed): boolean {
  const before =
    line
      .slice(Math.max(0, from - LONGEST_CLAUSE), from)
      .split(CLAUSE_END)
      .at(-1) ?? '';
  const [after = ''] = line.slice(to, to + LONGEST_CLAUSE).split(CLAUSE_END);
  return CONDITION.test(before + after);
}

/** "passing: `got 1, want 2`": what is quoted right after the word, unless it says itself that something passes. */
const PASSES_WITH = /\bpass(?:ed|ing)\b[^\w.;,`"]{0,6}(?:with )?[`"](\S+ [^`"\n]{8,200})[`"]/i;
const SUCCEEDS = /\b(?:ok|pass\w*|success\w*|0 (?:err|fail)\w*)\b/i;
const FAILS = /(?<!\b(?:0|no) )\bfail/;

/** The error of a run that failed, if a sentence says that something passes with it. */
export function quotedError(sentence: string, evidence: Evidence): Detail | undefined {
  const said = PASSES_WITH.exec(sentence)?.[1];
  if (said === undefined || SUCCEEDS.test(said)) return undefined;
  const match = evidence
    .matches(sentence)
    .find(({ statement }) => statement.text.includes(said) && evidence.isNear(FAILS, statement));
  return match === undefined ? undefined : { said, statement: match.statement };
}

/** What a statement about the same denies, if a sentence affirms it and the messages nowhere do. */
export function deniedWords(sentence: string, evidence: Evidence): Detail | undefined {
  if (OPEN.test(sentence)) return undefined;
  const affirmed = new Set(
    claimedIn(sentence)
      .filter((one) => !one.isDenied && !isConditional(sentence, one))
      .map(({ key }) => key),
  );
  if (affirmed.size === 0) return undefined;
  for (const statement of evidence.aboutTheSame(sentence)) {
    if (statement.by === 'tool' || OPEN.test(statement.text)) continue;
    const theirs = claimedIn(statement.text);
    const other = new Set(theirs.filter(({ isDenied }) => !isDenied).map(({ key }) => key));
    const place = theirs.find(
      (one) =>
        one.isDenied &&
        affirmed.has(one.key) &&
        !other.has(one.key) &&
        !isConditional(statement.text, one) &&
        !evidence.affirms(one.key),
    );
    if (place !== undefined) return { said: statement.text.slice(place.from, place.to), statement };
  }
  const key = [...affirmed].find(
    (one) => WITH_SUBJECT.test(one) && evidence.denial(one) !== undefined && !evidence.affirms(one),
  );
  return key === undefined ? undefined : evidence.denial(key);
}
