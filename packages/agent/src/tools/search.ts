import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { globPattern } from '../loop/glob-pattern.ts';
import { leadsOut } from '../loop/permissions.ts';
import { isText } from './text-bytes.ts';

/** What to look for; with no pattern, the files themselves. */
export interface SearchTask {
  readonly folder: string;
  /** Relative to the folder. */
  readonly files: readonly string[];
  /** Links that lead out of all of these are not followed. */
  readonly within: readonly string[];
  readonly glob?: string;
  readonly pattern?: { readonly source: string; readonly ignoreCase: boolean };
  readonly most: number;
}

export interface Found {
  readonly lines: readonly string[];
  /** There is more than was asked for. */
  readonly more: boolean;
  /** Links that were not followed. */
  readonly links: number;
}

const LONGEST_MS = 10_000;
const LONGEST_LINE = 300;
const LARGEST_BYTES = 2_000_000;
const MOST_MEGABYTES = 512;

/**
 * Searches in a separate thread: an expression can take longer than a person waits, and nothing else stops it. Returns
 * in words why nothing was found.
 */
export function search(task: SearchTask, signal: AbortSignal): Promise<Found | string> {
  return new Promise((resolve) => {
    // This file is both sides: its address is right in the source and in what is built.
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { search: task },
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
    });
    const end = (result: Found | string): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', interrupted);
      void worker.terminate();
      resolve(result);
    };
    const interrupted = (): void => end('interrupted by the user');
    const timer = setTimeout(
      () => end(`stopped after ${LONGEST_MS / 1_000} s; use a simpler pattern or a smaller path`),
      LONGEST_MS,
    );
    worker.once('message', end);
    worker.once('error', (error: Error) => end(error.message));
    signal.addEventListener('abort', interrupted, { once: true });
    if (signal.aborted) interrupted();
  });
}

const asked = isMainThread ? undefined : (workerData as { readonly search?: SearchTask } | null);
if (asked?.search !== undefined) parentPort?.postMessage(found(asked.search), []);

function found({ folder, files, within, glob, pattern, most }: SearchTask): Found {
  const wanted = glob === undefined ? undefined : globPattern(glob);
  const expression =
    pattern === undefined ? undefined : new RegExp(pattern.source, pattern.ignoreCase ? 'i' : '');
  const lines: string[] = [];
  let links = 0;
  for (const file of files) {
    if (lines.length > most) break;
    if (wanted?.test(file) === false) continue;
    if (expression === undefined) {
      lines.push(file);
      continue;
    }
    const bytes = contentOf(join(folder, file), within);
    if (bytes === 'link') links += 1;
    else if (bytes !== undefined && isText(bytes))
      lines.push(...matches(file, bytes.toString('utf8'), expression, most + 1 - lines.length));
  }
  return { lines: lines.slice(0, most), more: lines.length > most, links };
}

function contentOf(path: string, within: readonly string[]): Buffer | 'link' | undefined {
  try {
    const real = lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
    if (real !== path && within.every((folder) => leadsOut(relative(folder, real)))) return 'link';
    const info = lstatSync(real);
    return info.isFile() && info.size <= LARGEST_BYTES ? readFileSync(real) : undefined;
  } catch {
    return undefined;
  }
}

function matches(
  name: string,
  content: string,
  expression: RegExp,
  most: number,
): readonly string[] {
  const lines: string[] = [];
  for (const [i, line] of content.split('\n').entries()) {
    if (lines.length === most) break;
    if (expression.test(line))
      lines.push(`${name}:${i + 1}: ${line.slice(0, LONGEST_LINE).toWellFormed()}`);
  }
  return lines;
}
