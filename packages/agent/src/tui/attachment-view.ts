import { truncateToWidth, type Component } from '@earendil-works/pi-tui';
import { FoldedLines } from './folded-lines.ts';
import type { Theme } from './theme.ts';

/** What a message brought along: its first line, or all of it. */
export class AttachmentView implements Component {
  readonly #theme: Theme;
  readonly #lines: FoldedLines;
  folded = true;

  constructor(theme: Theme, text: string) {
    this.#theme = theme;
    this.#lines = new FoldedLines(text, theme.dim);
  }

  invalidate(): void {
    // Only what is cut off depends on the width.
  }

  render(width: number): string[] {
    const lines = this.#lines.show(this.#theme, this.folded, 1);
    return lines.map((line) => truncateToWidth(line, width));
  }
}
