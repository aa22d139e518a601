import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

/** A writer in a process of its own. */
export interface Writer {
  readonly process: ChildProcess;
  /** What it said so far, line by line. */
  readonly lines: readonly string[];
  /** Resolves when it has said something that begins with a word. */
  heard(word: string): Promise<string>;
  /** Resolves when it has said so many lines. */
  said(lines: number): Promise<void>;
  readonly ended: Promise<void>;
}

/** Starts one; `limitKb` is the most that a file of it may hold. */
export function startWriter(args: readonly string[], limitKb?: number): Writer {
  return startProcess('writer-process.ts', args, limitKb);
}

/** Starts a script of this folder. */
export function startProcess(name: string, args: readonly string[], limitKb?: number): Writer {
  const script = join(import.meta.dirname, name);
  const command = [process.execPath, '--conditions=@bobbin/source', script, ...args];
  const limit = limitKb === undefined ? '' : `ulimit -f ${limitKb}; `;
  const child =
    limitKb === undefined
      ? spawn(command[0] as string, command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
      : spawn('bash', ['-c', `${limit}exec "$0" "$@"`, ...command], {
          stdio: ['pipe', 'pipe', 'inherit'],
        });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    lines.push(line);
    for (const wake of waiting) wake();
  });
  const ended = new Promise<void>((resolve) => {
    reader.once('close', resolve);
  });
  const until = <T>(look: () => T | undefined, what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const wake = (): void => {
        const found = look();
        if (found === undefined) return;
        waiting.delete(wake);
        resolve(found);
      };
      waiting.add(wake);
      void ended.then(() =>
        reject(new Error(`it ended without ${what}: ${lines.slice(-3).join('; ')}`)),
      );
      wake();
    });
  return {
    process: child,
    lines,
    ended,
    heard: (word) => until(() => lines.find((line) => line.startsWith(word)), word),
    said: (count) =>
      until(() => (lines.length >= count ? true : undefined), `${count} lines`).then(
        () => undefined,
      ),
  };
}
