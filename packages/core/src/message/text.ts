/** The first characters of a text; never ends within a surrogate pair. */
export function headOf(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(chars - 1)) ? chars - 1 : chars);
}

/** The last characters of a text; never starts within a surrogate pair. */
export function tailOf(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const start = text.length - chars;
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
}

/** The end of a sentence or of a line, and what follows it. */
const SENTENCE_END = /[.!?][)"'”*`]*\s+|\n\s*/g;

/** The beginning of a text, up to the end of a sentence or a line; if there is none, up to the end of a word. */
export function wholeHeadOf(text: string, chars: number): string {
  const head = headOf(text, chars);
  if (head.length === text.length) return text;
  const end = [...head.matchAll(SENTENCE_END)].at(-1);
  const whole = end === undefined ? '' : head.slice(0, end.index + end[0].length).trimEnd();
  if (whole.length > chars / 2) return whole;
  const space = head.search(/\s\S*$/);
  return space > chars / 2 ? head.slice(0, space).trimEnd() : head;
}

/** The end of a text, from the beginning of a sentence, a line or, if there is none, a word. */
export function wholeTailOf(text: string, chars: number): string {
  const tail = tailOf(text, chars);
  if (tail.length === text.length) return text;
  const [end] = tail.matchAll(SENTENCE_END);
  const whole = end === undefined ? '' : tail.slice(end.index + end[0].length);
  if (whole.length > chars / 2) return whole;
  const space = tail.search(/\s/);
  return space >= 0 && space < chars / 2 ? tail.slice(space).trimStart() : tail;
}

/** Everything that may end a line for a reader: terminals, editors and programs do not agree. */
export const LINE_END: RegExp = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

const RARE_LINE_END = /[\r\v\f\u0085\u2028\u2029]/;

/** The lines of a text, with any kind of line end. */
export function linesOf(text: string): readonly string[] {
  return text.split(RARE_LINE_END.test(text) ? LINE_END : '\n');
}

/** One line of a text: spaces joined, cut with a mark. */
export function oneLine(text: string, most: number = 160): string {
  const line = headOf(text, most * 4)
    .replace(/[\s\u0085]+/g, ' ')
    .trim();
  return line.length <= most ? line : `${headOf(line, most - 1)}…`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

const WORD = /[A-Za-z0-9_@~$#./\\][\w@~$#./\\:+-]*/g;
const EDGE = /^[./\\:#$+-]*(?=[\w@~])|[./\\:#$@+~-]+$/g;

/** The exact strings in a text: paths, identifiers, hashes, ids, versions, numbers of three digits or more. */
export function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    const name = word.replace(EDGE, '');
    if (name.length >= 3 && isName(name)) names.add(name);
  }
  return names;
}

/** True if a string is not a plain word: it cannot be guessed, so it must not be lost or invented. */
function isName(word: string): boolean {
  if (/\d/.test(word)) return /\d{3}|[A-Za-z_]/.test(word);
  if (/[a-z][A-Z]|[A-Za-z]_[A-Za-z]/.test(word)) return true;
  return (
    /[A-Za-z0-9][./\\:][A-Za-z0-9]/.test(word) && !/^(?:e\.g|i\.e|and\/or|a\.k\.a)$/i.test(word)
  );
}

/** The sentences of a text; the lines of a list and the rows of a table count as sentences. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .split(/\n+|(?<=[.!?])\s+(?=[A-Z"'`[(*-])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** Words that hold a sentence together and carry no meaning. */
export const STOP: ReadonlySet<string> = new Set(
  `a an and are as at be been by can could did do does for from had has have i in into is it its may might of on or our
  shall should so that the their them then there these they this to was we were will with would you your please not no`.split(
    /\s+/,
  ),
);

/** The words that carry a sentence's meaning, in lower case, plural and tense cut off. */
export function contentWords(text: string): readonly string[] {
  const words: string[] = [];
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}][\p{L}\p{N}_]*/gu))
    if (!STOP.has(word)) words.push(stem(word));
  return words;
}

function stem(word: string): string {
  if (word.length <= 4 || /\d/.test(word)) return word;
  return word.replace(/(?:ing|ed|es|s|e)$/, '');
}
