import { wrapTextWithAnsi, type Component } from '@earendil-works/pi-tui';
import { printable } from './printable.ts';
import type { Theme } from './theme.ts';

/** What a model thought before it answered: a line that says so, or all of it. */
export class ReasoningView implements Component {
  readonly #theme: Theme;
  #text = '';
  folded = true;

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  add(text: string): void {
    this.#text += text;
  }

  invalidate(): void {
    // Nothing is remembered.
  }

  render(width: number): string[] {
    const { dim } = this.#theme;
    const text = this.folded ? 'Thinking (Ctrl+O shows it)' : printable(this.#text).trim();
    const lines = text.split('\n').flatMap((line) => wrapTextWithAnsi(line, Math.max(1, width)));
    return ['', ...lines.map((line) => dim(line))];
  }
}
