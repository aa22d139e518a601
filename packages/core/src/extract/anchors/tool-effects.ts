import { isJsonObject, parseJson, type Json, type JsonObject } from '../../message/json.ts';
import type { CallPart, Outcome } from '../../message/message.ts';
import type { LineRange } from '../../plan/summary.ts';
import { LINE_END } from '../../message/text.ts';
import { hasPatch, patchedFiles } from './patch.ts';
import { commandIn, shellCommands, type ShellCommand } from './shell.ts';

/** A file that a call names, and what the call does to it. */
export interface Touch {
  readonly path: string;
  readonly does: 'reads' | 'writes' | 'edits' | 'deletes';
  /** The lines that are read, if the call names them. */
  readonly lines?: LineRange;
}

/** What a call does to files. */
export interface Touched {
  readonly touches: readonly Touch[];
  /** True if the call does nothing else: it fails, or it does all of it. */
  readonly only: boolean;
}

const NOTHING: Touched = { touches: [], only: false };
const SEARCHES = /grep|glob|search|find|list|^ls$/i;

/**
 * True for a call that searches: what it finds is not an outcome, and the place it searches is not a file it works on.
 */
export function searches(tool: string): boolean {
  return SEARCHES.test(tool);
}

/** How tools and shells begin when they refuse. */
const REFUSED =
  /^\s*(?:\[error\]|<(?:tool_use_)?error>|The user (?:doesn['’]t want to proceed|rejected|denied|declined)|Permission to use \w+ has been denied|String to replace not found|File has not been read yet|(?:cat|head|tail|nl|sed|rm|mv|cp|tee|touch|fatal|\S*sh): )/;
const FAILED =
  /^\s*(?:error|failed|failure|cannot|could not|unable)\b|\bexit(?:ed)?(?: with)?(?: code| status)?:? [1-9]/i;
const HEAD_CHARS = 300;

/** True if a call did to a file what it was to do: of several things that it was to do some may have failed. */
export function isDone(
  { does }: Touch,
  only: boolean,
  result: { readonly text: string; readonly outcome: Outcome | undefined },
): boolean {
  const head = result.text.slice(0, HEAD_CHARS);
  if (result.outcome === 'success') return true;
  if (REFUSED.test(head)) return false;
  if (!only) return true;
  return result.outcome !== 'failure' && (does === 'reads' || !FAILED.test(head));
}

/** The files that a call is about, according to its arguments. */
export function touchedBy(call: CallPart): Touched {
  const { touches, only } = readFrom(call);
  return { touches: touches.filter(({ path }) => isPath(path)), only };
}

const LONGEST_PATH = 300;
/** A path in a folder that only the shell knows, such as `$tmp/a.go`, names no file for a reader. */
const isPath = (path: string): boolean =>
  path.length <= LONGEST_PATH && !LINE_END.test(path) && !path.includes('$');

function readFrom(call: CallPart): Touched {
  const { tool, args } = call;
  if (searches(tool)) return NOTHING;
  const given = parseJson(args);
  if (hasPatch(args))
    return { touches: patchedFiles(args).map(({ path, does }) => ({ path, does })), only: true };
  if (!isJsonObject(given)) return NOTHING;
  const moved = movedBy(tool, given);
  if (moved !== undefined) return { touches: moved, only: true };
  const paths = pathsIn(given);
  if (paths.length > 0) {
    const does = deedOf(tool, given);
    const lines = does === 'reads' ? linesIn(given) : undefined;
    const own = lines === undefined ? { does } : { does, lines };
    return { touches: paths.map((path) => ({ path, ...own })), only: true };
  }
  const command = commandIn(call);
  return command === undefined ? NOTHING : byShell(command, textIn(given, FOLDER) ?? '');
}

/** The lines that a call asks for: by `offset` and `limit`, or by `view_range`. */
function linesIn(given: JsonObject): LineRange | undefined {
  const { offset, limit, view_range: range } = given;
  const asked: readonly (Json | undefined)[] = Array.isArray(range)
    ? range
    : [offset ?? 1, Number(offset ?? 1) + Number(limit) - 1];
  const [from, to] = asked;
  return typeof from === 'number' && typeof to === 'number' && to >= from ? [from, to] : undefined;
}

const PATH = /^(?:file_?path|path|file|filename|notebook_path|target_file|abs_path)$/i;
const LISTS = /^(?:files|paths|file_paths)$/i;
const FOLDER = /^(?:workdir|cwd|working_directory)$/;
const COMMAND = /^(?:command|cmd)$/;
const FROM = /^(?:source|old_path|from)(?:_path)?$/;
const TO = /^(?:destination|new_path|to)(?:_path)?$/;

function textIn(given: JsonObject, name: RegExp): string | undefined {
  for (const [key, value] of Object.entries(given))
    if (typeof value === 'string' && value !== '' && name.test(key)) return value;
  return undefined;
}

function pathsIn(given: JsonObject): readonly string[] {
  const own = textIn(given, PATH);
  if (own !== undefined) return [own];
  for (const [key, value] of Object.entries(given))
    if (LISTS.test(key) && Array.isArray(value))
      return value.flatMap((item: Json) =>
        typeof item === 'string' ? [item] : isJsonObject(item) ? pathsIn(item) : [],
      );
  return [];
}

function movedBy(tool: string, given: JsonObject): readonly Touch[] | undefined {
  if (!/move|rename/i.test(tool)) return undefined;
  const [from, to] = [textIn(given, FROM), textIn(given, TO)];
  if (from === undefined || to === undefined) return undefined;
  return [
    { path: from, does: 'deletes' },
    { path: to, does: 'writes' },
  ];
}

const EDITS = /edit|write|replace|patch|create|insert/i;
const WRITES = /write|create/i;
const DELETES = /delete|remove/i;
const NEW_TEXT = /^(?:new_str(?:ing)?|file_text)$/;

function deedOf(tool: string, given: JsonObject): Touch['does'] {
  const command = textIn(given, COMMAND);
  if (command === 'view') return 'reads';
  if (WRITES.test(tool) || command === 'create') return 'writes';
  if (EDITS.test(tool) || textIn(given, NEW_TEXT) !== undefined) return 'edits';
  return DELETES.test(tool) ? 'deletes' : 'reads';
}

function byShell(line: string, folder: string): Touched {
  const touches: Touch[] = [];
  let only = true;
  let base = folder;
  for (const command of shellCommands(line)) {
    const { name, words } = programOf(command);
    if (name === 'cd') {
      base = joined(base, words[0] ?? '');
      continue;
    }
    const own = [...deedsOf(name, words), ...outputsOf(command)];
    touches.push(...own.map((touch) => ({ ...touch, path: joined(base, touch.path) })));
    if (!command.piped && !PLAIN.test(name)) only = false;
  }
  return { touches, only: only && touches.length > 0 };
}

/** What comes before the program that is run. */
const BEFORE = /^(?:sudo|env|time|command|exec|[A-Za-z_]\w*=.*)$/s;
/** Programs whose only effects are the ones read from their arguments here. */
const PLAIN =
  /^(?:cat|head|tail|nl|less|bat|sed|rm|unlink|mv|cp|touch|tee|echo|printf|mkdir|set|true)$/;

interface Program {
  readonly name: string;
  readonly words: readonly string[];
}

function programOf({ words }: ShellCommand): Program {
  const rest = words.slice(words.findIndex((word) => !BEFORE.test(word)));
  const [first = '', ...args] = rest;
  const name = first.slice(first.lastIndexOf('/') + 1);
  return name === 'git' && /^(?:rm|mv)$/.test(args[0] ?? '')
    ? { name: args[0] ?? '', words: args.slice(1) }
    : { name, words: args };
}

/** A name that needs no expanding. */
const NAME = /^[\w@+~./][\w@+~./ -]*$/;
const WITH_ENDING = /[\w-]\.\w{1,8}$/;
const isName = (word: string): boolean => NAME.test(word) && !word.startsWith('/dev/');

function deedsOf(name: string, words: readonly string[]): readonly Touch[] {
  const options = words.filter((word) => word.startsWith('-'));
  const named = words.filter((word) => isName(word));
  const all = (does: Touch['does'], paths: readonly string[]): readonly Touch[] =>
    paths.map((path) => ({ path, does }));
  switch (name) {
    case 'cat':
    case 'head':
    case 'tail':
    case 'nl':
    case 'less':
    case 'bat':
      return all(
        'reads',
        named.filter((path) => WITH_ENDING.test(path)),
      );
    case 'sed':
      return sedDeeds(options, words);
    case 'rm':
    case 'unlink':
      return all('deletes', named);
    case 'touch':
      return all('writes', named);
    case 'tee':
      return all(options.includes('-a') ? 'edits' : 'writes', named);
    case 'mv':
    case 'cp':
      return named.length < 2 ? [] : transfer(name === 'mv' ? 'deletes' : 'reads', named);
    default:
      return [];
  }
}

/** `sed -i` changes the files after its script; any other `sed` reads them. */
function sedDeeds(options: readonly string[], words: readonly string[]): readonly Touch[] {
  const hasScript = options.some((word) => /^-[a-zA-Z]*[ef]$|^--(?:expression|file)/.test(word));
  const does = options.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(word)) ? 'edits' : 'reads';
  const rest = words.filter(
    (word, i) =>
      word !== '' && !word.startsWith('-') && !/^-[a-zA-Z]*[ef]$/.test(words[i - 1] ?? ''),
  );
  return rest
    .slice(hasScript ? 0 : 1)
    .filter((word) => isName(word) && WITH_ENDING.test(word))
    .map((path) => ({ path, does, ...printed(words) }));
}

/** The lines that `sed -n '1,80p'` prints. */
function printed(words: readonly string[]): Pick<Touch, 'lines'> {
  const [, from, to] = words.map((word) => /^(\d+),(\d+)p$/.exec(word)).find(Boolean) ?? [];
  return from === undefined ? {} : { lines: [Number(from), Number(to)] };
}

function transfer(does: Touch['does'], named: readonly string[]): readonly Touch[] {
  const to = named.at(-1) ?? '';
  const sources = named.slice(0, -1);
  const intoFolder = sources.length > 1 || /(?:^|\/)\.{0,2}$/.test(to);
  return sources.flatMap((path): readonly Touch[] => [
    { path, does },
    {
      path: intoFolder ? joined(to, path.slice(path.lastIndexOf('/') + 1)) : to,
      does: 'writes',
    },
  ]);
}

function outputsOf({ outputs }: ShellCommand): readonly Touch[] {
  return outputs
    .filter(({ path }) => isName(path))
    .map(({ path, appends }) => ({ path, does: appends ? 'edits' : 'writes' }));
}

function joined(folder: string, path: string): string {
  if (folder === '' || /^[/~]/.test(path)) return path;
  if (path === '' || path === '.') return folder;
  return folder.endsWith('/') ? folder + path : `${folder}/${path}`;
}
