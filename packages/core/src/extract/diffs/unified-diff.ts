import { headOf } from '../../message/text.ts';
import type { SeenChange } from '../../plan/summary.ts';
import { hasPatch } from '../anchors/patch.ts';
import { declaredBefore, type Replacement } from '../work/changes.ts';

/** A stretch of a text: from its first character to the one after its last. */
export type Range = readonly [from: number, to: number];

/** Lines that were replaced, and what they are part of if the diff names it. */
export interface Hunk extends Replacement {
  readonly within: string | undefined;
}

/** What a unified diff says of one file. */
export interface FileDiff {
  readonly path: string;
  /** The path before, if the file was renamed. */
  readonly from: string | undefined;
  readonly does: SeenChange['does'];
  readonly plus: number;
  readonly minus: number;
  /** Runs of lines that were taken away, with those that came in their place. */
  readonly replaced: readonly Hunk[];
}

/** A run of added lines: where it is in the text, and in which file. */
export type AddedRun = readonly [from: number, to: number, file: FileDiff];

/** The diffs in a text, and the stretches of it that are not diffs. */
export interface DiffText {
  readonly files: readonly FileDiff[];
  readonly added: readonly AddedRun[];
  readonly rest: readonly Range[];
}

const LONGEST = 150_000;
/** The line number that a tool puts before each line of a file. */
const MARGIN = /^ {0,8}\d{1,7}[\t→]/;
const GIT = /^diff --git (?:"?a\/)?(.+?)"? "?b\/(.+?)"?$/;
const OLD = /^--- (?:"?a\/)?(.+?)"?(?:\t.*)?$/;
const NEW = /^\+\+\+ (?:"?b\/)?(.+?)"?(?:\t.*)?$/;
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@(.*)$/;
const HEADER =
  /^(?:index [0-9a-f]+\.\.|(?:new|deleted) file mode |(?:old|new) mode |(?:dis)?similarity index |rename (?:from|to) |copy (?:from|to) |Binary files |\\ No newline)/;
/** Where a tool left out the middle of its output: also within a line. */
const CUT =
  /(?:…|\.{3}|\[)\s?\d[\d,]* \w+ (?:truncated|omitted|left out|removed)|^\W{0,4}(?:\w+ ){0,3}truncated\W{0,4}$/;

/** The unified diffs in a text; undefined if it has none. */
export function diffIn(text: string): DiffText | undefined {
  if (!text.includes('diff --git ') && !(text.includes('@@ -') && text.includes('+++ ')))
    return undefined;
  const reader = new DiffReader(headOf(text, LONGEST));
  reader.read();
  return reader.files.length === 0 ? undefined : reader;
}

type Building = { -readonly [K in keyof FileDiff]: FileDiff[K] } & {
  replaced: Hunk[];
  hasHunks: boolean;
};

class DiffReader implements DiffText {
  readonly files: Building[] = [];
  readonly added: AddedRun[] = [];
  readonly rest: Range[] = [];
  readonly #text: string;
  #file: Building | undefined;
  #isCut = false;
  /** The lines of the hunk that are still to come. */
  #oldLeft = 0;
  #newLeft = 0;
  #within: string | undefined;
  #gone: string[] = [];
  #come: string[] = [];
  #comeFrom = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): void {
    const text = this.#text;
    for (let start = 0; start < text.length;) {
      const feed = text.indexOf('\n', start);
      const end = feed < 0 ? text.length : feed;
      const line = text.slice(start, end);
      this.#line(line.replace(MARGIN, ''), start, end);
      start = end + 1;
    }
    this.#endRun(text.length);
  }

  #line(line: string, start: number, end: number): void {
    const git = line.startsWith('diff --git ') ? GIT.exec(line) : null;
    if (this.files.length > 0 && CUT.test(line)) this.#cut(start);
    else if (git !== null) this.#open(git[1] ?? '', git[2] ?? '', start);
    else if (this.#oldLeft + this.#newLeft > 0) this.#inHunk(line, start, end);
    else if (!this.#header(line, start)) this.#outside(line, start, end);
  }

  #open(before: string, path: string, at: number): void {
    this.#endRun(at);
    this.#isCut = false;
    this.#oldLeft = this.#newLeft = 0;
    this.#file = {
      path,
      from: before === path ? undefined : before,
      does: before === path ? 'modified' : 'renamed',
      plus: 0,
      minus: 0,
      replaced: [],
      hasHunks: false,
    };
    this.files.push(this.#file);
  }

  #header(line: string, at: number): boolean {
    const hunk = HUNK.exec(line);
    if (hunk !== null) {
      this.#endRun(at);
      if (this.#file !== undefined) this.#file.hasHunks = true;
      this.#oldLeft = Number(hunk[1] ?? 1);
      this.#newLeft = Number(hunk[2] ?? 1);
      this.#within = declaredBefore(hunk[3] ?? '', Number.POSITIVE_INFINITY);
      return true;
    }
    const old = OLD.exec(line)?.[1];
    if (old !== undefined && this.#isFileHeader(at)) {
      if (this.#file === undefined || this.#file.hasHunks) this.#open(old, old, at);
      if (old === '/dev/null' && this.#file !== undefined) this.#file.does = 'added';
      return true;
    }
    const file = this.#file;
    if (file === undefined || file.hasHunks) return line.startsWith('\\ No newline');
    const now = NEW.exec(line)?.[1];
    if (now === '/dev/null') file.does = 'deleted';
    else if (now !== undefined) file.path = now;
    else if (line.startsWith('new file mode')) file.does = 'added';
    else if (line.startsWith('deleted file mode')) file.does = 'deleted';
    return now !== undefined || HEADER.test(line);
  }

  /** True if the line after `--- a/file` is `+++ b/file`. */
  #isFileHeader(at: number): boolean {
    const next = this.#text.indexOf('\n', at) + 1;
    return (
      next > 0 &&
      this.#text
        .slice(next, next + 20)
        .replace(MARGIN, '')
        .startsWith('+++ ')
    );
  }

  #inHunk(line: string, start: number, end: number): void {
    const sign = line.charAt(0);
    if (sign === '+') {
      if (this.#come.length === 0) this.#comeFrom = start;
      this.#come.push(line.slice(1));
      this.#newLeft--;
      if (this.#file !== undefined) this.#file.plus++;
    } else if (sign === '-') {
      if (this.#come.length > 0) this.#endRun(start);
      this.#gone.push(line.slice(1));
      this.#oldLeft--;
      if (this.#file !== undefined) this.#file.minus++;
    } else if (sign === ' ' || sign === '' || sign === '\\') {
      this.#endRun(start);
      if (sign === '\\') return;
      this.#oldLeft--;
      this.#newLeft--;
    } else {
      this.#endRun(start);
      this.#oldLeft = this.#newLeft = 0;
      if (!this.#header(line, start)) this.#outside(line, start, end);
    }
  }

  /** What follows a place where a tool cut its output belongs to an unknown file. */
  #cut(at: number): void {
    this.#endRun(at);
    this.#isCut = true;
    this.#file = undefined;
    this.#oldLeft = this.#newLeft = 0;
  }

  #outside(line: string, start: number, end: number): void {
    this.#endRun(start);
    if (line.trim() !== '') this.#file = undefined;
    if (this.#isCut || line.trim() === '') return;
    const last = this.rest.at(-1);
    if (last !== undefined && last[1] >= start - 1)
      this.rest[this.rest.length - 1] = [last[0], end];
    else this.rest.push([start, end]);
  }

  #endRun(at: number): void {
    if (this.#file !== undefined && this.#gone.length + this.#come.length > 0) {
      this.#file.replaced.push({
        before: this.#gone.join('\n'),
        after: this.#come.join('\n'),
        within: this.#within,
      });
      if (this.#come.length > 0) this.added.push([this.#comeFrom, at, this.#file]);
    }
    this.#gone = [];
    this.#come = [];
  }
}

const PATCHED_FILE = /^\*\*\* (Add|Update|Delete) File: (.+?)\s*$/;
const FEED = /\\n|\n/g;

/** The files and added lines of a patch that a call applies, as its arguments hold it; undefined if there is none. */
export function patchIn(args: string): DiffText | undefined {
  if (!hasPatch(args)) return undefined;
  const files: FileDiff[] = [];
  const added: AddedRun[] = [];
  for (const [line, start, end] of placedLines(args.slice(0, LONGEST))) {
    const [, verb, path = ''] = PATCHED_FILE.exec(line) ?? [];
    if (verb !== undefined) files.push(fileOf(verb, path));
    const file = files.at(-1);
    if (file === undefined || !line.startsWith('+')) continue;
    const last = added.at(-1);
    if (last !== undefined && last[2] === file && last[1] === start)
      added[added.length - 1] = [last[0], end, file];
    else added.push([start, end, file]);
  }
  return files.length === 0 ? undefined : { files, added, rest: [] };
}

function fileOf(verb: string, path: string): FileDiff {
  const does = verb === 'Add' ? 'added' : verb === 'Delete' ? 'deleted' : 'modified';
  return { path, from: undefined, does, plus: 0, minus: 0, replaced: [] };
}

/** The lines of a text, escaped or not, each with its place and that of the next line. */
function* placedLines(text: string): Iterable<readonly [line: string, start: number, end: number]> {
  let start = 0;
  for (const { index, 0: feed } of text.matchAll(FEED)) {
    // An escaped backslash before an n does not end a line.
    if (feed.length === 2 && text.charAt(index - 1) === '\\') continue;
    yield [text.slice(start, index), start, index + feed.length];
    start = index + feed.length;
  }
}

/** The range that holds a place; ranges are in order and apart. */
export function rangeAt<R extends Range | AddedRun>(
  ranges: readonly R[],
  at: number,
): R | undefined {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle] as R;
    if (at < range[0]) high = middle - 1;
    else if (at >= range[1]) low = middle + 1;
    else return range;
  }
  return undefined;
}
