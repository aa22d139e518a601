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
const TOKEN =
  /[^\S\n]*(?:(?<redirect>[&\d]?(?:>>|>[|&]?|<<<|<<-?|<&?))|(?<end>&&|\|\||[;&|()\n])|#[^\n]*|(?<word>(?:'[^']*'?|"(?:\\[^]|[^"\\])*"?|\\[^]?|[^\s;&|()<>'"\\])+))/y;
const QUOTED = /'([^']*)'?|"((?:\\[^]|[^"\\])*)"?|\\([^]?)/g;

/** The commands of a shell line, in order. Enough of the grammar to see names of files; nothing is expanded. */
export function shellCommands(line: string): readonly ShellCommand[] {
  const text = headOf(line, LONGEST);
  let command: Building = { words: [], outputs: [], piped: false };
  const commands = [command];
  const documents: string[] = [];
  let before = '';
  for (let at = 0; at < text.length;) {
    TOKEN.lastIndex = at;
    const { redirect = '', end, word } = TOKEN.exec(text)?.groups ?? {};
    at = TOKEN.lastIndex === 0 ? text.length : TOKEN.lastIndex;
    if (word !== undefined) take(unquoted(word), before, command, documents);
    before = redirect;
    if (end === undefined) continue;
    commands.push((command = { words: [], outputs: [], piped: end === '|' }));
    if (end === '\n') for (const mark of documents.splice(0)) at = documentEnd(text, at, mark);
  }
  return commands.filter(({ words, outputs }) => words.length + outputs.length > 0);
}

interface Building extends ShellCommand {
  readonly words: string[];
  readonly outputs: { path: string; appends: boolean }[];
}

/** Takes a word for what it is after the sign before it: an argument, a file, or the mark that ends a document. */
function take(word: string, redirect: string, command: Building, documents: string[]): void {
  if (redirect === '') command.words.push(word);
  else if (/^<<-?$/.test(redirect)) documents.push(word);
  else if (/>\|?$/.test(redirect))
    command.outputs.push({ path: word, appends: redirect.endsWith('>>') });
}

/** A word as the shell reads it. */
function unquoted(word: string): string {
  return word.replace(
    QUOTED,
    (_, single?: string, double?: string, escaped: string = '') =>
      single ?? double ?? (escaped === '\n' ? '' : escaped),
  );
}

/** Where the document ends that a line with its mark ends. */
function documentEnd(text: string, from: number, mark: string): number {
  for (let at = from; at < text.length;) {
    const feed = text.indexOf('\n', at);
    const end = feed < 0 ? text.length : feed;
    if (text.slice(at, end).trim() === mark) return end + 1;
    at = end + 1;
  }
  return text.length;
}
