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
  phase = 'idle';
  /** Whether a question is open. */
  isAsking = false;
  queue: readonly string[] = [];

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  invalidate(): void {
    // Nothing is remembered.
  }

  render(width: number): string[] {
    const { accent, dim } = this.#theme;
    const lines = this.queue.map((text) => dim(`queued: ${printable(text).replaceAll('\n', ' ')}`));
    if (this.isAsking)
      lines.push(`${accent('Waiting for your answer')} ${dim('one key answers; Esc interrupts')}`);
    else if (this.phase !== 'idle') {
      const word =
        WORDS[this.phase] ?? (this.phase.startsWith('switching') ? 'Switching' : 'Compacting');
      const hint = word === 'Compacting' ? 'Esc stops it and changes nothing' : 'Esc interrupts';
      lines.push(`${accent(`${word}…`)} ${dim(hint)}`);
    }
    return ['', ...lines].map((line) => truncateToWidth(line, width));
  }
}
