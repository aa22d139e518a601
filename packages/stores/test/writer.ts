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
  readonly ended: Promise<void>;
}

/** Starts one; `limitKb` is the most that a file of it may hold. */
export function startWriter(args: readonly string[], limitKb?: number): Writer {
  const script = join(import.meta.dirname, 'writer-process.ts');
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
  return {
    process: child,
    lines,
    ended,
    heard: (word) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const line = lines.find((each) => each.startsWith(word));
          if (line === undefined) return;
          waiting.delete(look);
          resolve(line);
        };
        waiting.add(look);
        void ended.then(() =>
          reject(new Error(`it ended without "${word}": ${lines.slice(-3).join('; ')}`)),
        );
        look();
      }),
  };
}
