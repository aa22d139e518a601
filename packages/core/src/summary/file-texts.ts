import { groupedBy } from '../check/list.ts';
import type {
  FileRecord,
  RepositoryEvent,
  SeenChange,
  Summary,
  TurnWork,
} from '../plan/summary.ts';
import { quoteLines } from './entry-texts.ts';

export const isChanged = ({ edited, written, deleted }: FileRecord): boolean =>
  edited || written || deleted;

/** Files that an agent makes for a trial, and those with which git keeps its state. */
const SCRATCH = /^(?:\/private)?\/(?:tmp|var\/folders)\//;
const OF_GIT = /(?:^|\/)\.git\//;
export const isOfGit = (path: string): boolean => OF_GIT.test(path);

/** The files that were changed, without those that were made for a trial if there are others. */
export function changedFiles(files: readonly FileRecord[]): readonly FileRecord[] {
  const changed = files.filter((file) => isChanged(file) && !isOfGit(file.path));
  const lasting = changed.filter(({ path }) => !SCRATCH.test(path));
  return lasting.length > 0 ? lasting : changed;
}

/** The index of the message that changed a file last; -1 if none did. */
export function lastEdit(files: readonly FileRecord[]): number {
  return changedFiles(files).reduce((last, { at = -1 }) => Math.max(last, at), -1);
}

const DOCUMENT = /\.(?:md|mdx|txt|rst)$/i;
export const isDocument = (path: string): boolean => DOCUMENT.test(path);

/** More names than this say little in one line. */
const MOST_NAMED = 12;

/** The last of some names, each once, and how many there are besides. */
export function namesInShort(given: readonly string[]): string {
  const names = [...new Set(given)];
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names.slice(-MOST_NAMED).join(', ')}${more}`;
}

/** What was done in the turns before that of the last request: the state says what was done for that one. */
export function workBefore({ work = [], request, until = -1 }: Summary): readonly TurnWork[] {
  return work.filter((one) => one.until < (request?.at ?? until));
}

/** What was done in a turn, in one line. */
export function workText({ at, until, files, checks, changedAt = -1 }: TurnWork): string {
  const failed = checks.filter(({ hasPassed }) => !hasPassed).map(({ kind }) => kind);
  const isOld = checks.every((check) => check.at < changedAt);
  const ended =
    failed.length > 0
      ? `failed when last run: ${failed.join(', ')}`
      : `checks passed${isOld ? ' before the last edits' : ''}`;
  const done = [
    ...(files.length === 0 ? [] : [`changed ${namesInShort(files)}`]),
    ...(checks.length === 0 ? [] : [ended]),
  ];
  return `[m${at + 2}–m${until + 1}] Work: ${done.join('; ')}`;
}

/** The name of a file without its folders. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export function fileText(f: FileRecord, root: string, commits: readonly Commit[] = []): string {
  const done = f.deleted ? 'deleted' : f.written ? 'created' : f.edited ? 'edited' : '';
  const when = f.at === undefined ? '' : `m${f.at + 1}`;
  const commit = commits.find(({ at, paths }) => at > (f.at ?? Infinity) && holds(paths, f.path));
  const then = commit === undefined ? '' : `before commit ${commit.hash}`;
  const how = [done, when, then].filter((text) => text !== '').join(', ');
  return `${shownPath(f.path, root)} (${how})${f.note === undefined ? '' : `: ${f.note}`}`;
}

/** A file of which only a line that the newest edit added says what changed. */
export function withAddedLine(file: FileRecord): FileRecord {
  const { note, added = '' } = file;
  if (note !== undefined || added === '') return file;
  return { ...file, note: added.includes('`') ? `“+ ${added}”` : `\`+ ${added}\`` };
}

/** A commit that is known by its message. */
export interface Commit extends Pick<RepositoryEvent, 'at' | 'paths'> {
  readonly hash: string;
}

