import {
  Container,
  isKeyRelease,
  matchesKey,
  ProcessTerminal,
  Text,
  TuiMainScreen,
  type Component,
  type SlashCommand,
  type TUI,
} from '@earendil-works/pi-tui';
import { Chooser, type Choice } from './chooser.ts';
import { Completion } from './completion.ts';
import { Footer } from './footer.ts';
import { LineEditor } from './line-editor.ts';
import { Question, type Keys } from './question.ts';
import { Status } from './status.ts';
import type { Theme } from './theme.ts';

export interface ScreenActions {
  submit(text: string): void;
  interrupt(): void;
  toggleFolds(): void;
  quit(): void;
}

/** The parts of the screen, top to bottom: transcript, status, a question or the editor, footer. */
export class Screen {
  /** What was said and done. */
  readonly body: Container = new Container();
  readonly status: Status;
  readonly footer: Footer;
  readonly editor: LineEditor;
  readonly #tui: TUI;
  readonly #theme: Theme;
  readonly #project: string;
  readonly #terminal: ProcessTerminal;
  readonly #slot = new Container();
  /** What is asked; the last of it is shown. */
  #asked: readonly (Chooser | Question)[] = [];
  #lastQuitKey = 0;
  #clock: NodeJS.Timeout | undefined;

  constructor(theme: Theme, project: string, actions: ScreenActions) {
    this.#theme = theme;
    this.#project = project;
    this.#terminal = new ProcessTerminal();
    this.#tui = new TuiMainScreen(this.#terminal);
    this.status = new Status(theme);
    this.footer = new Footer(theme);
    this.editor = new LineEditor(this.#tui, theme.editor);
    this.editor.onSubmit = (text) => {
      if (text !== '') this.editor.addToHistory(text);
      actions.submit(text);
    };
    this.#slot.addChild(this.editor);
    for (const part of [this.body, this.status, this.#slot, this.footer]) this.#tui.addChild(part);
    this.#tui.addInputListener((data) =>
      this.#key(data, actions) ? { consume: true } : undefined,
    );
  }

  /** Completes commands and paths. */
  complete(commands: readonly SlashCommand[]): void {
    this.editor.setAutocompleteProvider(new Completion(commands, this.#project));
  }

  say(text: string): void {
    this.body.addChild(new Text(`\n${text}`, 0, 0));
  }

  start(): void {
    this.#tui.start();
    this.#tui.setFocus(this.editor);
    this.#clock = setInterval(() => (this.status.isBusy ? this.draw() : undefined), SECOND_MS);
    this.#clock.unref();
  }

  stop(): void {
    clearInterval(this.#clock);
    this.#tui.stop();
  }

  /** Takes back what was drawn: it shows nothing, nor later what the terminal still answers to the start. */
  async erase(): Promise<void> {
    this.#tui.setClearOnShrink(true);
    this.#tui.clear();
    this.#tui.renderNow();
    await this.#terminal.drainInput(MOST_ANSWER_MS, ANSWER_MS);
  }

  draw(): void {
    this.#tui.requestRender();
  }

  /** Draws everything again: what was there belongs to another conversation. */
  redraw(): void {
    this.#tui.requestRender(true);
  }

  /** Opens a choice that a person asked for, in place of the editor; what was typed stays there. */
  choose(choice: Choice): Promise<string | undefined> {
    return this.#open((done) => new Chooser(this.#theme, choice, done));
  }

  /** Asks a person who may be typing, above the editor. */
  ask(choice: Choice, keys: Keys): Promise<string | undefined> {
    return this.#open((done) => new Question(this.#theme, choice, keys, done));
  }

  #open(
    make: (done: (value: string | undefined) => void) => Chooser | Question,
  ): Promise<string | undefined> {
    return new Promise((resolve) => {
      const asked = make((value) => {
        this.#asked = this.#asked.filter((other) => other !== asked);
        this.#show();
        resolve(value);
      });
      this.#asked = [...this.#asked, asked];
      this.#show();
    });
  }

  get #question(): Question | undefined {
    const last = this.#asked.at(-1);
    return last instanceof Question ? last : undefined;
  }

  #show(): void {
    const last = this.#asked.at(-1);
    const parts: readonly Component[] =
      last instanceof Question ? [last.chooser, this.editor] : [last ?? this.editor];
    this.#slot.clear();
    for (const part of parts) this.#slot.addChild(part);
    this.#tui.setFocus(parts.at(-1) ?? null);
    this.status.isAsking = last instanceof Question;
    this.draw();
  }

  #key(data: string, actions: ScreenActions): boolean {
    if (isKeyRelease(data)) return false;
    if (matchesKey(data, 'ctrl+o')) {
      actions.toggleFolds();
      this.draw();
      return true;
    }
    if (matchesKey(data, 'ctrl+c')) {
      this.#quitOrClear(actions);
      return true;
    }
    if (matchesKey(data, 'ctrl+d') && this.editor.getText() === '') {
      actions.quit();
      return true;
    }
    const question = this.#question;
    const isEditing = this.#asked.length === 0 || question !== undefined;
    if (matchesKey(data, 'escape') && isEditing && !this.editor.isShowingAutocomplete()) {
      if (question === undefined) actions.interrupt();
      else question.cancel();
      return true;
    }
    const isTaken = question?.takeKey(data, this.editor.getText() === '') ?? false;
    if (isTaken) this.draw();
    return isTaken;
  }

  /** The first Ctrl+C empties the editor, a second one soon after it ends the program. */
  #quitOrClear(actions: ScreenActions): void {
    const now = Date.now();
    if (this.editor.getText() === '' && now - this.#lastQuitKey < TWICE_MS) return actions.quit();
    this.#lastQuitKey = now;
    if (this.editor.getText() === '') this.say(this.#theme.dim('Ctrl+C again ends bobbin.'));
    this.editor.setText('');
    return this.draw();
  }
}

const TWICE_MS = 2_000;
/** How long a terminal may take to answer what it is asked at the start, and from one answer to the next. */
const [MOST_ANSWER_MS, ANSWER_MS] = [1_000, 300];
const SECOND_MS = 1_000;
