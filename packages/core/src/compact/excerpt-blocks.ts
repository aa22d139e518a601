import { sorted } from '../check/list.ts';
import { declaredOn } from '../extract/work/changes.ts';
import { saysWhatFailed } from '../extract/work/commands.ts';
import type { Stretch } from '../plan/plan.ts';
import { wordEnd, wordStart } from '../render/excerpt.ts';

/** The share of an excerpt that is kept for its first and its last lines, regardless of their worth. */
export const HEAD: number = 0.25;
export const TAIL: number = 0.15;

/** The beginning of a line is looked for so far before a stretch. */
const LONGEST_LINE_CHARS = 400;

/** A shorter part of a file says less than its name. */
const LEAST_BLOCK_CHARS = 200;

/** The block of whole lines of a file, in so many characters, that holds most of some stretches, or of its conflicts. */
export function connected(
  text: string,
  stretches: readonly Stretch[],
  chars: number,
): readonly Stretch[] {
  if (chars < LEAST_BLOCK_CHARS) return [];
  const conflicts = [...text.matchAll(CONFLICT)].map(({ 0: line, index }): Stretch => [
    index,
    index + line.length,
  ]);
  const wanted: readonly Stretch[] = conflicts.length > 0 ? conflicts : [[0, 0], ...stretches];
  const block = blockOf(text, wanted, chars - HEADER_CHARS);
  return joined([...declarationBefore(text, block[0]), block]);
}

/** The line that says what a block is a part of takes so much of it. */
const HEADER_CHARS = 80;
const LONGEST_HEADER_CHARS = 160;

/** The last line before a place of a file that declares something, if it is short. */
function declarationBefore(text: string, at: number): readonly Stretch[] {
  let to = at - 1;
  while (to > 0) {
    const from = text.lastIndexOf('\n', to - 1) + 1;
    const isShort = to - from <= LONGEST_HEADER_CHARS;
    if (isShort && declaredOn(text.slice(from, to)) !== undefined) return [[from, to]];
    to = from - 1;
  }
  return [];
}

/** What a merge puts around lines that it could not merge, also after the number of a line. */
const CONFLICT = /^(?:[ \t]*\d{1,7}[→\t|])?(?:<{7}|>{7}) [^\n]{1,200}$/gm;

/**
 * The first and the last lines of a text, and one block between: where something failed, or where most of some stretches
 * are. Single lines between gaps say little, and so do pieces of a single line.
 */
export function endsAndMiddle(
  text: string,
  stretches: readonly Stretch[],
  chars: number,
): readonly Stretch[] {
  if (chars <= 0 || stretches.length === 0) return [];
  if (!text.trimEnd().includes('\n'))
    return endsOf(text, chars * (1 - LINE_TAIL), chars * LINE_TAIL);
  const failures = failureLines(text);
  const endsInFindings = isReport(text);
  const [head, tail] =
    failures.length > 0
      ? [FAILED_ENDS, FAILED_ENDS]
      : endsInFindings
        ? [REPORT_HEAD, REPORT_TAIL]
        : [HEAD, TAIL];
  const ends = endsOf(text, chars * head, chars * tail);
  const [from, to] = [ends[0]?.[1] ?? 0, ends[1]?.[0] ?? text.length];
  const wanted = failures.length > 0 ? failures : chars < SMALL_CHARS ? [] : stretches;
  const between = wanted.filter(([start, end]) => start >= from && end <= to);
  const small = endsInFindings ? REPORT_TAIL : SMALL_TAIL;
  if (between.length === 0) return endsOf(text, chars * (1 - small), chars * small);
  const blocks = joined([...ends, blockOf(text, between, chars * (1 - head - tail))]);
  const left = chars - charsOf(blocks);
  return left < LEAST_MORE_CHARS ? blocks : widened(blocks, text, left);
}

/** An excerpt below this size has no place for a block between its ends. */
const SMALL_CHARS = 1_200;
const SMALL_TAIL = 0.3;
const LINE_TAIL = 0.1;
const REPORT_HEAD = 0.15;
const REPORT_TAIL = 0.6;
/** What failed says more than how the output begins and ends. */
const FAILED_ENDS = 0.1;
const MOST_FAILURES = 40;
/** A longer line is read to here. */
const LONGEST_FAILURE_CHARS = 260;

/** Where the first lines are that say what failed, each with the line before it. */
function failureLines(text: string): readonly Stretch[] {
  const lines: Stretch[] = [];
  let before = 0;
  for (let from = 0; from < text.length && lines.length < MOST_FAILURES;) {
    const feed = text.indexOf('\n', from);
    const to = feed < 0 ? text.length : feed;
    if (saysWhatFailed(text.slice(from, Math.min(to, from + LONGEST_FAILURE_CHARS))))
      lines.push([before, to]);
    before = from;
    from = to + 1;
  }
  return lines;
}

