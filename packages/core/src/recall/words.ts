import { headOf } from '../message/text.ts';
import { callsOf, resultsOf, resultText, textOf, type Message } from '../message/message.ts';
import { stemOf } from './stem.ts';

/** The most of one message that is searchable: the rest can still be read by its place. */
const SEARCHABLE_CHARS = 100_000;
const LONGEST_WORD = 64;

/** All that was said, called and answered in a message, as one text to search in. */
export function searchText(message: Message): string {
  const texts = [textOf(message)];
  for (const { tool, args } of callsOf(message)) texts.push(tool, args);
  for (const result of resultsOf(message)) texts.push(result.tool ?? '', resultText(result));
  for (const part of message.parts) if (part.kind === 'file') texts.push(part.name ?? '');
  return headOf(texts.filter((text) => text !== '').join('\n'), SEARCHABLE_CHARS);
}

/** Scripts that write without spaces: each pair of neighbours is a word, so that parts of a run are found. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * The words of a text as every store indexes and searches them: stems in lower case, without accents, letters and
 * digits only. A name of several words (`parserState`, `time-out`, `kv_rotation`) counts as a whole and in its parts.
 */
export function wordsOf(text: string): readonly string[] {
  const stems = new Map<string, string>();
  return tokensOf(text).map((token) => {
    const stem = stems.get(token) ?? stemOf(token);
    stems.set(token, stem);
    return stem;
  });
}

/** As `wordsOf`, but not stemmed. */
function tokensOf(text: string): readonly string[] {
  const plain = unaccented(text);
  const isSpaced = !UNSPACED.test(plain);
  const tokens: string[] = [];
  for (const [name] of plain.matchAll(/[\p{L}\p{N}\p{M}]+(?:[-_][\p{L}\p{N}\p{M}]+)*/gu)) {
    if (!isSpaced && UNSPACED.test(name)) tokens.push(...unspacedTokens(name));
    else tokens.push(...nameTokens(name));
  }
  return tokens;
}

/** One form for all ways to write a letter: composed or not, with or without accents, full-width or not. */
function unaccented(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\0-\x7f]*$/.test(text)) return text;
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replaceAll('ß', 'ss');
}

function unspacedTokens(name: string): readonly string[] {
  return name
    .split(/[-_]/)
    .flatMap((run) => (UNSPACED.test(run) ? pairsOf(run.toLowerCase()) : nameTokens(run)));
}

function pairsOf(run: string): readonly string[] {
  const chars = Array.from(run);
  if (chars.length === 1) return chars;
  return chars.slice(1).map((char, i) => `${chars[i]}${char}`);
}

/** The most parts of a name that is a word as a whole as well: a longer one is a list. */
const MOST_PARTS = 3;

function nameTokens(name: string): readonly string[] {
  if (!name.includes('-') && !name.includes('_')) return runTokens(name);
  const runs = name.split(/[-_]/);
  const tokens = runs.flatMap(runTokens);
  const isName =
    runs.length > 1 && runs.length <= MOST_PARTS && /^[\p{L}-]+$/u.test(name.replaceAll('_', '-'));
  return isName && name.length <= LONGEST_WORD ? [...tokens, runs.join('').toLowerCase()] : tokens;
}

/** A run of letters and digits, with its parts if it is written as `camelCase` or `HTTPServer`. */
function runTokens(run: string): readonly string[] {
  if (run.length > LONGEST_WORD) return [];
  const whole = run.toLowerCase();
  if (whole === run) return [whole];
  const parts = run.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
  if (parts.length === 1) return [whole];
  return [whole, ...parts.filter(({ length }) => length > 1).map((part) => part.toLowerCase())];
}

/** Words that say nothing of what a question is about. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but ' +
    'by can could did do does doing done down each few for from further get give go got had has have having he her ' +
    'here hers him his how i if in into is it its just know let like ll look made make may me might more most my need ' +
    'no nor not now of off on once only or other our out over own please re said same say see she should show so some ' +
    'such take tell than that the their them then there these they this those through to too under until up us use ' +
    've very want was we were what when where which while who why will with would you your'
  ).split(' '),
);

/** The different words of a question that can be searched for, in order, at most a number of them. */
export function queryWords(question: string, most: number = 24): readonly string[] {
  const words = new Set<string>();
  for (const token of tokensOf(headOf(question, 4_000))) {
    if (EMPTY_WORDS.has(token) || isLoneLetter(token)) continue;
    words.add(stemOf(token));
    if (words.size === most) break;
  }
  return [...words];
}

/** A digit names something (`src/9.ts`); so does a character of a script without spaces. */
function isLoneLetter(token: string): boolean {
  return token.length < 2 && !/\p{N}/u.test(token) && !UNSPACED.test(token);
}
