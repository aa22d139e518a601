import { isJsonObject, parseJson } from '../../message/json.ts';
import type { CallPart } from '../../message/message.ts';
import { headOf } from '../../message/text.ts';

/** What editors call their own commands. */
export const EDITOR: RegExp = /^(?:view|create|str_replace|insert|undo_edit|delete|rename)$/;

/** The shell line of a call: a text, or words, the last of which may be a script. */
export function commandIn({ args }: CallPart): string | undefined {
  const given = parseJson(args);
  if (!isJsonObject(given)) return undefined;
  const found = given['command'] ?? given['cmd'];
  if (typeof found === 'string') return EDITOR.test(found) ? undefined : found;
  if (!Array.isArray(found) || !found.every((word) => typeof word === 'string')) return undefined;
  const script = found.findIndex((word) => /^-l?c$/.test(word));
  return script < 0 ? found.join(' ') : found[script + 1];
}

/** One command of a shell line: its words, and the files that its output goes to. */
export interface ShellCommand {
  readonly words: readonly string[];
  readonly outputs: readonly { readonly path: string; readonly appends: boolean }[];
  /** True if it reads what the command before it wrote. */
  readonly piped: boolean;
}

/** Longer scripts are programs; what they do to files is not read from them. */
const LONGEST = 20_000;

/** The commands of a shell line, in order. Enough of the grammar to see names of files; nothing is expanded. */
export function shellCommands(line: string): readonly ShellCommand[] {
  return new ShellReader(headOf(line, LONGEST)).read();
}

type Expects = 'word' | 'output' | 'appended' | 'input' | 'document';

const BLANK = /[^\S\n]/;
const ENDS_WORD = /[\s;&|()<>]/;

class ShellReader {
  readonly #line: string;
  readonly #commands: ShellCommand[] = [];
  #at = 0;
  #words: string[] = [];
  #outputs: { path: string; appends: boolean }[] = [];
  #piped = false;
  #expects: Expects = 'word';
  /** What ends the documents that begin on the next line. */
  readonly #documents: string[] = [];

  constructor(line: string) {
    this.#line = line;
  }

  read(): readonly ShellCommand[] {
    while (this.#at < this.#line.length) this.#step();
    this.#end(false);
    return this.#commands;
  }

  #step(): void {
    const line = this.#line;
    const char = line.charAt(this.#at);
    if (BLANK.test(char)) this.#at++;
    else if (char === '\n') {
      this.#at++;
      this.#end(false);
      for (const mark of this.#documents.splice(0)) this.#skipDocument(mark);
    } else if (char === '#') this.#at = this.#next('\n');
    else if (char === '>' || char === '<' || /^&>|^\d[<>]/.test(line.slice(this.#at, this.#at + 2)))
      this.#redirect();
    else if (/[;&|()]/.test(char)) {
      const double = line.charAt(this.#at + 1) === char;
      this.#at += double ? 2 : 1;
      this.#end(char === '|' && !double);
    } else this.#take(this.#word());
  }

  /** `>`, `>>`, `2>&1`, `<`, `<<EOF`, `<<<`: what the next word is. */
  #redirect(): void {
    const [sign = '>'] =
      /^(?:&|\d)?(?:>>|>\||>&|>|<<<|<<-?|<&|<)/.exec(this.#line.slice(this.#at, this.#at + 5)) ??
      [];
    this.#at += sign.length;
    if (sign.includes('<')) this.#expects = /<<-?$/.test(sign) ? 'document' : 'input';
    else if (sign.endsWith('>&')) this.#expects = 'input';
    else this.#expects = sign.endsWith('>>') ? 'appended' : 'output';
  }

  /** A word as the shell reads it, quotes taken off. */
  #word(): string {
    const line = this.#line;
    let word = '';
    while (this.#at < line.length) {
      const char = line.charAt(this.#at);
      if (char === "'") word += this.#until("'", this.#at + 1);
      else if (char === '"') word += this.#doubleQuoted();
      else if (char === '\\') {
        const next = line.charAt(this.#at + 1);
        word += next === '\n' ? '' : next;
        this.#at += 2;
      } else if (ENDS_WORD.test(char)) break;
      else {
        word += char;
        this.#at++;
      }
    }
    return word;
  }

  #doubleQuoted(): string {
    let end = this.#at + 1;
    while (end < this.#line.length && this.#line.charAt(end) !== '"')
      end += this.#line.charAt(end) === '\\' ? 2 : 1;
    const text = this.#line.slice(this.#at + 1, end);
    this.#at = end + 1;
    return text;
  }

  #until(mark: string, from: number): string {
    const found = this.#line.indexOf(mark, from);
    const end = found < 0 ? this.#line.length : found;
    this.#at = end + mark.length;
    return this.#line.slice(from, end);
  }

  #next(mark: string): number {
    const found = this.#line.indexOf(mark, this.#at);
    return found < 0 ? this.#line.length : found;
  }

  #take(word: string): void {
    const expects = this.#expects;
    this.#expects = 'word';
    switch (expects) {
      case 'word':
        this.#words.push(word);
        return;
      case 'output':
      case 'appended':
        this.#outputs.push({ path: word, appends: expects === 'appended' });
        return;
      case 'document':
        this.#documents.push(word);
        return;
      case 'input':
    }
  }

  #skipDocument(mark: string): void {
    while (this.#at < this.#line.length) if (this.#until('\n', this.#at).trim() === mark) return;
  }

  #end(pipes: boolean): void {
    if (this.#words.length > 0 || this.#outputs.length > 0)
      this.#commands.push({ words: this.#words, outputs: this.#outputs, piped: this.#piped });
    this.#words = [];
    this.#outputs = [];
    this.#expects = 'word';
    this.#piped = pipes;
  }
}
