import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { spawn as spawnOnTerminal } from '@lydell/node-pty';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../src/commands.ts';

export const SHIM: string = fileURLToPath(new URL('../bin/bobbin.mjs', import.meta.url));

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the real command; the caller ends it. */
export function start(
  args: readonly string[],
  { cwd, env = {} }: Surroundings = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [SHIM, ...args], {
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
}

interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the real command to its end. */
export async function bobbin(
  args: readonly string[],
  { stdin = '', ...around }: Surroundings & { readonly stdin?: string | Uint8Array } = {},
): Promise<Outcome> {
  const child = start(args, around);
  const [stdout, stderr] = [gathered(child.stdout), gathered(child.stderr)];
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { status, stdout: await stdout, stderr: await stderr };
}

/**
 * Runs a command to its end within this process, with streams of its own: for what a process of its own, which takes
 * a while to start, would not show better. One at a time.
 */
export async function here(
  args: readonly string[],
  {
    stdin = '',
    cwd = process.cwd(),
    env = {},
  }: Surroundings & { readonly stdin?: string | Uint8Array } = {},
): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = [gathered(stdout), gathered(stderr)] as const;
  const before = { cwd: process.cwd(), env: process.env };
  const restore = replaceStreams({ stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr });
  try {
    process.chdir(cwd);
    process.env = { ...before.env, ...env };
    const status = await runCommand(args);
    stdout.end();
    stderr.end();
    return { status, stdout: await written[0], stderr: await written[1] };
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    restore();
  }
}

/** Puts streams in the place of the process's own; what is given back puts those back. */
function replaceStreams(streams: Readonly<Record<string, unknown>>): () => void {
  const own = Object.keys(streams).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name) ?? {}] as const,
  );
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { configurable: true, value });
  return () => {
    for (const [name, descriptor] of own) Object.defineProperty(process, name, descriptor);
  };
}

interface TerminalSurroundings {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** How wide the terminal is. */
  readonly cols?: number;
}

/** Runs the real command to its end on a terminal of its own, and gives all that it wrote there. */
export async function bobbinOnTerminal(
  args: readonly string[],
  { cwd, env = {}, cols = 100 }: TerminalSurroundings,
): Promise<{ readonly status: number; readonly written: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const terminal = spawnOnTerminal(process.execPath, [SHIM, ...args], {
    cols,
    cwd,
    env: { PATH, HOME, TERM: 'xterm-256color', ...env },
  });
  let written = '';
  terminal.onData((data) => {
    written += data;
  });
  const status = await new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode }) => resolve(exitCode));
  });
  return { status, written };
}

async function gathered(stream: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
}

/** A folder that is gone after the test. */
export function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'bobbin-cli-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
