import { Editor, matchesKey } from '@earendil-works/pi-tui';

const DOWN = '\u001B[B';
const LINE_END = '\u0005';

/** An editor in which the cursor is at the end of what the arrow key brings back, so that one can go on typing. */
export class LineEditor extends Editor {
  override handleInput(data: string): void {
    const before = this.getText();
    super.handleInput(data);
    if (matchesKey(data, 'up') && this.getText() !== before) this.#toEnd();
  }

  #toEnd(): void {
    const last = this.getLines().length - 1;
    while (this.getCursor().line < last) super.handleInput(DOWN);
    super.handleInput(LINE_END);
  }
}
