import { sorted } from '../../check/list.ts';
import type { LineRange } from '../../plan/summary.ts';
import { keyOfPath } from './anchor.ts';
import type { Touch } from './tool-effects.ts';

/** What happened to a file. */
export interface FileAccess {
  /** The longest path it was named by. */
  path: string;
  reads: number;
  edits: number;
  written: boolean;
  deleted: boolean;
  /** The messages that touched and that changed it last. */
  touchedAt: number;
  editedAt: number;
  /** The lines that were read, if calls named them. */
  ranges: readonly LineRange[];
}

/** Only the newest of the files whose paths end alike are compared: time stays linear. */
const MOST_ALIKE = 100;
const MOST_RANGES = 20;

/**
 * The files of a conversation. Two paths name one file if they are equal, or if one is the end of the other and has a
 * folder.
 */
export class FileTrails {
  /** By the last two names of a path: all that could be the same file. */
  readonly #alike = new Map<string, FileAccess[]>();
  readonly #byPath = new Map<string, FileAccess>();

  /** Those that were read or changed. */
  all(): readonly FileAccess[] {
    return [...this.#alike.values()].flat().filter(({ reads, edits }) => reads + edits > 0);
  }

  /** The file that is known by exactly this path. */
  at(path: string): FileAccess | undefined {
    return this.#byPath.get(path);
  }

  add(trail: FileAccess): void {
    const key = keyOfPath(trail.path);
    this.#byPath.set(trail.path, trail);
    const alike = this.#alike.get(key);
    if (alike === undefined) this.#alike.set(key, [trail]);
    else alike.push(trail);
  }

  /** The file that a path names, if it is known. */
  find(path: string): FileAccess | undefined {
    const alike = this.#alike.get(keyOfPath(path))?.slice(-MOST_ALIKE) ?? [];
    return (
      this.#byPath.get(path) ??
      latest(alike.filter((trail) => isEnd(trail.path, path) || isEnd(path, trail.path)))
    );
  }

  /** The file that a call names: a new one if no path fits. */
  named(spelling: string, index: number): FileAccess {
    const path = plain(spelling);
    const known = this.find(path);
    if (known === undefined) {
      const file = { ...UNTOUCHED, path, touchedAt: index };
      this.add(file);
      return file;
    }
    if (path.length > known.path.length) {
      this.#byPath.delete(known.path);
      known.path = path;
      this.#byPath.set(path, known);
    }
    known.touchedAt = index;
    return known;
  }
}

/** Records what a call did to a file. */
export function noteTouch(trail: FileAccess, { does, lines }: Touch, index: number): void {
  if (does === 'reads') {
    trail.reads++;
    if (lines !== undefined)
      trail.ranges = joinedRanges([...trail.ranges, lines]).slice(-MOST_RANGES);
    return;
  }
  trail.edits++;
  trail.editedAt = index;
  trail.written ||= does === 'writes';
  trail.deleted = does === 'deletes';
}

const UNTOUCHED = {
  reads: 0,
  edits: 0,
  written: false,
  deleted: false,
  editedAt: -1,
  ranges: [],
};

/** Ranges of lines in order, those that meet as one. */
function joinedRanges(ranges: readonly LineRange[]): readonly LineRange[] {
  const joined: LineRange[] = [];
  for (const [from, to] of sorted(ranges, (a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1] + 1)
      joined[joined.length - 1] = [last[0], Math.max(last[1], to)];
    else joined.push([from, to]);
  }
  return joined;
}

function latest(trails: readonly FileAccess[]): FileAccess | undefined {
  let last: FileAccess | undefined;
  for (const trail of trails)
    if (last === undefined || trail.touchedAt >= last.touchedAt) last = trail;
  return last;
}

function isEnd(end: string, path: string): boolean {
  return path.endsWith(`/${end}`);
}

function plain(path: string): string {
  return path.replace(/\/(?:\.?\/)+/g, '/').replace(/^(?:\.\/)+/, '');
}
