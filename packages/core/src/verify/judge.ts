import type { MessageId } from '../message/message.ts';
import { namesIn } from '../message/text.ts';
import { deniedWords, quotedError } from './denied-words.ts';
import type { Evidence } from './evidence.ts';
import { intendedPath, overlapsKnownName, isSameFile } from './known-path.ts';
import type { Place } from './located-names.ts';
import { misquoted } from './misquote.ts';
import { otherFile, otherPlace } from './other-file.ts';
import { COUNTED, otherNumber } from './other-number.ts';
import { nameOf } from '../summary/file-texts.ts';
import { pathsIn } from './paths.ts';
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
  /** A message says the same with another number, name or meaning, which may have changed since. */
  | {
      readonly kind: 'doubt';
      readonly said: string;
      readonly statement: Place;
    }
  /** Names and numbers that no message contains, and those of them that look like a mistake. */
  | {
      readonly kind: 'unknown';
      readonly names: readonly string[];
      readonly doubtful: readonly string[];
    };

const KEEP: Verdict = { kind: 'keep' };

/** Compares a sentence, and what is listed below it, with what the messages say about the same. */
export function judge(sentence: string, evidence: Evidence, below: string = ''): Verdict {
  return (
    otherWords(sentence, evidence) ??
    otherPath(sentence, evidence) ??
    otherStatement(sentence, evidence) ??
    otherDetail(sentence, below, evidence) ??
    unknownNames(sentence, evidence) ??
    KEEP
  );
}

/** A quotation that repeats what somebody said with another number, name or meaning. */
function otherWords(sentence: string, evidence: Evidence): Verdict | undefined {
  for (const quote of quotesIn(sentence)) {
    const misquote = misquoted(sentence, quote, evidence);
    if (misquote === undefined) continue;
    const { text, statement } = misquote;
    // Only what somebody said is followed: a call and a result may hold anything.
    if (!statement.isSaid) return { kind: 'doubt', ...misquote };
    return {
      kind: 'correct',
      text,
      because: statement.text.trim().slice(0, 200),
      id: statement.id,
    };
  }
  return undefined;
}

