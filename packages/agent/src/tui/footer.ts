import { truncateToWidth, visibleWidth, type Component } from '@earendil-works/pi-tui';
import type { Usage } from '@bobbin/core';
import { percentText, tokensText } from '../figures.ts';
import { cacheShare } from '../model/usage.ts';
import { printable } from './printable.ts';
import type { Theme } from './theme.ts';

export interface FooterState {
  readonly model: string;
  readonly tokens: number;
  readonly windowTokens: number;
  readonly usage: Usage;
  readonly automatic: boolean;
  /** What was paid so far: in money if prices are known, in tokens otherwise. */
  readonly cost: string;
}

const GAP = 2;
const LONGEST_NAME = 40;
/** So much of a model's name is worth more than the figures next to the context. */
const LEAST_NAME = 14;

/**
 * One line: context use, whether auto-compaction is off, cache hits, cost, model. If it is narrow, the cache and the
 * cost go first; a name that is too long loses its beginning.
 */
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
    const { dim } = this.#theme;
    if (this.state === undefined) return [dim(truncateToWidth('starting…', width))];
    const model = printable(this.state.model);
    const least = GAP + Math.min(visibleWidth(model), LEAST_NAME);
    const all = this.#figures(this.state);
    const left = all.find((figures) => visibleWidth(figures) + least <= width) ?? all.at(-1) ?? '';
    const columns = Math.max(0, Math.min(width - visibleWidth(left) - GAP, LONGEST_NAME));
    const right = truncateToWidth(columns === 0 ? '' : model.slice(-columns), columns);
    const gap = ' '.repeat(Math.max(1, width - visibleWidth(left) - visibleWidth(right)));
    return [dim(truncateToWidth(left + gap + right, width))];
  }

  /** The figures before the model, from all of them to the fewest. */
  #figures({ tokens, windowTokens, usage, automatic, cost }: FooterState): readonly string[] {
    const { error, bold } = this.#theme;
    const share = tokens / windowTokens;
    const marked = (text: string): string => (share > 0.9 ? error(text) : text);
    const sizes = `${tokensText(tokens)}/${tokensText(windowTokens)}`;
    const off = automatic ? [] : [bold('auto-compact off')];
    const use = marked(`context ${percentText(share)} (${sizes})`);
    const cache = `cache ${percentText(cacheShare(usage))}`;
    return [
      [use, ...off, cache, cost],
      [use, ...off, cost],
      [use, ...off],
      [marked(`context ${percentText(share)}`), ...off],
    ].map((parts) => parts.join(' · '));
  }
}
