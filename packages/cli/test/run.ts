import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { spawn as spawnOnTerminal } from '@lydell/node-pty';
import { fileURLToPath } from 'node:url';

export const SHIM: string = fileURLToPath(new URL('../bin/bobbin.mjs', import.meta.url));

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the real command; whoever starts it ends it. */
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

/** Runs the real command to its end on a terminal of its own, and gives all that it wrote there. */
export async function bobbinOnTerminal(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Record<string, string> },
): Promise<{ readonly status: number; readonly written: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const terminal = spawnOnTerminal(process.execPath, [SHIM, ...args], {
    cols: 100,
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
