import { matchesKey } from '@earendil-works/pi-tui';
import { Chooser, type Choice } from './chooser.ts';
import type { Theme } from './theme.ts';

/** A key that is pressed within this time after the question appeared was not meant for it. */
const UNSEEN_MS = 400;

/** Answers by the one key that gives each. */
export type Keys = Readonly<Record<string, string>>;

/**
 * A question that appears by itself, above the editor. While the editor is empty and the question could be seen, one
 * key answers it, or the arrow keys and Enter. A person who is typing goes on typing: what is in the editor is a
 * message.
 */
export class Question {
  readonly chooser: Chooser;
  readonly #keys: Keys;
  readonly #done: (value: string | undefined) => void;
  readonly #appeared = Date.now();

  constructor(theme: Theme, choice: Choice, keys: Keys, done: (value: string | undefined) => void) {
    this.chooser = new Chooser(theme, choice, done);
    this.#keys = keys;
    this.#done = done;
  }

  /** Takes a key before the editor does. False if it is the editor's. */
  takeKey(data: string, isEditorEmpty: boolean): boolean {
    const isPicking = ['up', 'down', 'enter'].some((key) => matchesKey(data, key as 'enter'));
    if (Date.now() - this.#appeared < UNSEEN_MS) return isPicking;
    if (!isEditorEmpty) return false;
    if (isPicking) this.chooser.handleInput(data);
    const value = Object.hasOwn(this.#keys, data) ? this.#keys[data] : undefined;
    if (value !== undefined) this.#done(value);
    return isPicking || value !== undefined;
  }

  cancel(): void {
    this.#done(undefined);
  }
}
