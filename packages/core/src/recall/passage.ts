import { headOf } from '../message/text.ts';
import { wordsOf } from './words.ts';

interface Line {
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

/**
 * The part of a text that a query is about: the line that has the most of its words, and the lines around it as far as
 * they fit. A word that few lines have counts for more.
 */
export function passageOf(text: string, words: readonly string[], chars: number): string {
  if (text.length <= chars) return text;
  const lines = scoredLines(text, words, Math.max(1, Math.floor(chars / 2)));
  const best = lines.reduce((top, line, i) => (line.score > (lines[top]?.score ?? 0) ? i : top), 0);
  const [start, end] = around(lines, best, chars);
  const part = text.slice(start, end).replace(/^[\udc00-\udfff]/, '');
  return `${start === 0 ? '' : '…'}${headOf(part, chars)}${end < text.length ? '…' : ''}`;
}

/** The lines of a text, long ones in pieces, each with the words of the query that it has. */
function scoredLines(text: string, words: readonly string[], longest: number): readonly Line[] {
  const places: { start: number; end: number; held: ReadonlySet<string> }[] = [];
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const stop = newline === -1 ? text.length : newline + 1;
    const end = Math.min(stop, pieceEnd(text, start, longest));
    places.push({ start, end, held: new Set(wordsOf(text.slice(start, end))) });
    start = end;
  }
  const weights = words.map((word) => {
    const lines = places.filter(({ held }) => held.has(word)).length;
    return [word, lines === 0 ? 0 : 1 + 1 / lines] as const;
  });
  return places.map(({ start, end, held }) => ({
    start,
    end,
    score: weights.reduce((sum, [word, weight]) => sum + (held.has(word) ? weight : 0), 0),
  }));
}

/** The end of a piece: between two words if there is a space near. */
function pieceEnd(text: string, start: number, longest: number): number {
  const end = start + longest;
  const space = text.lastIndexOf(' ', end);
  return space > start + longest / 2 ? space + 1 : end;
}

function around(lines: readonly Line[], best: number, chars: number): readonly [number, number] {
  let [first, last] = [best, best];
  const length = (from: number, to: number): number =>
    (lines[to]?.end ?? Infinity) - (lines[from]?.start ?? -Infinity);
  for (let grew = true; grew;) {
    grew = false;
    if (length(first, last + 1) <= chars) [last, grew] = [last + 1, true];
    if (length(first - 1, last) <= chars) [first, grew] = [first - 1, true];
  }
  return [lines[first]?.start ?? 0, lines[last]?.end ?? 0];
}
