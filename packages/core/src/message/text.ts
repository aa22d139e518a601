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
