import {
  Container,
  SelectList,
  Text,
  truncateToWidth,
  visibleWidth,
  type SelectItem,
} from '@earendil-works/pi-tui';
import { diffStyle } from './diff-style.ts';
import { visible } from './printable.ts';
import type { Theme } from './theme.ts';

const MOST_VISIBLE = 10;

/** A question with its answers. It may hold what a model wrote: only plain characters of it reach the terminal. */
export interface Choice {
  readonly title: string;
  /** A change to decide on. */
  readonly diff?: string;
  readonly items: readonly SelectItem[];
  /** Which one is marked to begin with; the first if absent. */
  readonly marked?: string;
}

/** A question with its answers, to be picked with the arrow keys. */
export class Chooser extends Container {
  readonly #theme: Theme;
  readonly #items: readonly SelectItem[];
  readonly #done: (value: string | undefined) => void;
  #list: SelectList;
  #width = 0;
  #selected: number;

  constructor(
    theme: Theme,
    { title, diff, items, marked }: Choice,
    done: (value: string | undefined) => void,
  ) {
    super();
    this.#theme = theme;
    this.#items = items;
    this.#done = done;
    this.#selected = Math.max(
      0,
      items.findIndex(({ value }) => value === marked),
    );
    this.#list = this.#listFor(WIDE);
    // Lines of the title after the first are marked, so that none looks like a separate question.
    const lines = visible(title)
      .split('\n')
      .map((line) => theme.bold(line));
    this.addChild(new Text(`\n${lines.join('\n│ ')}`, 0, 0));
    if (diff !== undefined && diff !== '')
      this.addChild(new Text(visible(diff).split('\n').map(diffStyle(theme)).join('\n'), 2, 0));
    this.addChild(this.#list);
  }

  override render(width: number): string[] {
    if (width !== this.#width) {
      this.#width = width;
      this.removeChild(this.#list);
      this.#list = this.#listFor(width);
      this.addChild(this.#list);
    }
    return super.render(width);
  }

  handleInput(data: string): void {
    this.#list.handleInput(data);
  }

  #listFor(width: number): SelectList {
    const column = Math.max(0, ...this.#items.map(({ label }) => visibleWidth(oneLine(label))));
    const items = this.#items.map((item) => ({
      value: item.value,
      label: lineOf(item, column, width - MARGIN),
    }));
    const list = new SelectList(items, MOST_VISIBLE, this.#theme.select);
    list.setSelectedIndex(this.#selected);
    list.onSelectionChange = ({ value }) => {
      this.#selected = items.findIndex((item) => item.value === value);
    };
    list.onSelect = ({ value }) => this.#done(value);
    list.onCancel = () => this.#done(undefined);
    return list;
  }
}

const WIDE = 80;
/** What the list takes of each line for itself. */
const MARGIN = 4;
const GAP = 2;
const LEAST_LABEL = 14;

/** An item in one line, its description after the label's column; if that is narrow, only the beginning of it. */
function lineOf({ label, description = '' }: SelectItem, column: number, width: number): string {
  const parts = oneLine(description).split(' · ');
  for (let count = parts.length; count > 0; count--) {
    const note = parts.slice(0, count).join(' · ');
    const columns = Math.min(column, width - visibleWidth(note) - GAP);
    if (note !== '' && columns >= Math.min(column, LEAST_LABEL))
      return `${truncateToWidth(oneLine(label), columns, '…', true)}${' '.repeat(GAP)}${note}`;
  }
  return truncateToWidth(oneLine(label), Math.max(1, width), '…');
}

function oneLine(text: string): string {
  return visible(text).replaceAll('\n', ' ');
}
