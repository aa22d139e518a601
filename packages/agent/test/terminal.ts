import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn, type IPty } from '@lydell/node-pty';
import xterm from '@xterm/headless';

/** The command: what `npm test` bundled from source, which starts faster, or else the source. */
export const BIN: string =
  process.env['BOBBIN_TEST_COMMAND'] ??
  fileURLToPath(new URL('../../cli/bin/bobbin.mjs', import.meta.url));

export interface TerminalOptions {
  readonly cwd: string;
  /** Where sessions and settings are kept. */
  readonly home: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
}

/** The real program in a real terminal, whose screen can be read. */
export class TestTerminal {
  readonly #pty: IPty;
  readonly #screen: InstanceType<typeof xterm.Terminal>;
  #exit: number | undefined;
  #written = '';

  constructor(
    args: readonly string[],
    { cwd, home, columns = 80, rows = 24, env = {} }: TerminalOptions,
  ) {
    this.#screen = new xterm.Terminal({
      cols: columns,
      rows,
      allowProposedApi: true,
      scrollback: 5_000,
    });
    const { PATH = '', HOME = '' } = process.env;
    this.#pty = spawn(process.execPath, [BIN, ...args], {
      cols: columns,
      rows,
      cwd,
      env: {
        PATH,
        HOME,
        TERM: 'xterm-256color',
        NO_COLOR: '1',
        XDG_DATA_HOME: join(home, 'data'),
        XDG_CONFIG_HOME: join(home, 'config'),
        ...env,
      },
    });
    this.#pty.onData((data) => {
      this.#written += data;
      this.#screen.write(data);
    });
    this.#screen.onData((data) => this.#pty.write(data));
    this.#pty.onExit(({ exitCode }) => {
      this.#exit = exitCode;
    });
  }

  get exitCode(): number | undefined {
    return this.#exit;
  }

  get pid(): number {
    return this.#pty.pid;
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  /** Types a line and sends it. */
  line(text: string): void {
    this.#pty.write(text);
    this.#pty.write('\r');
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  /** kill -9 for the command and what it started: a terminal's program leads a group of its own. */
  kill(): void {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }

  /** Everything that the program wrote, escape sequences included. */
  get written(): string {
    return this.#written;
  }

  /** What is on the screen now, without blanks at the ends. */
  screen(): string {
    const { active } = this.#screen.buffer;
    return this.#lines(active.viewportY, active.viewportY + this.#screen.rows);
  }

  /** All that was ever on the screen. */
  all(): string {
    return this.#lines(0, this.#screen.buffer.active.length);
  }

  #lines(from: number, until: number): string {
    const { active } = this.#screen.buffer;
    const lines: string[] = [];
    for (let i = from; i < until; i++)
      lines.push(active.getLine(i)?.translateToString(true).trimEnd() ?? '');
    return lines.join('\n').trimEnd();
  }

  /** Waits until the screen shows something; the screen is in the error where it never does. */
  async until(wanted: string | RegExp, timeoutMs: number = 60_000): Promise<void> {
    const shown = (): boolean =>
      typeof wanted === 'string' ? this.screen().includes(wanted) : wanted.test(this.screen());
    await this.#poll(shown, timeoutMs, () => `never saw ${String(wanted)}:\n${this.screen()}`);
  }

  /** The screen once nothing on it changes any more. */
  async settled(quietMs: number = 250): Promise<string> {
    let last = this.screen();
    let since = Date.now();
    await this.#poll(
      () => {
        const now = this.screen();
        if (now !== last) [last, since] = [now, Date.now()];
        return Date.now() - since > quietMs;
      },
      10_000,
      () => `never at rest:\n${this.screen()}`,
    );
    return last;
  }

  async ended(timeoutMs: number = 60_000): Promise<number> {
    await this.#poll(
      () => this.#exit !== undefined,
      timeoutMs,
      () => `did not end:\n${this.screen()}`,
    );
    return this.#exit ?? -1;
  }

  async #poll(done: () => boolean, timeoutMs: number, problem: () => string): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!done()) {
      if (Date.now() > deadline) throw new Error(problem());
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** A folder that goes when the test is over. */
export function temporaryFolder(
  t: { after(fn: () => void): void },
  name: string = 'bobbin-agent-',
): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
