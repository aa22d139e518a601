import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BIN } from './terminal.ts';

/** A line of the protocol; the test reads nothing of the program but these. */
export type Line = Readonly<Record<string, unknown>>;

/** A program that talks to the agent over its standard input and output alone. */
export class Client {
  readonly #child: ChildProcess;
  readonly lines: Line[] = [];
  readonly #waiting = new Set<() => void>();
  #errors = '';
  #id = 0;

  constructor(args: readonly string[], cwd: string, home: string) {
    const { PATH = '', HOME = '' } = process.env;
    this.#child = spawn(process.execPath, [BIN, ...args], {
      cwd,
      env: { PATH, HOME, XDG_DATA_HOME: join(home, 'data'), XDG_CONFIG_HOME: join(home, 'config') },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: the command starts the Node that runs the source, and both must die at once.
      detached: true,
    });
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#errors += data.toString();
    });
    const { stdout } = this.#child;
    if (stdout !== null)
      createInterface({ input: stdout }).on('line', (line) => {
        this.lines.push(JSON.parse(line) as Line);
        for (const wake of this.#waiting) wake();
      });
  }

  /** What was written to the error output. */
  get errors(): string {
    return this.#errors;
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  send(text: string): void {
    this.#child.stdin?.write(`${text}\n`);
  }

  /** Waits for a line after a position; positions are what `lines.length` was. */
  async until(
    wanted: (line: Line) => boolean,
    from: number = 0,
    timeoutMs: number = 60_000,
  ): Promise<Line> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const found = this.lines.slice(from).find(wanted);
      if (found !== undefined) return found;
      const left = deadline - Date.now();
      if (left <= 0)
        throw new Error(`no such line; the last are\n${this.#tail()}\n${this.#errors}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, Math.min(left, 1_000));
        const waiting = this.#waiting;
        function done(): void {
          clearTimeout(timer);
          waiting.delete(done);
          resolve();
        }
        waiting.add(done);
      });
    }
  }

  /** Sends a line of JSON mode and waits for the event that ends it. */
  async turn(text: string): Promise<readonly Line[]> {
    const from = this.lines.length;
    this.send(text);
    await this.until(({ type }) => type === 'end', from);
    return this.lines.slice(from);
  }

  /** Sends a command of JSON mode and gives its event. */
  async command(text: string): Promise<Line> {
    const from = this.lines.length;
    this.send(text);
    return this.until(({ type }) => type === 'command' || type === 'error', from);
  }

  /** Calls a method of RPC mode. @throws with the error's message. */
  async call(method: string, params: object = {}): Promise<Line> {
    const id = ++this.#id;
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const answer = await this.until((line) => line['id'] === id);
    const error = answer['error'] as { message: string; code: number } | undefined;
    if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
    return answer['result'] as Line;
  }

  /** The events of RPC mode so far. */
  get events(): readonly Line[] {
    return this.lines.flatMap((line) =>
      line['method'] === 'event' ? [line['params'] as Line] : [],
    );
  }

  /** kill -9 for the command and what it started. */
  kill(): void {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }

  end(): Promise<number> {
    this.#child.stdin?.end();
    return this.ended();
  }

  /** The exit code, once there is one. */
  ended(): Promise<number> {
    return new Promise((resolve) => {
      if (this.#child.exitCode !== null) resolve(this.#child.exitCode);
      else this.#child.once('close', (code) => resolve(code ?? -1));
    });
  }

  #tail(): string {
    return this.lines
      .slice(-8)
      .map((line) => JSON.stringify(line).slice(0, 300))
      .join('\n');
  }
}
