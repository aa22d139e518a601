import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Counter } from '@bobbin/core';
import { isJsonObject, parseJson, type JsonObject } from '@bobbin/core/internal';

/** What a provider's reports have taught about the tokens of a model. */
export interface Learnt {
  /** The engine's factor, on the safe side: its tokens for one of the counter's. */
  readonly factor: number;
  /** What the provider reports for one of the engine's tokens. */
  readonly share: number;
}

/** Changes below this are not worth a write. */
const LEAST_CHANGE = 0.01;

/** Keeps what was learnt of each model in one file, so that another session, and the next start, begin with it. */
export class LearntTokens {
  readonly #path: string;
  #known: JsonObject | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  of(model: string, counter: Counter): Learnt | undefined {
    this.#known ??= this.#stored();
    const entry = this.#known[keyOf(model, counter)];
    if (!isJsonObject(entry)) return undefined;
    const { factor, share } = entry;
    return isFigure(factor) && isFigure(share) ? { factor, share } : undefined;
  }

  /** A file that cannot be written costs only what was learnt. */
  keep(model: string, counter: Counter, learnt: Learnt): void {
    const before = this.of(model, counter);
    const isKnown = before !== undefined && isClose(before.factor, learnt.factor);
    if (isKnown && isClose(before.share, learnt.share)) return;
    const entries = { ...this.#stored(), [keyOf(model, counter)]: { ...learnt } };
    this.#known = entries;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const draft = `${this.#path}.${process.pid}`;
      writeFileSync(draft, JSON.stringify(entries, null, 2), { mode: 0o600 });
      renameSync(draft, this.#path);
    } catch {
      // The next session learns it again.
    }
  }

  #stored(): JsonObject {
    try {
      const content = parseJson(readFileSync(this.#path, 'utf8'));
      return isJsonObject(content) ? content : {};
    } catch {
      return {};
    }
  }
}

/** The window after a name (`@N`) changes nothing of its tokens. */
function keyOf(model: string, counter: Counter): string {
  return `${model.replace(/@\d+$/, '')} by ${counter.name}`;
}

/** Beyond these nothing was learnt: the file is damaged. */
const LEAST = 0.05;
const MOST = 20;

function isFigure(value: unknown): value is number {
  return typeof value === 'number' && value >= LEAST && value <= MOST;
}

function isClose(a: number, b: number): boolean {
  return Math.abs(a / b - 1) < LEAST_CHANGE;
}

const SAMPLE = 'word '.repeat(4_000);

/** How many tokens of one counter another one counts for the same text. */
export function factorBetween(counter: Counter, base: Counter): number {
  return counter.text(SAMPLE) / base.text(SAMPLE);
}
