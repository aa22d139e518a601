import type { MessageId } from '../message/message.ts';
import { namesIn } from '../message/text.ts';
import { baseOf, pathsIn, type Evidence, type Statement } from './evidence.ts';
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
  /** A message says the same with another number, name or meaning, which may have changed since. */
  | {
      readonly kind: 'doubt';
      readonly said: string;
      readonly statement: Statement;
    }
  /** Names that no message contains. */
  | { readonly kind: 'unknown'; readonly names: readonly string[] };

const KEEP: Verdict = { kind: 'keep' };

/** Compares a sentence with what the messages say about the same. */
export function judge(sentence: string, evidence: Evidence): Verdict {
  return (
    otherWords(sentence, evidence) ??
    otherPath(sentence, evidence) ??
    otherStatement(sentence, evidence) ??
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
    return {
      kind: 'correct',
      text,
      because: statement.text.trim().slice(0, 200),
      id: statement.id,
    };
  }
  return undefined;
}

const QUOTE = /["“]([^"“”]{16,400})["”]/g;

/** A quotation whose end is in another sentence. */
const OPEN_QUOTE = /^[^"“”]{0,60}["“]([^"“”]{16,400})$/;

/** What a sentence quotes. */
function quotesIn(sentence: string): readonly string[] {
  const open = OPEN_QUOTE.exec(sentence)?.[1];
  const closed = [...sentence.matchAll(QUOTE)].map(([, quote = '']) => quote);
  return open === undefined ? closed : [...closed, open];
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

/** Names that no message contains. A number may be counted or added up: it is not reported. */
function unknownNames(sentence: string, evidence: Evidence): Verdict | undefined {
  const names = [...namesIn(sentence)].filter(
    (name) => SPECIFIC.test(name) && !COMMON.test(name) && !isMentioned(name, evidence),
  );
  return names.length === 0 ? undefined : { kind: 'unknown', names };
}