/** The block of whole lines, in so many characters, that begins with one of some stretches and holds most of them. */
function blockOf(text: string, stretches: readonly Stretch[], mostChars: number): Stretch {
  const chars = Math.floor(mostChars);
  const ordered = sorted(stretches, (a, b) => a[0] - b[0]);
  let [from, most, held, next] = [0, -1, 0, 0];
  for (const [i, [start, end]] of ordered.entries()) {
    const before = text.slice(Math.max(0, start - LONGEST_LINE_CHARS), start);
    const begin = start - before.length + before.lastIndexOf('\n') + 1;
    for (; next < ordered.length; next++) {
      const [nextStart, nextEnd] = ordered[next] as Stretch;
      if (nextEnd > begin + chars) break;
      held += nextEnd - nextStart;
    }
    if (held > most) [from, most] = [begin, held];
    if (next > i) held -= end - start;
    next = Math.max(next, i + 1);
  }
  if (from + chars >= text.length)
    return [lineStart(text, Math.max(0, text.length - chars)), text.length];
  const feed = text.lastIndexOf('\n', from + chars);
  // A long line is cut, not left out.
  const end = feed > from + chars / 2 ? feed : wordEnd(text, from + chars);
  return [from, end];
}

/** A block that a host appends to a result: a reminder, or what a sub-agent has used. */
const APPENDED = /<\/(system-reminder|usage)>$/;
/** The line before what a sub-agent has used. */
const SUB_AGENT = /\nagentId: [^\n]{1,200}$/;

/** Where a block begins that a host appended to a result, otherwise the end: it is not the result's last line. */
export function appendedStart(text: string): number {
  const end = text.trimEnd();
  const tag = APPENDED.exec(end.slice(-20))?.[1];
  const at = tag === undefined ? -1 : end.lastIndexOf(`<${tag}>`);
  return at <= 0 ? text.length : text.slice(0, at).trimEnd().replace(SUB_AGENT, '').length;
}

/** True for a report in prose with headings: it ends with what was found. */
const isReport = (text: string): boolean =>
  !NUMBERED.test(text) && (text.slice(0, REPORT_CHARS).match(/^#{2,4} \S/gm)?.length ?? 0) >= 2;

const REPORT_CHARS = 4_000;

/** The first and the last lines of a text that fit; a long first line is cut. */
export function endsOf(text: string, headChars: number, tailChars: number): readonly Stretch[] {
  const head = lineEnd(text, Math.floor(headChars));
  const tail = lineStart(text, text.length - Math.floor(tailChars));
  if (tail <= head) return [[0, text.length]];
  return tail < text.length && !isPiece(text, tail)
    ? [
        [0, head],
        [tail, text.length],
      ]
    : [[0, head]];
}

/** A shorter end of a line says little. */
const LEAST_PIECE_CHARS = 80;
const isPiece = (text: string, from: number): boolean =>
  text[from - 1] !== '\n' && text.length - from < LEAST_PIECE_CHARS;

/** A file as tools show it, with a number before each line. */
export const NUMBERED: RegExp = /^\s{0,40}\d{1,7}\s{0,8}(?:→|\t|\|)/;

function lineEnd(text: string, at: number): number {
  const feed = text.lastIndexOf('\n', at);
  return feed > at * 0.5 ? feed : wordEnd(text, Math.min(text.length, at));
}

const LONGEST_SEARCH = 200;

function lineStart(text: string, at: number): number {
  const feed = text.indexOf('\n', at);
  return feed < 0 || feed > at + LONGEST_SEARCH ? wordStart(text, at) : feed + 1;
}

export function charsOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, [start, end]) => sum + end - start, 0);
}

/** Stretches in order; those that touch, or have only a line feed between, become one. */
export function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  const runs: [number, number][] = [];
  for (const [start, end] of sorted(stretches, (a, b) => a[0] - b[0])) {
    const last = runs.at(-1);
    if (last !== undefined && start <= last[1] + 1) last[1] = Math.max(last[1], end);
    else if (end > start) runs.push([start, end]);
  }
  return runs;
}

/** Less is not worth the while. */
export const LEAST_MORE_CHARS: number = 40;

/** The space that is left goes to the first and the last lines: if nothing is worth naming, they say most. */
export function widened(
  stretches: readonly Stretch[],
  text: string,
  chars: number,
): readonly Stretch[] {
  const { length } = text;
  const head = stretches[0]?.[0] === 0 ? stretches[0][1] : 0;
  const last = stretches.at(-1);
  const tail = last?.[1] === length ? last[0] : length;
  const more = Math.ceil((chars * 2) / 3);
  const from = lineStart(text, Math.max(0, tail - (chars - more)));
  return joined([
    [0, Math.max(head, lineEnd(text, Math.min(length, head + more)))],
    ...stretches,
    [isPiece(text, from) ? tail : Math.min(tail, from), length],
  ]);
}
