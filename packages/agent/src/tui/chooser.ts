import { Container, SelectList, Text, type SelectItem } from '@earendil-works/pi-tui';
import type { Theme } from './theme.ts';

const MOST_VISIBLE = 10;

/** A question with its answers, to be picked with the arrow keys. */
export class Chooser extends Container {
  readonly #list: SelectList;

  constructor(
    theme: Theme,
    title: string,
    items: readonly SelectItem[],
    done: (value: string | undefined) => void,
  ) {
    super();
    this.#list = new SelectList([...items], MOST_VISIBLE, theme.select, {
      maxPrimaryColumnWidth: 72,
    });
    this.#list.onSelect = (item) => done(item.value);
    this.#list.onCancel = () => done(undefined);
    this.addChild(new Text(`\n${theme.bold(title)}`, 0, 0));
    this.addChild(this.#list);
  }

  handleInput(data: string): void {
    this.#list.handleInput(data);
  }
}
