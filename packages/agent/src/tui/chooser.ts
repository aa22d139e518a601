import { Container, SelectList, Text, type SelectItem } from '@earendil-works/pi-tui';
import { diffStyle } from './diff-style.ts';
import { visible } from './printable.ts';
import type { Theme } from './theme.ts';

const MOST_VISIBLE = 10;

/** What is asked, with its answers. It may hold what a model wrote: none of it reaches the terminal but as characters. */
export interface Choice {
  readonly title: string;
  /** A change to decide upon. */
  readonly diff?: string;
  readonly items: readonly SelectItem[];
  /** Which one is marked to begin with; the first where it is not said. */
  readonly marked?: string;
}

/** A question with its answers, to be picked with the arrow keys. */
export class Chooser extends Container {
  readonly #list: SelectList;

  constructor(
    theme: Theme,
    { title, diff, items, marked }: Choice,
    done: (value: string | undefined) => void,
  ) {
    super();
    const shown = items.map((item) => ({
      ...item,
      label: oneLine(item.label),
      ...(item.description === undefined ? {} : { description: oneLine(item.description) }),
    }));
    this.#list = new SelectList(shown, MOST_VISIBLE, theme.select, { maxPrimaryColumnWidth: 72 });
    this.#list.setSelectedIndex(items.findIndex(({ value }) => value === marked));
    this.#list.onSelect = (item) => done(item.value);
    this.#list.onCancel = () => done(undefined);
    // A line of the title that is not its first is marked, so that none passes for a question of its own.
    const lines = visible(title)
      .split('\n')
      .map((line) => theme.bold(line));
    this.addChild(new Text(`\n${lines.join('\n│ ')}`, 0, 0));
    if (diff !== undefined && diff !== '')
      this.addChild(new Text(visible(diff).split('\n').map(diffStyle(theme)).join('\n'), 2, 0));
    this.addChild(this.#list);
  }

  handleInput(data: string): void {
    this.#list.handleInput(data);
  }
}

function oneLine(text: string): string {
  return visible(text).replaceAll('\n', ' ');
}
