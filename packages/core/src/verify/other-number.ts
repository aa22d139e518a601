import { contentWords } from '../message/text.ts';
import { codeNamesIn } from './located-names.ts';
import type { Detail, Evidence, Statement } from './evidence.ts';

/** What counts things in order or says where they are: later edits move it. */
export const ORDINAL: RegExp =
  /^(?:lines?|task|step|item|phase|part|option|issue|pr|section|round|chapter|page|column|version|no)$/;

/** Hexadecimal digits and letters: the digits in it are no numbers. */
const HASH = /\b(?=\d*[a-f])(?=[a-f]*\d)[\da-f]{7,}\b/g;
/** A number whose digits are in groups of three. */
const GROUPED = /(?<!\d)\d{1,3}(?:[,._'’ \u00a0\u202f]\d{3})+(?!\d)/g;

/** The numbers of a text without the gaps between their digits; of one with a point, what is before it and after it. */
export const digitsIn = (text: string): readonly string[] => [
  ...(text.replace(HASH, ' ').match(/\d+/g) ?? []),
  ...(text.match(GROUPED) ?? []).map((one) => one.replace(/\D/g, '')),
];

/** A number of a line, and the words beside it. */
interface NumberInLine {
  readonly digits: string;
  /** True if it says where something is in a file. */
  readonly isLine: boolean;
  /** The two words before it and the two after it, each with its side. */
  readonly beside: readonly Beside[];
}

interface Beside {
  readonly key: string;
  /** True if no other word is between them. */
  readonly isNext: boolean;
  readonly isOrdinal: boolean;
  /** True if nothing but spaces and the like is between them. */
  readonly isClause: boolean;
  /** Where the number and the word are in the line, together. */
  readonly from: number;
  readonly to: number;
}

/** A number, unless it is rounded, a version or a part of a name, or a word. */
const TOKEN =
  /(?<![\p{L}\p{N}_.])(?:\d{1,3}(?:[,_'’\u00a0\u202f]\d{3})+(?!\d)|\d{1,2}(?: \d{3})+(?!\d)|\d+)(?:\.\d+)?(?![\p{L}_]*\d|\.\d|[km]\b)|[\p{L}_][\p{L}\p{N}_]*/gu;
const REACH = 2;
/** The work for a line grows with the square of its length. */
const LONGEST_LINE = 2_000;
const LEADS = /^[\s>+-]*$/;

/** The numbers of a line, as far as words are beside them. */
function numbersIn(line: string): readonly NumberInLine[] {
  if (line.length > LONGEST_LINE) return [];
  const tokens = [...line.matchAll(TOKEN)];
  return tokens.flatMap((one, i) => {
    const { 0: token, index } = one;
    if (!isNumber(token)) return [];
    const first = Math.max(0, i - REACH);
    const beside = tokens.slice(first, i + REACH + 1).flatMap((other, j) => {
      const [word] = isNumber(other[0]) ? [] : contentWords(other[0]);
      if (word === undefined) return [];
      const isBefore = other.index < index;
      const [left, right] = isBefore ? [other, one] : [one, other];
      const gap = line.slice(left.index + left[0].length, right.index);
      return [
        {
          key: `${isBefore ? '<' : '>'}${word}`,
          isNext: Math.abs(first + j - i) === 1,
          isOrdinal: isBefore && ORDINAL.test(other[0].toLowerCase()),
          isClause:
            !/[.;:|!?*]/.test(gap) || (/^[:→]\s*`?$/.test(gap) && LEADS.test(line.slice(0, index))),
          from: Math.min(index, other.index),
          to: isBefore ? index + token.length : other.index + other[0].length,
        },
      ];
    });
    const isLine =
      /^lines?$/i.test(tokens[i - 1]?.[0] ?? '') ||
      (LEADS.test(line.slice(0, index)) && /^[:→]/.test(line.slice(index + token.length)));
    const all = isLine ? [...beside, ...namesOn(line, index)] : beside;
    return all.length === 0 ? [] : [{ digits: digitsOf(token), isLine, beside: all }];
  });
}

/** The names of code on a line of a file, or in a sentence about it: they are beside its number. */
const namesOn = (line: string, at: number): readonly Beside[] =>
  [...codeNamesIn(line)].map((name) => {
    const place = line.indexOf(name);
    return {
      key: `=${name}`,
      isNext: true,
      isOrdinal: false,
      isClause: place > at,
      from: at,
      to: place + name.length,
    };
  });

/** The words that some texts have beside the numbers of some claims. */
export function wordsBesideNumbers(
  texts: readonly string[],
  claims: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const beside = new Map(
    claims.flatMap(numbersIn).map(({ digits }) => [digits, new Set<string>()] as const),
  );
  if (beside.size === 0) return beside;
  for (const text of texts)
    for (const line of text.split('\n'))
      for (const number of /\d/.test(line) ? numbersIn(line) : [])
        for (const { key } of number.beside) beside.get(number.digits)?.add(key);
  return beside;
}

/** A number without the gaps between its digits and the zeros at its end. */
function digitsOf(token: string): string {
  const digits = token.replace(/[^\d.]/g, '');
  return digits.includes('.') ? String(Number(digits)) : digits;
}

const isNumber = (token: string): boolean => /^\d/.test(token);

/** The number of a list's entry, and that of a turn or a message: a summary counts these itself. */
export const COUNTED: RegExp = /^\W*\d{1,3}[.)](?=\s|$)|\b(?:turn|message|round)s? \d+/gi;
/** That, and the number of an issue, the end of a range, a date, and about how many. */
const NOT_CLAIMED = new RegExp(
  String.raw`${COUNTED.source}|#\d+|(?<=\d)[-–]\d+|\b\d{4}-\d\d-\d\d\b|(?:~|\b(?:about|around|over|almost|nearly|roughly|some) )\d[\d.,]*`,
  'gi',
);

/**
 * What a statement about the same says beside a word where a sentence has another number, if the messages nowhere have
 * the sentence's number beside one of its words.
 */
export function otherNumber(sentence: string, evidence: Evidence): Detail | undefined {
  const own = numbersIn(sentence.replace(NOT_CLAIMED, ' '));
  if (own.length === 0) return undefined;
  const mine = own.map(({ digits }) => digits);
  const statements = evidence.aboutTheSame(sentence).filter(mayBeCited);
  const theirs = new Map(statements.map((one) => [one, numbersIn(one.text)]));
  for (const { digits, isLine, beside } of own) {
    const keys = new Set(beside.filter(({ isOrdinal }) => !isOrdinal).map(({ key }) => key));
    const known = evidence.besideNumber(digits);
    const isSaid = [...theirs.values()]
      .flat()
      .some((number) => number.digits === digits && number.beside.some(({ key }) => keys.has(key)));
    if (isSaid || beside.some(({ key, isNext }) => isNext && known.has(key))) continue;
    // "It is 30: make it 60."
    const corrected = new Set(
      statements
        .filter((one) => theirs.get(one)?.some((number) => number.digits === digits))
        .map(({ id }) => id),
    );
    for (const [statement, numbers] of theirs) {
      if (corrected.has(statement.id)) continue;
      const place = numbers
        .filter(
          (number) =>
            number.isLine === isLine && !mine.some((one) => isSameNumber(one, number.digits)),
        )
        .flatMap((number) => number.beside)
        .find(({ key, isClause }) => isClause && keys.has(key) && !known.has(key));
      if (place !== undefined)
        return { said: statement.text.slice(place.from, place.to), statement };
    }
  }
  return undefined;
}

/** True for one number in two notations: rounded, as a share or in per cent, in seconds or milliseconds, a part of a version. */
export function isSameNumber(a: string, b: string): boolean {
  if (a.startsWith(`${b}.`) || b.startsWith(`${a}.`)) return true;
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return a === b;
  const decimals = Math.min(decimalsOf(a), decimalsOf(b));
  const ratio = Math.max(x / y, y / x);
  const isOtherUnit = [100, 1_000].some((factor) => Math.abs(ratio - factor) < 1e-6);
  return isOtherUnit || x.toFixed(decimals) === y.toFixed(decimals);
}

const decimalsOf = (digits: string): number =>
  Math.min(MOST_DECIMALS, digits.split('.')[1]?.length ?? 0);

const MOST_DECIMALS = 20;

/** What somebody says, or what a tool reports: a few characters of it are no order. A call's arguments are neither. */
const mayBeCited = ({ by, isSaid }: Statement): boolean => isSaid || by === 'tool';
