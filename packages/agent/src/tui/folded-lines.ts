import { printable } from './printable.ts';
import type { Theme } from './theme.ts';

const MOST_LINES = 400;

/** Which end of a long text is shown while it is folded: that of an output has the result. */
export type Shown = 'beginning' | 'end';

/** A long text as lines, made once: a screen is drawn often. */
export class FoldedLines {
  readonly #first: readonly string[];
  readonly #last: readonly string[];
  readonly #count: number;

  /** `style` gets each line without anything that would drive the terminal. */
  constructor(text: string, style: (line: string) => string) {
    const lines = text === '' ? [] : printable(text).trimEnd().split('\n');
    const styled = (line: string): string => `  ${style(line)}`;
    this.#count = lines.length;
    this.#first = lines.slice(0, MOST_LINES).map(styled);
    this.#last = lines.length <= MOST_LINES ? this.#first : lines.slice(-MOST_LINES).map(styled);
  }

  /** So many lines while folded, and how many more there are. */
  show(theme: Theme, folded: boolean, most: number, end: Shown = 'beginning'): readonly string[] {
    if (folded && end === 'end') {
      const shown = this.#last.slice(-most);
      return [...moreLines(theme, this.#count - shown.length, folded, 'earlier'), ...shown];
    }
    const shown = folded ? this.#first.slice(0, most) : this.#first;
    return [...shown, ...moreLines(theme, this.#count - shown.length, folded)];
  }
}

/** Replaces the lines that are not shown. */
export function moreLines(
  { dim }: Theme,
  more: number,
  folded: boolean,
  which: 'more' | 'earlier' = 'more',
): readonly string[] {
  if (more <= 0) return [];
  const lines = more === 1 ? 'line' : 'lines';
  return [dim(`  … ${more} ${which} ${lines}${folded ? ' (Ctrl+O shows all)' : ''}`)];
}
