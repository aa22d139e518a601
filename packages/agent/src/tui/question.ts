import { matchesKey } from '@earendil-works/pi-tui';
import { Chooser, type Choice } from './chooser.ts';
import type { Theme } from './theme.ts';

/** So long after it appeared, whatever is pressed was not meant for it. */
const UNSEEN_MS = 400;

/**
 * A question that comes unasked for, above the editor: who is typing goes on typing, and a message never answers it.
 * An answer is the whole line, a value or its first letter, begun after the question could be seen; or, while the
 * editor is empty, the arrow keys and Enter.
 */
export class Question {
  readonly chooser: Chooser;
  readonly #values: readonly string[];
  readonly #done: (value: string | undefined) => void;
  readonly #appeared = Date.now();
  #isLineBegunSince = false;

  constructor(theme: Theme, choice: Choice, done: (value: string | undefined) => void) {
    this.chooser = new Chooser(theme, choice, done);
    this.#values = choice.items.map(({ value }) => value);
    this.#done = done;
  }

  /** Takes a key before the editor does. False where it is the editor's. */
  takeKey(data: string, isEditorEmpty: boolean): boolean {
    const isPicking = ['up', 'down', 'enter'].some((key) => matchesKey(data, key as 'enter'));
    if (Date.now() - this.#appeared < UNSEEN_MS) return isPicking;
    if (!isEditorEmpty) return false;
    this.#isLineBegunSince = true;
    if (isPicking) this.chooser.handleInput(data);
    return isPicking;
  }

  /** False where the line is a message. */
  takeLine(line: string): boolean {
    const said = line.trim().toLowerCase();
    const value = this.#values.find((each) => said === each || said === each[0]);
    if (value === undefined || !this.#isLineBegunSince) return false;
    this.#done(value);
    return true;
  }

  cancel(): void {
    this.#done(undefined);
  }
}
