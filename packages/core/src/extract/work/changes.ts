import { lastIndex, reversed } from '../../check/list.ts';
import { isJsonObject, parseJson, type JsonObject } from '../../message/json.ts';
import { headOf } from '../../message/text.ts';
import type { Redact } from '../../summary/redact.ts';
import { docsIn } from './doc-comments.ts';
import { addedLine, lineChanges } from './line-changes.ts';
import { hasPatch, patchedFiles } from '../anchors/patch.ts';

/** What an edit took away and what it put in its place. */
export interface Replacement {
  readonly before: string;
  readonly after: string;
  /** In how many places of a file, if they are several. */
  readonly places?: number;
}

const OLD = /^old_?(?:str(?:ing)?|text)$/i;
const NEW = /^(?:new_?(?:str(?:ing)?|text)|content|file_text|insert_text|new_source)$/i;
const LONGEST = 60_000;

/** The replacements in the arguments of an edit, by the path of the file if the arguments name several. */
export function replacementsIn(
  args: string,
): readonly (Replacement & { readonly path?: string })[] {
  if (hasPatch(args)) return patchedFiles(args);
  const given = parseJson(args);
  return isJsonObject(given) ? [...replacementsOf(given)] : [];
}

function* replacementsOf(given: JsonObject): Iterable<Replacement> {
  const [before, after] = [textOf(given, OLD), textOf(given, NEW)];
  if (before !== undefined || after !== undefined)
    yield { before: headOf(before ?? '', LONGEST), after: headOf(after ?? '', LONGEST) };
  for (const value of Object.values(given))
    if (Array.isArray(value))
      for (const item of value.slice(0, 100)) if (isJsonObject(item)) yield* replacementsOf(item);
}

function textOf(given: JsonObject, name: RegExp): string | undefined {
  for (const [key, value] of Object.entries(given))
    if (typeof value === 'string' && name.test(key)) return value;
  return undefined;
}

/** A line that declares something, in most languages of programs, and the headings of a document. */
const DECLARES =
  /^\s*(?:(?:export|default|public|private|protected|static|async|abstract|final|pub|override|readonly|declare)\s+)*(?:func(?:tion)?\*?|def|class|interface|type|struct|enum|trait|impl|fn|module|namespace|record|object)\s+(?:\([^)\n]{0,80}\)\s*)?([A-Za-z_$][\w$]*)(?![\w$.])/;
