import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { StoredThread, type ThreadKey } from '@bobbin/core/internal';
import { knownPlan } from '../plan-text.ts';
import { causeText, StoreError } from '../store-error.ts';
import { makeFolder, syncFolder } from './durable-folder.ts';
import {
  decodeLine,
  encodeLine,
  isSession,
  replay,
  SESSION_FORMAT,
  type SessionLine,
} from './session-file.ts';

const HEADER_BYTES = 16_384;
const BEGINNING = '{"type":"session",';

/** One session file and what its lines say so far. Other processes may append to it at any time. */
export class SessionLog {
  readonly path: string;
  readonly #key: ThreadKey;
  readonly #sync: boolean;
  #stored: StoredThread;
  /** How much of the file was read: always up to the end of a line. */
  #bytes = 0;
  #lines = 0;
  /** The last line that was read: where it begins, and its hash. Its writer may have taken it back. */
  #last = { start: 0, hash: '' };
  /** The file when it was last read to its end. */
  #seen: Stats | undefined;

  constructor(path: string, key: ThreadKey, sync: boolean) {
    this.path = path;
    this.#key = key;
    this.#sync = sync;
    this.#stored = new StoredThread(key.thread);
  }

  /** The thread as the file has it now; undefined if there is no file. */
  read(): StoredThread | undefined {
    if (!existsSync(this.path)) return undefined;
    const file = openSync(this.path, 'r');
    try {
      this.#catchUp(file);
    } finally {
      closeSync(file);
    }
    if (this.#lines === 0) return undefined;
    this.#stored.changedAt = this.#seen?.mtimeMs ?? 0;
    return this.#stored;
  }

  /**
   * Appends the lines that are chosen on sight of the newest state, and makes them durable. Must be called under the
   * folder's lock: then a last line without an end is what a dead writer left, was never acknowledged, and goes.
   */
  write(choose: (stored: StoredThread) => readonly SessionLine[]): void {
    const isNew = !existsSync(this.path);
    if (isNew) {
      this.#startAnew();
      // What is refused, or is nothing, leaves no file.
      if (choose(this.#stored).length === 0) return;
      makeFolder(dirname(this.path), this.#sync);
    }
    const file = openSync(this.path, 'a+');
    try {
      const end = this.#catchUp(file);
      if (end > this.#bytes) ftruncateSync(file, this.#bytes);
      const lines = [...choose(this.#stored)];
      if (lines.length === 0) return;
      if (this.#lines === 0) lines.unshift(this.#session());
      this.#append(file, lines.map(encodeLine).join(''));
      if (isNew && this.#sync) syncFolder(dirname(this.path));
      this.#catchUp(file);
    } finally {
      closeSync(file);
    }
  }

  /** All the bytes, or none of them. */
  #append(file: number, text: string): void {
    const bytes = Buffer.from(this.#endsLine(file) ? text : `\n${text}`);
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
      if (this.#sync) fdatasyncSync(file);
    } catch (error) {
      ftruncateSync(file, this.#bytes);
      throw new StoreError('unavailable', `${this.path}: ${causeText(error)}`, error);
    }
  }

  /** A person may have saved the file without the end of its last line. */
  #endsLine(file: number): boolean {
    if (this.#bytes === 0) return true;
    const last = Buffer.alloc(1);
    readSync(file, last, 0, 1, this.#bytes - 1);
    return last.toString() === '\n';
  }

  /** Reads the lines that are new. Returns the size of the file, which is larger if the last line is torn. */
  #catchUp(file: number): number {
    const stats = fstatSync(file);
    if (this.#seen !== undefined && isSame(stats, this.#seen)) return stats.size;
    this.#seen = undefined;
    const { start, hash } = this.#last;
    const bytes = Buffer.allocUnsafe(Math.max(0, stats.size - start));
    const got = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
    if (this.#bytes > 0 && hashOf(got.subarray(0, this.#bytes - start)) !== hash) {
      this.#startAnew();
      return this.#catchUp(file);
    }
    this.#readLines(got.subarray(this.#bytes - start));
    this.#seen = stats;
    return stats.size;
  }

  #readLines(bytes: Buffer): void {
    let [from, start] = [0, 0];
    try {
      while (start < bytes.length) {
        const next = this.#readLine(bytes, start);
        if (next === undefined) return;
        this.#bytes += next - start;
        [from, start] = [start, next];
      }
    } finally {
      if (start > from)
        this.#last = {
          start: this.#bytes - (start - from),
          hash: hashOf(bytes.subarray(from, start)),
        };
    }
  }

  /** Takes the line that begins there. Returns where the next one begins; undefined if the line is torn. */
  #readLine(bytes: Buffer, start: number): number | undefined {
    const end = bytes.indexOf(10, start);
    const isLast = end === -1;
    const stop = isLast ? bytes.length : end;
    const text = bytes.toString('utf8', start, stop);
    const line = text.trim() === '' ? undefined : decodeLine(text);
    // A part of a JSON object is not a JSON object: only a whole last line is accepted without its line end.
    if (isLast && typeof line === 'string' && this.#isTorn(text)) return undefined;
    if (line !== undefined || !isLast) this.#take(line);
    return stop + Number(!isLast);
  }

  /** Only what a writer began can be its torn line: a file that begins otherwise was never ours, or is damaged. */
  #isTorn(text: string): boolean {
    return this.#lines > 0 || BEGINNING.startsWith(text.slice(0, BEGINNING.length));
  }

  #take(line: SessionLine | string | undefined): void {
    const number = this.#lines + 1;
    const problem =
      line === undefined
        ? undefined
        : typeof line === 'string'
          ? line
          : number === 1
            ? this.#begin(line)
            : this.#replay(line, number);
    if (problem !== undefined)
      throw new StoreError('damaged', `${this.path}:${number}: ${problem}`);
    this.#lines = number;
  }

  #replay(line: SessionLine, number: number): string | undefined {
    if (line.type === 'compaction') knownPlan(line.plan, `${this.path}:${number}`, line.version);
    return replay(this.#stored, line);
  }

  #begin(line: SessionLine): string | undefined {
    if (!isSession(line)) return 'a session file begins with a line of type session';
    if (line.format > SESSION_FORMAT) {
      throw new StoreError(
        'from-the-future',
        `${this.path} has format ${line.format}; this Bobbin knows formats up to ${SESSION_FORMAT}: update it`,
      );
    }
    const { tenant, thread } = this.#key;
    if (line.tenant === tenant && line.thread === thread) return undefined;
    return `this is the session of thread ${line.thread} of tenant ${line.tenant}`;
  }

  #session(): SessionLine {
    return { type: 'session', format: SESSION_FORMAT, ...this.#key };
  }

  #startAnew(): void {
    this.#stored = new StoredThread(this.#key.thread);
    this.#bytes = 0;
    this.#lines = 0;
    this.#last = { start: 0, hash: '' };
    this.#seen = undefined;
  }
}

function isSame(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs;
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}

/** The first line of a session file, if it is one: read without the rest. */
export function sessionHeader(path: string): { tenant: string; thread: string } | undefined {
  const file = openSync(path, 'r');
  try {
    const chunk = Buffer.alloc(HEADER_BYTES);
    let read = Buffer.alloc(0);
    for (let got = -1; got !== 0 && !read.includes(10);) {
      got = readSync(file, chunk, 0, chunk.length, read.length);
      read = Buffer.concat([read, chunk.subarray(0, got)]);
    }
    const line = decodeLine(read.toString().split('\n', 1)[0] ?? '');
    return isSession(line) ? line : undefined;
  } finally {
    closeSync(file);
  }
}
