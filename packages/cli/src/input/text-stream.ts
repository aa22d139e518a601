import { constants } from 'node:buffer';
import { createReadStream, fstatSync, statSync, type Stats } from 'node:fs';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { InputError, isSystemError, positionOf, problemOf, UsageError } from '../failure.ts';

/** A text from outside and the name by which messages speak of it. */
export interface TextSource {
  readonly name: string;
  open(): Readable;
  /** What it is on disk. */
  stats(): Stats;
}

const standardInput: TextSource = {
  name: 'stdin',
  open: () => process.stdin,
  stats: () => fstatSync(0),
};

/**
 * What a command reads: its operands, or what is piped to it if it has none; `-` is stdin.
 * @throws UsageError if there is nothing to read.
 */
export function sourcesOf(operands: readonly string[]): readonly TextSource[] {
  if (operands.length > 0)
    return operands.map((path) => (path === '-' ? standardInput : fileSource(path)));
  if (process.stdin.isTTY) throw new UsageError('give a FILE, or pipe one in');
  return [standardInput];
}

function fileSource(path: string): TextSource {
  return { name: path, open: () => createReadStream(path), stats: () => statSync(path) };
}

/** Whether a text is read from a file, which may go by several names. */
export function isFileOf(source: TextSource, path: string): boolean {
  try {
    const [read, named] = [source.stats(), statSync(path)];
    return read.isFile() && read.dev === named.dev && read.ino === named.ino;
  } catch {
    return false; // One of them is not there.
  }
}

/** @throws InputError if it is not UTF-8, or larger than a string can be. */
export async function readText(source: TextSource): Promise<string> {
  const pending = new PendingText(source.name);
  if (sizeOf(source) > constants.MAX_STRING_LENGTH) pending.refuse(1);
  for await (const chunk of readChunks(source)) pending.add(chunk, 1);
  return pending.take(1);
}

/** 0 if it is not known before all is read. */
function sizeOf(source: TextSource): number {
  try {
    return source.stats().size;
  } catch {
    return 0;
  }
}

/** An unfinished text. */
class PendingText {
  readonly #source: string;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(source: string) {
    this.#source = source;
  }

  add(chunk: Buffer, line: number): void {
    this.#bytes += chunk.length;
    if (this.#bytes > constants.MAX_STRING_LENGTH) this.refuse(line);
    this.#chunks.push(chunk);
  }

  /** The text so far; the next one begins after it. */
  take(firstLine: number): string {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#bytes = 0;
    return decode(bytes, this.#source, firstLine);
  }

  refuse(line: number): never {
    const at = line === 1 ? undefined : { line, column: 1 };
    throw new InputError(this.#source, at, TOO_LARGE);
  }
}

const MOST_MEGABYTES = Math.round(constants.MAX_STRING_LENGTH / 1_048_576);
const TOO_LARGE = `is larger than ${MOST_MEGABYTES} MB, the most that one conversation may have: split it, or give one conversation a line with compact --jsonl`;

export interface Line {
  readonly text: string;
  readonly number: number;
}

/**
 * The lines of a stream as they come, empty ones left out. Only a line feed ends a line: a JSON string may contain
 * other separators. Nothing is read before the line before it was taken.
 */
export async function* readLines(source: TextSource): AsyncGenerator<Line> {
  const pending = new PendingText(source.name);
  let number = 0;
  const finish = (last: Buffer): Line => {
    number += 1;
    pending.add(last, number);
    return { text: pending.take(number), number };
  };
  for await (const bytes of readChunks(source)) {
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      const line = finish(bytes.subarray(start, end));
      start = end + 1;
      if (line.text.trim() !== '') yield line;
    }
    pending.add(bytes.subarray(start), number + 1);
  }
  const line = finish(Buffer.alloc(0));
  if (line.text.trim() !== '') yield line;
}

/** @throws InputError if it cannot be read. */
async function* readChunks(source: TextSource): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of source.open()) yield Buffer.from(chunk as Uint8Array);
  } catch (error) {
    throw isSystemError(error) ? new InputError(source.name, undefined, problemOf(error)) : error;
  }
}

const REPLACEMENT = '\uFFFD';

function decode(bytes: Buffer, source: string, firstLine: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const text = bytes.toString('utf8');
    const at = positionOf(text, text.indexOf(REPLACEMENT), firstLine);
    throw new InputError(source, at, 'is not UTF-8');
  }
}

/** Writes, and waits if the reader is slower. */
export async function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}
