import { lastIndex, reversed } from '../../check/list.ts';
import type { Redact } from '../../summary/redact.ts';
import type { FileAccess } from '../anchors/files.ts';
import { VOICE } from '../anchors/scan.ts';
import type { AnchorStatistics, Placed } from '../anchors/statistics.ts';
import { replacementsIn, type Replacement } from '../work/changes.ts';
import { flat, isImport } from './quote.ts';

/** Lines of a file from the first to the last that an edit changes, as the edit leaves them. */
export interface EditBlock {
  /** The text of the call. */
  readonly of: number;
  readonly file: FileAccess;
  /** All that the edit puts into the file, and which of its lines are the block. */
  readonly after: string;
  readonly from: number;
  readonly to: number;
  /** True if it is only the beginning of what the edit changes. */
  readonly isCut: boolean;
}

/** A longer edit is shown in part. */
const BLOCK_CHARS = 1_800;
/** A single line that is shorter says nothing. */
const LEAST_LINE_CHARS = 8;
/** Where lines are left out, or a later edit took them away. */
export const GAP = '…';
/** Lines between more gaps say little, and so do fewer lines than gaps. */
const MOST_GAPS = 2;
/** Of so many replacements in a file, the newest, it is known what they replaced. */
const MOST_REPLACED = 200;
/** Brackets and the like are in every block. */
export const TRIVIAL_CHARS = 4;

/** What the edits of a conversation left in its files. */
export class EditBlocks {
  /** The newest first. */
  readonly blocks: readonly EditBlock[];
  readonly #statistics: AnchorStatistics;
  /** The lines that were taken out of each file, with the last call that did so. */
  readonly #removed = new Map<FileAccess, Map<string, number>>();
  /** The replacements in one place of each file, the newest first. */
  readonly #replaced = new Map<FileAccess, (Replacement & { readonly of: number })[]>();
  /** Files that were written anew, with the last call that did so: what was in them before is gone. */
  readonly #rewritten = new Map<FileAccess, number>();

  constructor(statistics: AnchorStatistics) {
    this.#statistics = statistics;
    const blocks: EditBlock[] = [];
    for (let of = statistics.placed.length - 1; of >= 0; of--) blocks.push(...this.#read(of));
    this.blocks = blocks;
  }

  /**
   * The text of a block as later edits left it, without secrets and without lines of those edits that are shown already;
   * empty if nothing is left.
   */
  text(
    { of, file, after, from, to, isCut }: EditBlock,
    redact: Redact,
    isShown: (line: string) => boolean,
  ): string {
    const clean = redact(after).split('\n');
    // What spans several lines is not cut.
    if (clean.length !== after.split('\n').length) return '';
    const lineOrGap = (line: string): string => (isShown(line) ? GAP : line);
    const now = (text: string): string => redact(text).split('\n').map(lineOrGap).join('\n');
    const block = this.#asReplacedSince(file, of, clean.slice(from, to).join('\n'), now);
    const left = this.#left(file, of, block.split('\n'));
    return dedented(isCut && left.length > 0 ? [...left, GAP] : left);
  }

  /** A block after the edits since, as far as what they replaced is within the block; `now` is what they put there. */
  #asReplacedSince(
    file: FileAccess,
    of: number,
    block: string,
    now: (text: string) => string,
  ): string {
    const later = (this.#replaced.get(file) ?? []).filter((one) => one.of > of);
    return reversed(later).reduce(
      (text, { before, after }) =>
        text.includes(before) ? text.replace(before, () => now(after)) : text,
      block,
    );
  }

  /** What is left of lines that an earlier summary shows of a file. */
  withoutRemovedLines(path: string, text: string): string {
    const file = this.#statistics.files.at(path);
    return file === undefined ? text : this.#left(file, -1, text.split('\n')).join('\n');
  }

  /** True for a line that a call put into a file and a later one took away. */
  #isGone(file: FileAccess, of: number, line: string): boolean {
    if (file.deleted || (this.#rewritten.get(file) ?? -1) > of) return true;
    return (this.#removed.get(file)?.get(flat(line)) ?? -1) > of;
  }

  #left(file: FileAccess, of: number, lines: readonly string[]): readonly string[] {
    const left: string[] = [];
    for (const line of lines) {
      const shown = this.#isGone(file, of, line) ? GAP : line;
      const isAfterGap = left.at(-1) === GAP;
      if (!isAfterGap || (shown !== GAP && shown.trim() !== '')) left.push(shown);
    }
    const gaps = left.filter((line) => line === GAP).length;
    const isEmpty = left.every((line) => line === GAP || line.trim() === '');
    const telling = left.filter((line) => flat(line).length > TRIVIAL_CHARS).length;
    return isEmpty || gaps > Math.min(telling, MOST_GAPS) ? [] : left;
  }

  /** The blocks of one call, if it changed something. */
  *#read(of: number): Iterable<EditBlock> {
    const { segment, index, changes } = this.#statistics.placed[of] as Placed;
    if (!changes || segment.voice !== VOICE.args) return;
    const files = this.#statistics.changedBy(segment.callId ?? '', index);
    if (files.length === 0) return;
    const touches = segment.touched?.touches ?? [];
    for (const one of replacementsIn(segment.text.slice(segment.tool.length + 1))) {
      const file = fileOf(one.path, files);
      if (file === undefined || file.deleted) continue;
      const block = blockOf(one);
      if (block !== undefined) yield { of, file, after: one.after, ...block };
      const isRewritten = touches.some(
        ({ path, does }) => does === 'writes' && isSame(path, file.path),
      );
      if (isRewritten) this.#rewritten.set(file, Math.max(of, this.#rewritten.get(file) ?? of));
      else this.#remove(file, of, one);
    }
  }

  #remove(file: FileAccess, of: number, replacement: Replacement): void {
    const { before, after, places = 1 } = replacement;
    const replaced = this.#replaced.get(file) ?? [];
    this.#replaced.set(file, replaced);
    if (before.trim() !== '' && places === 1 && replaced.length < MOST_REPLACED)
      replaced.push({ ...replacement, of });
    const removed = this.#removed.get(file) ?? new Map<string, number>();
    this.#removed.set(file, removed);
    const stays = new Set(after.split('\n').map(flat));
    for (const line of before.split('\n').map(flat))
      if (line !== '' && !stays.has(line)) removed.set(line, Math.max(of, removed.get(line) ?? of));
  }
}