/** A value of a module: what is indented is a variable of a function. */
const VALUE = /^(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)/;
/** A method of a class in languages that have no word for it. */
const METHOD =
  /^\s{1,8}(?:(?:public|private|protected|static|async|abstract|final|override|readonly|get|set|virtual)\s+)*(?!(?:if|for|while|switch|catch|return|function|await|throw|else|do|with|new|super|using|foreach|elseif|defer|go|select)\b)(?:[\w<>[\],.?]+\s+)?([A-Za-z_$#][\w$]*)\([^;]{0,160}\)\s*(?::\s?[^;={]{1,80})?\{$/;
const TEST = /^\s*(?:test|it|describe)(?:\.\w+)?\(\s*['"`]([^'"`\n]{3,90})/;
const HEADING = /^#{2,4} (\S.{2,60})$/;
/** Names that say nothing. */
const COMMON =
  /^(?:err|ok|i|j|k|n|t|tt|tests?|got|want|ctx|cmd|main|init|result|data|name|out|args?|opts|self|this|_)$/;

function declared(line: string): string | undefined {
  for (const form of [DECLARES, VALUE, TEST, METHOD, HEADING]) {
    const name = form.exec(line)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Lines without those of texts between backticks, which may be code of another file. */
function outsideTemplates(lines: readonly string[]): readonly string[] {
  let isText = false;
  const outside = lines.filter((line) => {
    const wasText = isText;
    if ((line.split('`').length - 1) % 2 === 1) isText = !isText;
    return !wasText;
  });
  // A text that does not end, or began before these lines.
  return isText ? lines : outside;
}

/** The names that some lines declare, in order, each with what it takes and returns if it is a function. */
function declaredIn(text: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const line of outsideTemplates(text.split('\n'))) {
    if (line.length > 300) continue;
    const name = declared(line);
    if (name !== undefined && name.length > 1 && !COMMON.test(name))
      names.set(name, signature(line, name));
  }
  return names;
}

const SIGNATURE_CHARS = 90;

/** A function with its parameters and its result; only the name if they do not fit, and for everything else. */
function signature(line: string, name: string): string {
  const rest = line.slice(line.indexOf(name) + name.length);
  const end = /^test|^Test/.test(name) ? 0 : parametersEnd(rest);
  if (end === 0) return name;
  const [result = ''] = rest.slice(end).split(/\s\{|\s?=>|[:{]\s*$/);
  const whole = rest.slice(0, end) + result.trimEnd();
  return whole.length <= SIGNATURE_CHARS ? name + whole : name;
}

/** Where the parameters end that a text begins with; 0 if it does not, or if they go on in the next line. */
function parametersEnd(text: string): number {
  if (!text.startsWith('(')) return 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i + 1;
  }
  return 0;
}

/** A word that only functions are declared with. */
const FUNCTION =
  /^\s*(?:(?:export|default|public|private|protected|static|async|pub|override)\s+)*(?:func(?:tion)?\*?|def|fn)\s+(?:\([^)\n]{0,80}\)\s*)?([A-Za-z_$][\w$]*)\s*[(<[]/;

/** The functions that some lines declare with such a word. */
export function functionsIn(text: string): ReadonlySet<string> {
  const names = outsideTemplates(text.split('\n')).map((line) => FUNCTION.exec(line)?.[1] ?? '');
  return new Set(names.filter((name) => name.length > 1 && !COMMON.test(name)));
}

const SURROUNDINGS_CHARS = 20_000;

/** The name of what a place in a file is part of: the last one declared before it. */
export function declaredBefore(text: string, at: number): string | undefined {
  const end = Math.min(at, text.length);
  const lines = outsideTemplates(
    text.slice(Math.max(0, end - SURROUNDINGS_CHARS), end).split('\n'),
  );
  const name = reversed(lines)
    .map(declaredOn)
    .find((one) => one !== undefined);
  return name === undefined || COMMON.test(name) ? undefined : name;
}

/** The name that a line of a file declares, also after the number that a tool put before it. */
export function declaredOn(line: string): string | undefined {
  const bare = line.replace(/^\s*\d+[\t→|]/, '');
  return DECLARES.exec(bare)?.[1] ?? METHOD.exec(bare)?.[1];
}

/** Older reasons are for what was changed again since. */
const MOST_REASONS = 2;
/** The share of the text for names and lines: the rest is for reasons. */
const LINES_SHARE = 0.6;

/** What became of the contents of one file. */
export class FileChange {
  readonly added: Map<string, string> = new Map();
  readonly removed: Set<string> = new Set();
  /** What the changes are part of, and why they were made, each as often as it was said. */
  readonly #within = new Set<string>();
  readonly #why = new Set<string>();
  /** What small edits changed, by how often. */
  readonly #lines = new Map<string, number>();

  /** What comments say of the names. */
  readonly #docs = new Map<string, string>();
  /** A line that the newest edit added. */
  newestLine: string | undefined;

  readonly #redact: Redact;

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  explain(why: string): void {
    this.#why.delete(why);
    this.#why.add(why);
  }

  /** Takes a replacement, and what it is part of if that is known. */
  note(replacement: Replacement, within?: string): void {
    const { before, after } = replacement;
    this.newestLine = addedLine(replacement, this.#redact) ?? this.newestLine;
    for (const line of lineChanges(replacement, this.#redact)) {
      if (declared(line.slice(2)) !== undefined) continue;
      const times = this.#lines.get(line) ?? 0;
      this.#lines.delete(line);
      this.#lines.set(line, times + 1);
    }
    const [old, now] = [declaredIn(before), declaredIn(after)];
    const kept = [...old.keys()].filter((name) => now.has(name));
    for (const name of kept.length > 0 || within === undefined ? kept : [within]) {
      this.#within.delete(name);
      this.#within.add(name);
    }
    for (const name of old.keys())
      if (!now.has(name) && !this.added.delete(name)) this.removed.add(name);
    for (const [name, line] of now)
      if (this.added.has(name) || (!old.has(name) && !this.removed.delete(name)))
        this.added.set(name, line);
    for (const [name, doc] of docsIn(this.#redact(after).split('\n'), declaredOn))
      this.#docs.set(name, doc);
  }

  /** One line: names added, removed and changed, and why, as many as fit. */
  text(most: number): string {
    const parts = this.#names(most);
    const lines = this.#lineChanges(most * LINES_SHARE - parts.join('; ').length);
    if (lines !== '') parts.push(lines);
    let left = most - parts.join('; ').length;
    const why: string[] = [];
    for (const reason of reversed([...this.#why]).slice(0, MOST_REASONS)) {
      if (why.length > 0 && reason.length > left) continue;
      why.push(reason);
      left -= reason.length + 2;
    }
    const said = [parts.join('; '), reversed(why).join(' / ')].filter((text) => text !== '');
    return said.join(' — ');
  }

  /** What small edits changed, the newest that fit. */
  #lineChanges(most: number): string {
    let left = most;
    const lines: string[] = [];
    for (const [line, times] of reversed([...this.#lines])) {
      const quoted = line.includes('`') ? `“${line}”` : `\`${line}\``;
      const text = quoted + (times > 1 ? ` (${times}×)` : '');
      if (text.length > left) continue;
      lines.push(text);
      left -= text.length + 2;
    }
    return reversed(lines).join('; ');
  }

  #names(most: number): string[] {
    const changed = [...this.#within].filter(
      (name) => !this.added.has(name) && !this.removed.has(name),
    );
    const share = changed.length + this.removed.size > 0 ? most * 0.7 : most;
    const added = explained(this.added, this.#docs, share);
    return [
      ...(this.added.size > 0 ? [`adds ${listed(added, share)}`] : []),
      ...(changed.length > 0 ? [`changes ${listed(changed, most * 0.3)}`] : []),
      ...(this.removed.size > 0 ? [`removes ${listed([...this.removed], most * 0.3)}`] : []),
    ];
  }
}

/**
 * Names with what comments say of them and with what they take and return: the newest first, comments first, as far as
 * there is space.
 */
function explained(
  declarations: ReadonlyMap<string, string>,
  docs: ReadonlyMap<string, string>,
  most: number,
): readonly string[] {
  const names = reversed([...declarations.keys()]);
  let left = most - names.join(', ').length;
  const fits = (chars: number): boolean => {
    if (chars > left) return false;
    left -= chars;
    return true;
  };
  const said = new Set(
    names.filter((name) => docs.has(name) && fits((docs.get(name) ?? '').length + 3)),
  );
  return reversed(
    names.map((name) => {
      const line = declarations.get(name) ?? name;
      const declaration = fits(line.length - name.length) ? line : name;
      return said.has(name) ? `${declaration} (${docs.get(name)})` : declaration;
    }),
  );
}

/** The newest names that fit, and how many more there are. */
function listed(names: readonly string[], most: number): string {
  let left = most;
  const from = lastIndex(names, (name) => (left -= name.length + 2) < 0) + 1;
  const shown = names.slice(Math.min(from, names.length - 1)).join(', ');
  return from > 0 ? `${shown} and ${from} more` : shown;
}
