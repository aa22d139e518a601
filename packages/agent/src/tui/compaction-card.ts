import { truncateToWidth, wrapTextWithAnsi, type Component } from '@earendil-works/pi-tui';
import type { CompactionEnd } from '../events.ts';
import { tokensText } from '../figures.ts';
import { printable } from './printable.ts';
import type { Theme } from './theme.ts';

const MANY = 3;

/** A compaction as a card: before → after, what became what, how to undo it, what it cost. */
export class CompactionCard implements Component {
  readonly #theme: Theme;
  readonly #end: CompactionEnd;
  folded = true;

  constructor(theme: Theme, end: CompactionEnd) {
    this.#theme = theme;
    this.#end = end;
  }

  invalidate(): void {
    // Nothing is remembered.
  }

  render(width: number): string[] {
    const { accent, dim } = this.#theme;
    const { tokensBefore, tokensAfter, notice, changes, warnings, count, summary } = this.#end;
    const title = `┌ compaction ${count}: ${tokensText(tokensBefore)} → ${tokensText(tokensAfter)} tokens `;
    const hints = `/undo takes it back${summary === undefined ? '' : `; Ctrl+O ${this.folded ? 'shows' : 'folds'} the summary`}`;
    const texts = [
      ...changes,
      ...warnings,
      notice,
      ...(count >= MANY ? ['/handoff GOAL starts afresh with what matters.'] : []),
      hints,
      ...(this.folded || summary === undefined ? [] : ['', ...summary.split('\n')]),
    ];
    const body = texts.flatMap((text) =>
      text === '' ? [''] : wrapTextWithAnsi(printable(text), Math.max(1, width - 3)),
    );
    return [
      '',
      accent(title.padEnd(width, '─')),
      ...body.map((line) => `${accent('│')} ${dim(line)}`),
      accent('└'.padEnd(width, '─')),
    ].map((line) => truncateToWidth(line, width, ''));
  }
}
