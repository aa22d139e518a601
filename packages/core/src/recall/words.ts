import { headOf } from '../message/text.ts';
import { callsOf, resultsOf, resultText, textOf, type Message } from '../message/message.ts';

/** The most of one message that is searchable: what lies behind is still read by its place. */
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

/** The words of a text as every store indexes and searches them: lower case, letters and digits only. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  const lower = text.toLowerCase();
  const isSpaced = !UNSPACED.test(lower);
  for (const run of lower.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []) {
    if (!isSpaced && UNSPACED.test(run)) words.push(...pairsOf(run));
    else if (run.length <= LONGEST_WORD) words.push(run);
  }
  return words;
}

function pairsOf(run: string): readonly string[] {
  const chars = Array.from(run);
  if (chars.length === 1) return chars;
  return chars.slice(1).map((char, i) => `${chars[i]}${char}`);
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
  for (const word of wordsOf(headOf(question, 4_000))) {
    if (EMPTY_WORDS.has(word) || (word.length < 2 && !UNSPACED.test(word))) continue;
    words.add(word);
    if (words.size === most) break;
  }
  return [...words];
}
