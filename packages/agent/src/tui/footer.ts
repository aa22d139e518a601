import { truncateToWidth, visibleWidth, type Component } from '@earendil-works/pi-tui';
import type { Usage } from '@bobbin/core';
import { percentText, tokensText } from '../figures.ts';
import { cacheShare } from '../usage.ts';
import { printable } from './printable.ts';
import type { Theme } from './theme.ts';

export interface FooterState {
  readonly model: string;
  readonly tokens: number;
  readonly windowTokens: number;
  readonly usage: Usage;
  readonly automatic: boolean;
  /** What was paid so far: in money where prices are known, in tokens otherwise. */
  readonly cost: string;
}

const GAP = 2;
const LONGEST_NAME = 40;

/** One line: context use, whether auto-compaction is off (B17), cache hits, cost, model; a name that is too long loses its beginning. */
export class Footer implements Component {
  readonly #theme: Theme;
  state: FooterState | undefined;

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  invalidate(): void {
    // Nothing is remembered.
  }

  render(width: number): string[] {
    const { dim, error, bold } = this.#theme;
    if (this.state === undefined) return [dim(truncateToWidth('starting…', width))];
    const { model, tokens, windowTokens, usage, automatic, cost } = this.state;
    const share = tokens / windowTokens;
    const use = `context ${percentText(share)} (${tokensText(tokens)}/${tokensText(windowTokens)})`;
    const left = [
      share > 0.9 ? error(use) : use,
      ...(automatic ? [] : [bold('auto-compact off')]),
      `cache ${percentText(cacheShare(usage))}`,
      cost,
    ].join(' · ');
    const room = width - visibleWidth(left) - GAP;
    const right = truncateToWidth(
      printable(model).slice(-Math.max(0, Math.min(room, LONGEST_NAME))),
      Math.max(0, room),
    );
    const gap = ' '.repeat(Math.max(1, width - visibleWidth(left) - visibleWidth(right)));
    return [dim(truncateToWidth(left + gap + right, width))];
  }
}
