import { spawn } from 'node:child_process';
import {
  integer,
  objectSchema,
  text,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from './tool.ts';

const DEFAULT_SECONDS = 120;
const LONGEST_SECONDS = 1_800;
/** A process gets this long to end by itself. */
const GRACE_MS = 2_000;

/** Runs a command line. What it put out cannot be had again: running it twice is not the same. */
export const bashTool: Tool = {
  name: 'bash',
  description:
    'Run a command line in the project folder with bash and get its output and exit code.',
  parameters: objectSchema(
    {
      command: text('The command line'),
      timeout: integer(`Seconds to wait, ${DEFAULT_SECONDS} where absent`),
    },
    'timeout',
  ),
  policy: { durability: 'non-replayable', replayCost: 'expensive' },
  wish: (args) => ({ kind: 'run', subject: args.text('command'), outside: false }),
  run: (args, context) =>
    execute(
      args.text('command'),
      Math.min(args.optionalCount('timeout') ?? DEFAULT_SECONDS, LONGEST_SECONDS),
      context,
    ),
};

function execute(command: string, seconds: number, context: ToolContext): Promise<ToolOutput> {
  const { root, signal, progress } = context;
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', command], {
      cwd: root,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = new CappedText();
    let ended: 'timeout' | 'interrupted' | undefined;
    const stop = (why: 'timeout' | 'interrupted'): void => {
      ended ??= why;
      signalGroup(child.pid, 'SIGTERM');
      setTimeout(() => signalGroup(child.pid, 'SIGKILL'), GRACE_MS).unref();
    };
    const onAbort = (): void => stop('interrupted');
    const timer = setTimeout(() => stop('timeout'), seconds * 1_000);
    signal.addEventListener('abort', onAbort, { once: true });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => {
        output.add(chunk);
        progress(chunk);
      });
    }
    const finish = (exit: string | number): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(report(command, output.text(), ended ?? exit, seconds));
    };
    child.on('error', (error) => finish(error.message));
    child.on('close', (code, by) => finish(code ?? `killed by ${by ?? 'a signal'}`));
    if (signal.aborted) stop('interrupted');
  });
}

function report(
  command: string,
  output: string,
  exit: string | number,
  seconds: number,
): ToolOutput {
  const how =
    exit === 'timeout'
      ? `stopped after ${seconds} s`
      : exit === 'interrupted'
        ? 'interrupted by the user'
        : `exit code ${exit}`;
  return {
    text: `${output.trimEnd() === '' ? '(no output)' : output.trimEnd()}\n[${how}]`,
    outcome: exit === 0 ? 'success' : 'failure',
    keyFields: { command, exit },
  };
}

/** The whole group: a shell's children outlive it otherwise. */
function signalGroup(pid: number | undefined, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // It is gone already.
  }
}

const HEAD_CHARS = 60_000;
const TAIL_CHARS = 140_000;

/** The beginning and the end of an output of any length. */
class CappedText {
  #head = '';
  #tail = '';
  #left = 0;

  add(chunk: string): void {
    const room = HEAD_CHARS - this.#head.length;
    if (room > 0) this.#head += chunk.slice(0, room);
    this.#tail += chunk.slice(Math.max(0, room));
    if (this.#tail.length <= 2 * TAIL_CHARS) return;
    this.#left += this.#tail.length - TAIL_CHARS;
    this.#tail = this.#tail.slice(-TAIL_CHARS);
  }

  text(): string {
    const over = Math.max(0, this.#tail.length - TAIL_CHARS);
    const left = this.#left + over;
    const tail = this.#tail.slice(over);
    return left === 0
      ? this.#head + tail
      : `${this.#head}\n… ${left} characters left out …\n${tail}`;
  }
}
