import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseJson } from '@bobbin/core/internal';
import type { Folders } from '../folders.ts';
import { projectName } from '../session/session-id.ts';

const MOST_LINES = 100;
/** A file that has grown beyond this is cut to its last lines. */
const MOST_BYTES = 200_000;

/** What a person typed in a folder, messages and commands, over all its sessions. */
export class InputHistory {
  readonly #path: string;

  constructor({ data, project }: Folders) {
    this.#path = join(data, 'history', `${projectName(project)}.jsonl`);
  }

  /** The last lines, the oldest first; none if there is no file to read. */
  lines(): readonly string[] {
    try {
      const stored = readFileSync(this.#path, 'utf8').trimEnd().split('\n').slice(-MOST_LINES);
      return stored.map(parseJson).filter((line) => typeof line === 'string');
    } catch {
      return [];
    }
  }

  /** A file that cannot be written costs only the history. */
  add(line: string): void {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
      if (statSync(this.#path).size > MOST_BYTES) this.#shorten();
    } catch {
      // The session itself says what cannot be written.
    }
  }

  #shorten(): void {
    const kept = this.lines().map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(this.#path, kept.join(''), { mode: 0o600 });
  }
}
