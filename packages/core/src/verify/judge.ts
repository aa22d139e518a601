import type { MessageId } from '../message/message.ts';
import { contentWords, namesIn } from '../message/words.ts';
import { baseOf, pathsIn, type Evidence, type Match } from './evidence.ts';
import { intendedPath } from './known-path.ts';
import { misquoted } from './misquote.ts';
import { saysWhatToDo } from './wishes.ts';

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
  | { readonly kind: 'mark'; readonly names: readonly string[] };

const KEEP: Verdict = { kind: 'keep' };

/** Compares a sentence with what the messages say about the same. */
export function judge(sentence: string, evidence: Evidence): Verdict {
  return (
    otherWords(sentence, evidence) ??
    otherPath(sentence, evidence) ??
    unknownNumber(sentence, evidence) ??
    unknownNames(sentence, evidence) ??
    KEEP
  );
}

/** A sentence, or a quotation in it, that repeats a statement with another number, name or meaning. */
function otherWords(sentence: string, evidence: Evidence): Verdict | undefined {
  for (const claim of sentenceAndQuotes(sentence)) {
    const misquote = misquoted(sentence, claim, evidence);
    if (misquote !== undefined) return { kind: 'correct', ...misquote };
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

/** A sentence that may speak of a file that is not there yet. */
const NEW_FILE = /\b(?:create|new|extract|rename|e\.g)\b/i;

/** A path that no message contains, if it is certain which one was meant. */
function otherPath(sentence: string, evidence: Evidence): Verdict | undefined {
  if (saysWhatToDo(sentence) || NEW_FILE.test(sentence)) return undefined;
  for (const path of new Set(pathsIn(sentence))) {
    if (evidence.mentions(path) || path.includes('...')) continue;
    const meant = intendedPath(path, evidence.paths);
    if (meant !== undefined)
      return {
        kind: 'correct',
        text: sentence.replaceAll(path, meant),
        because: meant,
        id: undefined,
      };
  }
  return undefined;
}

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

/** Statements about the same thing that a number of no message is compared with. */
const ABOUT = 0.35;

/** A number that no message contains, if all that they say about the same has one other number beside the same word. */
function unknownNumber(sentence: string, evidence: Evidence): Verdict | undefined {
  for (const number of numbersIn(sentence)) {
    if (number.value.length < 2 || evidence.hasNumber(number.value)) continue;
    const found = evidence
      .matches(sentence)
      .filter(({ share }) => share >= ABOUT)
      .flatMap((match) => valuesBeside(match, number).map((value) => ({ match, value })));
    const [first] = found;
    if (first === undefined || found.some(({ value }) => value !== first.value)) continue;
    const { id, text } = first.match.statement;
    const end = number.index + number.value.length;
    return {
      kind: 'correct',
      text: sentence.slice(0, number.index) + first.value + sentence.slice(end),
      because: text.trim().slice(0, 200),
      id,
    };
  }
  return undefined;
}

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
