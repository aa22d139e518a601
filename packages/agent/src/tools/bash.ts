import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { CappedText, PacedText } from './output-text.ts';
import { GRACE_MS, keepGroup, stopGroup } from './process-groups.ts';
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
/** How long the end of the output may take after the end of the command. */
const DRAIN_MS = 200;
const HEAD_CHARS = 60_000;
const TAIL_CHARS = 140_000;

/** Runs a command line. Its output cannot be fetched again: running it twice is not the same. */
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
  request: (args) => ({ kind: 'run', subject: args.text('command'), outside: false }),
  run: (args, context) =>
    execute(
      args.text('command'),
      Math.min(args.optionalCount('timeout') ?? DEFAULT_SECONDS, LONGEST_SECONDS),
      context,
    ),
};

async function execute(
  command: string,
  seconds: number,
  { root, signal, progress }: ToolContext,
): Promise<ToolOutput> {
  const child = spawn('bash', ['-c', command], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) keepGroup(child.pid);
  const output = new CappedText(HEAD_CHARS, TAIL_CHARS);
  const paced = new PacedText(progress);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      output.add(chunk);
      paced.add(chunk);
    });
  }
  const exited = exitOf(child);
  const closed = new Promise<true>((resolve) => child.once('close', () => resolve(true)));
  const stopping = new Deadline(seconds, signal);
  const ended = await Promise.race([exited, stopping.reached]);
  stopping.clear();
  const isStopped = ended === 'timeout' || ended === 'interrupted';
  if (isStopped && child.pid !== undefined) {
    stopGroup(child.pid);
    await within(GRACE_MS + DRAIN_MS, exited);
  }
  const isOver = await within(DRAIN_MS, closed);
  paced.end();
  if (isOver !== true) letGo(child, isStopped);
  const inBackground = isOver !== true && !isStopped;
  return report(command, output.text(), ended, seconds, inBackground);
}

function exitOf(child: ChildProcess): Promise<string | number> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, by) => resolve(code ?? `killed by ${by ?? 'a signal'}`));
  });
}

/**
 * A process that holds the output open after the command's end may go on writing, but the tool does not wait for it.
 */
function letGo({ stdout, stderr }: ChildProcess, isStopped: boolean): void {
  for (const stream of [stdout, stderr]) {
    if (isStopped) stream?.destroy();
    stream?.removeAllListeners('data').resume();
    (stream as Socket | null)?.unref();
  }
}

/** The result, or undefined if it takes longer. */
function within<T>(ms: number, outcome: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    // What was put out before is read between the two.
    const timer = setTimeout(() => setImmediate(() => resolve(undefined)), ms);
    void outcome.finally(() => clearTimeout(timer)).then(resolve);
  });
}

/** The time limit, or the interruption, whichever comes first. */
class Deadline {
  readonly reached: Promise<'timeout' | 'interrupted'>;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #interrupt: () => void;

  constructor(seconds: number, signal: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<'timeout' | 'interrupted'>();
    this.reached = promise;
    this.#signal = signal;
    this.#interrupt = () => resolve('interrupted');
    this.#timer = setTimeout(() => resolve('timeout'), seconds * 1_000);
    signal.addEventListener('abort', this.#interrupt, { once: true });
    if (signal.aborted) this.#interrupt();
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#interrupt);
  }
}

function report(
  command: string,
  output: string,
  exit: string | number,
  seconds: number,
  inBackground: boolean,
): ToolOutput {
  const how =
    exit === 'timeout'
      ? `stopped after ${seconds} s`
      : exit === 'interrupted'
        ? 'interrupted by the user'
        : `exit code ${exit}${inBackground ? '; something of it runs on in the background' : ''}`;
  return {
    text: `${output.trimEnd() === '' ? '(no output)' : output.trimEnd()}\n[${how}]`,
    outcome: exit === 0 ? 'success' : 'failure',
    keyFields: { command, exit },
  };
}
