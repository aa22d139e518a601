import { plainText } from './output/plain-text.ts';

/** What the command ends with. */
export const EXIT = {
  done: 0,
  /** The work failed: nothing can be written, a store cannot be reached or is damaged. */
  failed: 1,
  /** The command was called in a way that it does not understand, or given what it cannot read. */
  misused: 2,
  /** Written, but over the budget: what may not be compacted alone exceeds it. */
  overBudget: 3,
} as const;

/** One line on stderr: what went wrong, or what was assumed. */
export function writeError(line: string): void {
  process.stderr.write(`bobbin: ${plainText(line)}\n`);
}

/** The command was called in a way that it does not understand. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly slip: Slip | undefined;

  constructor(problem: string, slip?: Slip) {
    super(problem);
    this.slip = slip;
  }
}

/** A word that is not one of the expected names. */
export interface Slip {
  readonly word: string;
  readonly names: readonly string[];
}

/** The name that was probably meant, in words, after the message. The engine, which knows, is loaded only for this. */
export async function meantBy({ word, names }: Slip): Promise<string> {
  const { didYouMean } = await import('@bobbin/core/internal');
  return didYouMean(word, names);
}

/** Input that is not what it should be, with the place in the terms of the person who has to correct it. */
export class InputError extends Error {
  override readonly name = 'InputError';

  constructor(source: string, at: Position | undefined, problem: string) {
    super(`${source}${at === undefined ? '' : `:${at.line}:${at.column}`}: ${problem}`);
  }
}

/** Why a system call failed, in words. */
export function problemOf({ code, syscall, message }: NodeJS.ErrnoException): string {
  if (code === 'EISDIR') return 'is a folder';
  return code === 'EEXIST' && syscall === 'mkdir' ? 'is not a folder' : withoutCode(message);
}

/** `ENOENT: no such file or directory, open 'a.json'` without its code and its call. */
function withoutCode(message: string): string {
  return message.replace(/^\w+: |, .*$/g, '');
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

/** Counted from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The place of an offset in a text that begins at a line of its source. */
export function positionOf(text: string, offset: number, firstLine: number = 1): Position {
  let line = firstLine;
  let lineStart = 0;
  for (let i = text.indexOf('\n'); i >= 0 && i < offset; i = text.indexOf('\n', i + 1)) {
    line += 1;
    lineStart = i + 1;
  }
  return { line, column: offset - lineStart + 1 };
}
