import { stripVTControlCharacters } from 'node:util';
import { STEERING } from './plain-text.ts';

/** Lines of at most a number of columns, broken at spaces. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let used = 0;
  for (const word of text.split(' ')) {
    const taken = columns(word);
    if (lines.length > 0 && used + 1 + taken <= width) {
      lines[lines.length - 1] += ` ${word}`;
      used += 1 + taken;
    } else {
      lines.push(word);
      used = taken;
    }
  }
  return lines;
}

/** A text after a head, wrapped; its other lines are indented as far as the head reaches. */
export function hanging(head: string, text: string, width: number): readonly string[] {
  const indent = columns(head);
  return wrap(text, width - indent).map((line, i) => (i === 0 ? head : ' '.repeat(indent)) + line);
}

/** Items with something between them; a line breaks only after that. */
export function sideBySide(
  items: readonly string[],
  between: string,
  width: number,
): readonly string[] {
  const unbroken = items.map((item) => `${item}${between}`.replaceAll(' ', NO_BREAK)).join(' ');
  return wrap(unbroken.slice(0, -between.length), width).map((line) =>
    line.replaceAll(NO_BREAK, ' ').trimEnd(),
  );
}

/** A space at which no line breaks. */
const NO_BREAK = '\u00A0';

/** One line of a foreign text: controls and changes of direction, which could steer a terminal, become spaces. */
export function oneLine(text: string, width: number): string {
  const line = text
    .slice(0, width * 4)
    .replaceAll(STEERING, ' ')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return columns(line) <= width ? line : clipped(withShortPaths(line, width), width);
}

/** A word with two slashes, or with one and an extension, that is not an address. */
const PATH = /(?<!\S)(?!\S*:\/\/)(?:\S*\/\S*\/\S+|\S+\/\S+\.\w+)/g;

/** Takes folders off the front of paths that reach beyond the width: a file is known by its name. */
function withShortPaths(line: string, width: number): string {
  let saved = 0;
  return line.replaceAll(PATH, (path, at: number) => {
    const isLast = at + path.length === line.length;
    const tooFar = at - saved + path.length - (isLast ? width : width - 1);
    const next = path.indexOf('/', tooFar + 1);
    const from = next < 0 ? path.lastIndexOf('/') : next;
    if (tooFar <= 0 || from < 2) return path;
    saved += from - 1;
    return `…${path.slice(from)}`;
  });
}

/** Cuts a line to a number of columns, with a mark. */
function clipped(line: string, width: number): string {
  if (columns(line) <= width) return line;
  let taken = '';
  let used = 1;
  for (const character of characters(line)) {
    used += columns(character);
    if (used > width) break;
    taken += character;
  }
  return `${taken}…`;
}

const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]/u;

/** How many columns a line takes: colours take none, ideographs and emoji two. */
export function columns(line: string): number {
  let sum = 0;
  for (const character of characters(stripVTControlCharacters(line)))
    sum += WIDE.test(character) ? 2 : 1;
  return sum;
}

let segmenter: Intl.Segmenter | undefined;

/** Latin letters, punctuation, arrows and blocks: each is one character. */
const PLAIN = /^[ -~\u00A0-\u02FF\u2010-\u2027\u2190-\u22FF\u2500-\u25FF]*$/;

/** What a person takes for one character. The first segmenter of a process takes 20 ms, and most lines do without. */
function characters(line: string): Iterable<string> {
  if (PLAIN.test(line)) return line;
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(line), ({ segment }) => segment);
}
