import { truncateToWidth, visibleWidth, type Component } from '@earendil-works/pi-tui';
import type { Usage } from '@bobbin/core';
import { percentText, tokensText } from '../figures.ts';
import { cacheShare } from '../usage.ts';
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

/** One line: model, context use, cache hits, cost, and whether auto-compaction is off (B17). */
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
    if (this.state === undefined) return [dim('starting…')];
    const { model, tokens, windowTokens, usage, automatic, cost } = this.state;
    const share = tokens / windowTokens;
    const use = `context ${percentText(share)} (${tokensText(tokens)}/${tokensText(windowTokens)})`;
    const left = [
      model,
      share > 0.9 ? error(use) : use,
      `cache ${percentText(cacheShare(usage))}`,
      cost,
      ...(automatic ? [] : [bold('auto-compact off')]),
    ].join(' · ');
    const hint = '/help';
    const gap = width - visibleWidth(left) - hint.length;
    return [dim(truncateToWidth(gap > 1 ? left + ' '.repeat(gap) + hint : left, width))];
  }
}
