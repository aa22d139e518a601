import { truncateToWidth, type Component } from '@earendil-works/pi-tui';
import { printable } from './printable.ts';
import type { Theme } from './theme.ts';

const WORDS: Readonly<Record<string, string>> = {
  holding: 'Making ready',
  preparing: 'Working',
  settling: 'Working',
  asking: 'Working',
  acting: 'Running a tool',
};

/** What is under way, and what waits for it. */
export class Status implements Component {
  readonly #theme: Theme;
  #phase = 'idle';
  #since = Date.now();
  /** The attempt that is under way, from 2, and why the one before failed. */
  retry: { readonly attempt: number; readonly reason: string } | undefined;
  /** Whether a question is open. */
  isAsking = false;
  queue: readonly string[] = [];

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  set phase(phase: string) {
    if (wordFor(phase) !== wordFor(this.#phase)) this.#since = Date.now();
    this.#phase = phase;
    this.retry = undefined;
  }

  get isBusy(): boolean {
    return this.#phase !== 'idle';
  }

  invalidate(): void {
    // Nothing is remembered.
  }

  render(width: number): string[] {
    const { accent, dim } = this.#theme;
    const lines = this.queue.map((text) => dim(`queued: ${printable(text).replaceAll('\n', ' ')}`));
    if (this.isAsking)
      lines.push(`${accent('Waiting for your answer')} ${dim('one key answers; Esc interrupts')}`);
    else if (this.isBusy) lines.push(this.#working());
    return ['', ...lines].map((line) => truncateToWidth(line, width));
  }

  #working(): string {
    const { accent, dim } = this.#theme;
    const word = wordFor(this.#phase);
    const hint = word === 'Compacting' ? 'Esc stops it and changes nothing' : 'Esc interrupts';
    const again =
      this.retry === undefined
        ? ''
        : ` · attempt ${this.retry.attempt}: ${printable(this.retry.reason).replaceAll('\n', ' ')}`;
    return `${accent(`${word}…`)} ${dim(`${this.#seconds()} s · ${hint}${again}`)}`;
  }

  #seconds(): number {
    return Math.floor((Date.now() - this.#since) / 1_000);
  }
}

function wordFor(phase: string): string {
  return WORDS[phase] ?? (phase.startsWith('switching') ? 'Switching' : 'Compacting');
}
