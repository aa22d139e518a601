import { truncateToWidth, type Component } from '@earendil-works/pi-tui';
import { isJsonObject, type Json } from '@bobbin/core';
import type { Theme } from './theme.ts';
import { printable } from './printable.ts';

const FOLDED_LINES = 4;
const DIFF_LINES = 12;
const MOST_LINES = 400;

/** A call with what came of it: folded to a few lines, or whole. */
export class ToolView implements Component {
  readonly #theme: Theme;
  readonly #title: string;
  #output = '';
  #diff: string | undefined;
  #state: 'running' | 'success' | 'failure' | 'partial' = 'running';
  folded = true;

  constructor(theme: Theme, tool: string, args: Json) {
    this.#theme = theme;
    this.#title = `${tool} ${subject(args)}`.trim();
  }

  add(text: string): void {
    this.#output += text;
  }

  finish(outcome: 'success' | 'failure' | 'partial', text: string, diff?: string): void {
    this.#state = outcome;
    this.#output = text;
    this.#diff = diff === '' ? undefined : diff;
  }

  invalidate(): void {
    // Nothing is remembered.
  }

  render(width: number): string[] {
    const { dim, bold, error } = this.#theme;
    const sign = { running: '…', success: '✓', partial: '✓', failure: '✗' }[this.#state];
    const head = `${this.#state === 'failure' ? error(sign) : dim(sign)} ${bold(this.#title)}`;
    const lines = [head, ...this.#body()];
    return ['', ...lines.map((line) => truncateToWidth(line, width))];
  }

  #body(): readonly string[] {
    const { dim } = this.#theme;
    const diff = this.#diff?.split('\n').map((line) => this.#diffLine(line));
    const lines =
      diff ??
      printable(this.#output)
        .trimEnd()
        .split('\n')
        .filter((line, _, all) => all.length > 1 || line !== '');
    const most = this.folded ? (diff === undefined ? FOLDED_LINES : DIFF_LINES) : MOST_LINES;
    const shown = this.#state === 'running' ? lines.slice(-most) : lines.slice(0, most);
    const more = lines.length - shown.length;
    const body = shown.map((line) => `  ${diff === undefined ? dim(line) : line}`);
    return more > 0
      ? [...body, dim(`  … ${more} more lines${this.folded ? ' (Ctrl+O shows all)' : ''}`)]
      : body;
  }

  #diffLine(line: string): string {
    const { added, removed, dim } = this.#theme;
    const sign = line.charAt(5);
    return (sign === '+' ? added : sign === '-' ? removed : dim)(printable(line));
  }
}

/** What a call is about, in one line. */
function subject(args: Json): string {
  if (!isJsonObject(args)) return '';
  const value =
    args['command'] ??
    args['path'] ??
    args['pattern'] ??
    args['query'] ??
    args['id'] ??
    Object.values(args)[0];
  return printable(typeof value === 'string' ? value : JSON.stringify(value ?? '')).replaceAll(
    '\n',
    ' ',
  );
}
