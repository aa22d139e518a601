import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** Where a picture is drawn: how wide it may be, and how text is coloured there, if it is. */
export interface Screen {
  readonly width: number;
  paint(style: Style, text: string): string;
}

const WIDEST = 100;
const NARROWEST = 60;
const USUAL = 80;

/** Colours only on a terminal, and not where NO_COLOR asks for none. */
export function stdoutScreen(): Screen {
  const { stdout } = process;
  return {
    width: Math.max(NARROWEST, Math.min(WIDEST, stdout.columns ?? USUAL)),
    paint: (style, text) => styleText(style, text, { stream: stdout }),
  };
}

/** One line of a text that somebody else wrote: control characters, which could steer a terminal, become spaces. */
export function oneLine(text: string, width: number): string {
  const line = text
    .slice(0, width * 4)
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    .replaceAll(/[\s\u0000-\u001F\u007F-\u009F]+/gu, ' ')
    .trim();
  return clipped(line, width);
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

/** How many columns a line takes; ideographs and emoji take two. */
function columns(line: string): number {
  let sum = 0;
  for (const character of characters(line)) sum += WIDE.test(character) ? 2 : 1;
  return sum;
}

let segmenter: Intl.Segmenter | undefined;

/** What a person takes for one character. The first segmenter of a process takes 20 ms, and ASCII does without. */
function characters(line: string): Iterable<string> {
  if (/^[ -~]*$/.test(line)) return line;
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(line), ({ segment }) => segment);
}
