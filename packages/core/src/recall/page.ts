import { headOf } from '../message/text.ts';

/** Which part of a long text is asked for: from an offset on, some lines, or the lines that hold a text. */
export interface PageRequest {
  /** Characters from the beginning. */
  readonly offset?: number;
  /** The most characters that come back. */
  readonly limit?: number;
  /** The first and the last line, from 1. */
  readonly lines?: readonly [number, number];
  /** Shows the lines that hold this text, in upper or lower case, with their neighbours. */
  readonly search?: string;
}

const DEFAULT_CHARS = 8_000;
const MOST_CHARS = 40_000;
const MOST_MATCHES = 40;
const NEIGHBOURS = 2;
const LONGEST_LINE = 400;

/** A part of a text, with what it is a part of and how to read on. */
export function pageOf(text: string, request: PageRequest = {}): string {
  const limit = clamp(request.limit ?? DEFAULT_CHARS, 1, MOST_CHARS);
  if (request.search !== undefined && request.search !== '')
    return matchingLines(text, request.search, limit);
  if (request.lines !== undefined) return someLines(text, request.lines, limit);
  if ((request.offset ?? 0) >= text.length && text !== '')
    return `[there is nothing after character ${text.length}]`;
  const start = clamp(request.offset ?? 0, 0, text.length);
  const shown = headOf(text.slice(start), limit);
  const end = start + shown.length;
  return framed(
    `characters ${start}–${end} of ${text.length}`,
    shown,
    end < text.length ? `{"offset": ${end}}` : undefined,
  );
}

function someLines(text: string, [from, to]: readonly [number, number], limit: number): string {
  const lines = text.split('\n');
  const first = clamp(from, 1, lines.length);
  const last = clamp(to, first, lines.length);
  let end = first - 1;
  let chars = 0;
  while (end < last && (chars === 0 || chars + (lines[end] as string).length < limit)) {
    chars += (lines[end] as string).length + 1;
    end += 1;
  }
  const whole = lines.slice(first - 1, end).join('\n');
  const shown = headOf(whole, limit);
  const rest = end < last ? `{"lines": [${end + 1}, ${last}]}` : undefined;
  const start = lines.slice(0, first - 1).reduce((sum, line) => sum + line.length + 1, 0);
  return framed(
    `lines ${first}–${end} of ${lines.length}`,
    shown,
    shown.length < whole.length ? `{"offset": ${start + shown.length}}` : rest,
  );
}

function matchingLines(text: string, search: string, limit: number): string {
  const lines = text.split('\n');
  const wanted = search.toLowerCase();
  const matches = lines.flatMap((line, i) => (line.toLowerCase().includes(wanted) ? [i] : []));
  const shown: string[] = [];
  let chars = 0;
  let count = 0;
  let next = 0;
  for (const match of matches.slice(0, MOST_MATCHES)) {
    const block: string[] = [];
    const from = Math.max(next, match - NEIGHBOURS);
    if (from > next && shown.length > 0) block.push('…');
    const end = Math.min(lines.length, match + NEIGHBOURS + 1);
    for (let i = from; i < end; i++) block.push(numbered(lines[i] as string, i, wanted));
    chars += block.join('\n').length + 1;
    if (chars > limit && shown.length > 0) break;
    next = end;
    shown.push(...block);
    count += 1;
  }
  return framed(
    `${matches.length} of ${lines.length} lines hold ${JSON.stringify(search)}, ${count} shown`,
    headOf(shown.join('\n'), limit),
    count < matches.length ? `{"lines": [${next + 1}, ${lines.length}]}` : undefined,
  );
}

/** A line with its number; a very long one is cut around what was found. */
function numbered(line: string, index: number, wanted: string): string {
  if (line.length <= LONGEST_LINE) return `${index + 1}: ${line}`;
  const at = Math.max(0, line.toLowerCase().indexOf(wanted));
  const from = clamp(at - LONGEST_LINE / 2, 0, line.length - LONGEST_LINE);
  return `${index + 1}: …${headOf(line.slice(from), LONGEST_LINE)}…`;
}

function framed(what: string, shown: string, readOn: string | undefined): string {
  const end = readOn === undefined ? '' : `\n[read on with ${readOn}]`;
  return `[${what}]\n${shown}${end}`;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, Math.floor(value)));
}