/** The file that a replacement is in: of several files only if the call names it. */
function fileOf(path: string | undefined, files: readonly FileAccess[]): FileAccess | undefined {
  if (path === undefined) return files.length === 1 ? files[0] : undefined;
  return files.find((file) => isSame(path, file.path));
}

const isSame = (a: string, b: string): boolean =>
  a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);

/**
 * Where the changed lines of a replacement are; undefined if they are many, in several places, say nothing, or only name
 * what the file uses.
 */
function blockOf({
  before,
  after,
  places = 1,
}: Replacement): Pick<EditBlock, 'from' | 'to' | 'isCut'> | undefined {
  const old = new Set(before.split('\n'));
  const lines = after.split('\n');
  const isNew = (line: string): boolean => !old.has(line) && line.trim() !== '';
  const begins = lines.findIndex((line) => isNew(line) && !isOfImports(line) && !HEADER.test(line));
  const from = begins < 0 ? lines.findIndex(isNew) : begins;
  const to = lastIndex(lines, isNew) + 1;
  const block = lines.slice(Math.max(0, from), to);
  const isShort = block.length === 1 && flat(block[0] ?? '').length < LEAST_LINE_CHARS;
  if (places > 1 || isShort || block.every(isOfImports)) return undefined;
  let chars = 0;
  const end = block.findIndex((line) => (chars += line.length + 1) > BLOCK_CHARS);
  return { from, to: end < 0 ? to : from + end, isCut: end >= 0 };
}

/** What a file begins with before it says anything. */
const HEADER =
  /^(?:#!|\/\/go:build|\/\/ \+build|#pragma|["']use \w+["'];?$|\W{0,4}(?:copyright|spdx)\b)/i;

/** A line of imports. A text before a comma is one of a list. */
const isOfImports = (line: string): boolean =>
  /^\W*$/.test(line) || (isImport(line) && !line.trimEnd().endsWith(','));

function dedented(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '' && line !== GAP).map(indentOf);
  const indent = Math.min(...indents);
  return lines.map((line) => (line === GAP ? line : line.slice(indent))).join('\n');
}

const indentOf = (line: string): number => line.length - line.trimStart().length;
