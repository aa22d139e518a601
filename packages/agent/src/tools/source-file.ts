import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  errorText,
  parseJson,
  type CaptureDeterminism,
  type Determinism,
} from '@bobbin/core/internal';
import { Arguments } from './arguments.ts';

export function markOf(content: string | Uint8Array): Determinism {
  return { contentHash: createHash('sha256').update(content).digest('hex').slice(0, 16) };
}

/** Says whether the file that a call named is still what it was. */
export function fileDeterminism(root: string): CaptureDeterminism {
  return async ({ args }) =>
    markOf(await readBytes(resolve(root, new Arguments(parseJson(args)).text('path'))));
}

const LARGEST_BYTES = 10_000_000;

/**
 * A file's bytes, or in words why there are none. Only a regular file is opened: a pipe would keep the reader waiting.
 */
export async function readBytes(path: string): Promise<Buffer | string> {
  try {
    const info = await stat(path);
    if (info.isDirectory()) return `${path} is a folder; use glob to list it`;
    if (!info.isFile()) return `${path} is no regular file`;
    if (info.size > LARGEST_BYTES)
      return `${path} has ${info.size} bytes: too large to read; use grep`;
    return await readFile(path);
  } catch (error) {
    return fileProblem(path, error);
  }
}

export function fileProblem(path: string, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code === 'ENOENT') return `there is no file ${path}`;
  if (code === 'EACCES' || code === 'EPERM') return `${path} may not be touched (${code})`;
  return `${path}: ${errorText(error)}`;
}
