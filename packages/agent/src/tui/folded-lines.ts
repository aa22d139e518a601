import { printable } from './printable.ts';
import type { Theme } from './theme.ts';

const MOST_LINES = 400;

/** The beginning of a long text as lines, made once: a screen is drawn often. */
export class FoldedLines {
  readonly #lines: readonly string[];
  readonly #count: number;

  /** `style` gets each line without anything that would drive the terminal. */
  constructor(text: string, style: (line: string) => string) {
    const lines = text === '' ? [] : printable(text).trimEnd().split('\n');
    this.#count = lines.length;
    this.#lines = lines.slice(0, MOST_LINES).map((line) => `  ${style(line)}`);
  }

  /** So many lines while folded, and how many more there are. */
  show(theme: Theme, folded: boolean, most: number): readonly string[] {
    const shown = folded ? this.#lines.slice(0, most) : this.#lines;
    return [...shown, ...moreLines(theme, this.#count - shown.length, folded)];
  }
}

/** What stands for the lines that are not shown. */
export function moreLines({ dim }: Theme, more: number, folded: boolean): readonly string[] {
  return more > 0 ? [dim(`  … ${more} more lines${folded ? ' (Ctrl+O shows all)' : ''}`)] : [];
}