/** A quotation, or code. */
const QUOTE = /["“]([^"“”]{16,400})["”]|`([^`]{16,400})`/g;

/** A quotation whose end is in another sentence. */
const OPEN_QUOTE = /^[^"“”]{0,60}["“]([^"“”]{16,400})$/;

/** What a sentence quotes. */
function quotesIn(sentence: string): readonly string[] {
  const open = OPEN_QUOTE.exec(sentence)?.[1];
  const closed = [...sentence.matchAll(QUOTE)].map(([, quote = '', code = quote]) => code);
  return open === undefined ? closed : [...closed, open];
}

/** The texts that a sentence is compared by. */
export function sentenceAndQuotes(sentence: string): readonly string[] {
  return [sentence, ...quotesIn(sentence)];
}

const PROPOSES = /\b(?:create|new|extract|rename|e\.g)\b/i;

/** A sentence may propose what is not there yet; what it has in brackets is beside its point. */
const proposes = (sentence: string): boolean =>
  saysWhatToDo(sentence.replace(/ \([^()]*\)/g, '')) || PROPOSES.test(sentence);

/** A step that may make a file. */
const MAKES = /\b(?:add|build|copy|extract|generate|implement|make|move|split|write)\b/i;

/** A path that no message contains, if it is certain which one was meant. */
function otherPath(sentence: string, evidence: Evidence): Verdict | undefined {
  if (proposes(sentence)) return undefined;
  for (const path of new Set(pathsIn(sentence))) {
    if (evidence.mentions(path) || path.includes('...') || sentence.includes('://')) continue;
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

/** The opposite condition is another case. */
const CONDITION = /^\W*(?:if|when|whenever|unless|while|until)\b/i;

/** A statement that a sentence repeats with another number, name or meaning. */
function otherStatement(sentence: string, evidence: Evidence): Verdict | undefined {
  if (CONDITION.test(sentence)) return undefined;
  const misquote = misquoted(sentence, sentence, evidence);
  return misquote === undefined ? undefined : { kind: 'doubt', ...misquote };
}

/** Longer words are not cited: a mark that a model repeats must be found again. */
const LONGEST_DETAIL = 240;

/** Another number or file, or the opposite, in what the messages say about the same. */
function otherDetail(sentence: string, below: string, evidence: Evidence): Verdict | undefined {
  const isPlan = proposes(sentence) || CONDITION.test(sentence);
  for (const find of isPlan
    ? [quotedError, otherNumber]
    : [quotedError, otherNumber, otherFile, deniedWords]) {
    const other = find(sentence, evidence);
    if (other !== undefined && other.said.length <= LONGEST_DETAIL)
      return { kind: 'doubt', ...other };
  }
  const place = otherPlace(sentence, below, evidence);
  return place === undefined ? undefined : { kind: 'doubt', ...place };
}

/** What only the messages can name: a file with its ending, a hash, the number of an issue. */
const SPECIFIC =
  /^[\w./~@-]*\w\.[a-z]{1,5}$|^(?=.*\d)(?=.*[a-f])[a-f0-9]{7,40}$|^[A-Z]{2,10}-\d+$/i;
/** The lines after a file's name, as in `a.ts:12-14`. */
const LINE_IN_FILE = /(?<=\.[a-z]{1,5})(?::\d+){1,2}(?:-\d+)?$/i;
const COMMON = /^(?:utf|sha|iso|rfc|aes|md|http|ipv|es|web|gpt|top)-?\d+$/i;

/** `PR-79` is also written `PR 79` and `PR #79`; a file is known by its name. */
function isMentioned(name: string, evidence: Evidence): boolean {
  if (evidence.mentions(nameOf(name))) return true;
  const [, word, number] = /^([A-Za-z]+)-(\d+)$/.exec(name) ?? [];
  return (
    word !== undefined &&
    [' ', ' #', '#'].some((gap) => evidence.mentions(`${word}${gap}${number}`))
  );
}

/** True if the messages know files of this name, all of them in other folders. */
function isElsewhere(path: string, evidence: Evidence): boolean {
  const known = evidence.paths.get(nameOf(path)) ?? new Set();
  return (
    path.includes('/') &&
    !path.includes('...') &&
    ![...known].some((one) => isSameFile(one, path)) &&
    evidence.mentions(nameOf(path)) &&
    !evidence.mentions(path)
  );
}

/** A number of two digits or more, alone: not a part of a name, a version, a time or a place in a file. */
const NUMBER = /(?<![\w./#:@-]|\d,)\d(?:[\d,]*\d|%|[\d,]*\.\d+%?|\d+%)(?![\w/%]|[.,:-]\d)/g;

/** A share may be written as `50 %` or `0.5`, and a number with or without commas. */
function unknownNumbers(sentence: string, evidence: Evidence): readonly string[] {
  return (sentence.replace(COUNTED, ' ').match(NUMBER) ?? []).filter((number) => {
    const digits = number.replace(/[,%]/g, '');
    return !evidence.hasNumber(digits) && (digits === number || !evidence.mentions(number));
  });
}

/** What an account cites of a message, which may be gone. */
export const CITATION: RegExp = / \[m(\d{1,9})(?:: “[^”\n]{1,400}”| says otherwise)\]/g;

/**
 * Names and numbers that no message contains. A name may come from elsewhere, such as the instructions of a project; it
 * looks like a mistake if it is much like the name of a file that the messages know.
 */
function unknownNames(sentence: string, evidence: Evidence): Verdict | undefined {
  if (PROPOSES.test(sentence) || sentence.includes('://')) return undefined;
  if (saysWhatToDo(sentence) && MAKES.test(sentence)) return undefined;
  const own = ` ${sentence}`.replace(CITATION, '');
  const specific = [...namesIn(own)]
    .map((name) => name.replace(LINE_IN_FILE, ''))
    .filter((name) => SPECIFIC.test(name) && !COMMON.test(name));
  const unknown = specific.filter((name) => !isMentioned(name, evidence));
  const elsewhere = specific.filter((name) => isElsewhere(name, evidence));
  const doubtful = [
    ...elsewhere,
    ...unknown.filter(
      (name) => evidence.marked.has(name) || overlapsKnownName(nameOf(name), evidence.fileNames),
    ),
    ...unknownNumbers(own, evidence),
  ];
  const names = [...new Set([...unknown, ...doubtful])];
  if (names.length === 0) return undefined;
  // What an earlier account names was looked at when it was written.
  return { kind: 'unknown', names, doubtful: doubtful.filter((one) => !evidence.wasAccepted(one)) };
}