/** True if some files or folders, as a repository names them, hold a file; of an unknown list, true for all. */
const holds = (paths: readonly string[] | undefined, file: string): boolean =>
  paths === undefined ||
  paths.some(
    (path) =>
      file === path ||
      file.endsWith(`/${path}`) ||
      `/${file}`.includes(`/${path.replace(/\/$/, '')}/`),
  );

/** The commits after which files were changed again: only then does it matter which of them a change came before. */
export function commitsBetween({ repository = [], files }: Summary): readonly Commit[] {
  const commits = repository
    .filter(({ kind }) => kind === 'commit')
    .map(({ text, at, paths }) => ({
      hash: text.slice(0, Math.max(0, text.indexOf(' '))),
      at,
      ...(paths === undefined ? {} : { paths }),
    }));
  const last = lastEdit(files);
  return commits.some(({ at }) => at < last) ? commits : [];
}

const MOST_READ = 60;

/** The files that were only read, a line for each folder, with the lines that were read if they are known. */
export function readTexts(files: readonly FileRecord[], root: string): readonly string[] {
  const read = files.filter((file) => file.read && !isChanged(file)).slice(-MOST_READ);
  const byFolder = groupedBy(read, ({ path }) => folderOf(shownPath(path, root)));
  return [...byFolder].map(([folder, own]) => `- ${folder}${own.map(readText).join(', ')}`);
}

function readText({ path, ranges = [], at }: FileRecord): string {
  const lines = ranges.map(([from, to]) => `${from}-${to}`).join(' ');
  const when = at === undefined ? '' : `m${at + 1}`;
  const how = [lines === '' ? 'read' : `read ${lines}`, when].filter((text) => text !== '');
  return `${nameOf(path)} (${how.join(', ')})`;
}

/** What is left of a path must still say where it is. */
const LEAST_NAMES = 3;
const isSpecific = (path: string): boolean => path.split('/').length >= LEAST_NAMES;

export function shownPath(path: string, root: string): string {
  const rest = path.slice(root.length);
  return root !== '' && path.startsWith(root) && isSpecific(rest) ? rest : path;
}

const LEAST_SAVED_CHARS = 40;

/** The folder that most files share: it is named once. */
export function rootOf(files: readonly FileRecord[]): string {
  const counts = new Map<string, number>();
  const shown = files.filter(isChanged);
  for (const { path } of shown) {
    if (!path.startsWith('/') && !path.startsWith('~')) continue;
    for (
      let k = path.indexOf('/', 1);
      k > 0 && isSpecific(path.slice(k + 1));
      k = path.indexOf('/', k + 1)
    ) {
      const folder = path.slice(0, k + 1);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  let best = '';
  let most = LEAST_SAVED_CHARS;
  for (const [folder, n] of counts) {
    const saved = folder.length * (n - 1);
    if (n >= 3 && n >= shown.length * 0.6 && saved > most) [best, most] = [folder, saved];
  }
  return best;
}

/** The share of the text for changes that were looked at: an agent that changes nothing itself reviews them. */
export function seenShare(files: readonly FileRecord[]): number {
  return files.some(isChanged) ? SEEN_SHARE.beside : SEEN_SHARE.alone;
}

const SEEN_SHARE = { alone: 0.24, beside: 0.05 } as const;

const DOES = {
  added: 'new file',
  deleted: 'deleted',
  renamed: 'renamed',
  modified: 'modified',
} as const;

/** A change that was looked at, with what is known of it: all of it is what a tool returned. */
export function seenText({ path, from, does, plus, minus, note, at }: SeenChange): string {
  const moved = from === undefined ? '' : ` from ${from}`;
  const counts = [plus > 0 ? `+${plus}` : '', minus > 0 ? `−${minus}` : ''].join(' ').trim();
  const how = `${DOES[does]}${moved}`;
  const details = [how, counts, `m${at + 1}`].filter((text) => text !== '').join(', ');
  return quoteLines(`${path} (${details})${note === undefined ? '' : `: ${note}`}`);
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);
