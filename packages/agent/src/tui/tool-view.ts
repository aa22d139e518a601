import { truncateToWidth, type Component } from '@earendil-works/pi-tui';
import { isJsonObject, type Json, type Outcome, jsonText } from '@bobbin/core/internal';
import { diffStyle } from './diff-style.ts';
import { FoldedLines, moreLines, type Shown } from './folded-lines.ts';
import { printable } from './printable.ts';
import type { Theme } from './theme.ts';

const FOLDED_LINES = 4;
const DIFF_LINES = 12;
const RUNNING_LINES = 400;
/** What is kept of the output of a tool that is running: more than a screen shows. */
const TAIL_CHARS = 32_000;

const SIGNS = { running: '…', success: '✓', partial: '✓', failure: '✗', unknown: '?' } as const;

/** A call with what came of it: folded to a few lines, or whole. */
export class ToolView implements Component {
  readonly #theme: Theme;
  readonly #title: string;
  #tail = '';
  #lineBreaks = 0;
  #end:
    | {
        readonly outcome: Outcome | 'unknown';
        readonly lines: FoldedLines;
        readonly most: number;
        readonly end: Shown;
      }
    | undefined;
  folded = true;

  constructor(theme: Theme, tool: string, args: Json) {
    this.#theme = theme;
    this.#title = `${tool} ${subject(args)}`.trim();
  }

  add(text: string): void {
    this.#tail = (this.#tail + text).slice(-TAIL_CHARS);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      this.#lineBreaks += 1;
  }

  finish(outcome: Outcome | 'unknown', text: string, diff: string = ''): void {
    this.#tail = '';
    const isDiff = diff !== '';
    const lines = isDiff
      ? new FoldedLines(diff, diffStyle(this.#theme))
      : new FoldedLines(text, this.#theme.dim);
    this.#end = isDiff
      ? { outcome, lines, most: DIFF_LINES, end: 'beginning' }
      : { outcome, lines, most: FOLDED_LINES, end: 'end' };
  }

  invalidate(): void {
    // Only what is cut off depends on the width.
  }

  render(width: number): string[] {
    const { dim, bold, error } = this.#theme;
    const sign = SIGNS[this.#end?.outcome ?? 'running'];
    // The sign is put before what was measured: to measure it, the terminal's library would make a table of all emoji.
    const title = truncateToWidth(bold(this.#title), Math.max(0, width - 2));
    const head = `${this.#end?.outcome === 'failure' ? error(sign) : dim(sign)} ${title}`;
    const body =
      this.#end === undefined
        ? this.#running()
        : this.#end.lines.show(this.#theme, this.folded, this.#end.most, this.#end.end);
    return ['', head, ...body.map((line) => truncateToWidth(line, width))];
  }

  /** The end of what there is so far. */
  #running(): readonly string[] {
    const text = printable(this.#tail).trimEnd();
    if (text === '') return [];
    const shown = text.split('\n').slice(this.folded ? -FOLDED_LINES : -RUNNING_LINES);
    const lines = this.#lineBreaks + (this.#tail.endsWith('\n') ? 0 : 1);
    const body = shown.map((line) => `  ${this.#theme.dim(line)}`);
    return [...moreLines(this.#theme, lines - shown.length, this.folded, 'earlier'), ...body];
  }
}

/** How tools name what they are about, the ones of imported sessions included. */
const SUBJECTS = [
  'command',
  'path',
  'file_path',
  'filePath',
  'notebook_path',
  'pattern',
  'query',
  'url',
  'id',
];

/** What a call is about, in one line. */
function subject(args: Json): string {
  if (!isJsonObject(args)) return '';
  const values = Object.values(args);
  const value =
    SUBJECTS.map((name) => args[name]).find((each) => typeof each === 'string') ??
    values.find((each) => typeof each === 'string') ??
    values[0];
  if (value === undefined) return '';
  return printable(typeof value === 'string' ? value : jsonText(value)).replaceAll('\n', ' ');
}
