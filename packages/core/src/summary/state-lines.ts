import { groupedBy, lastOf } from '../check/list.ts';
import { oneLine } from '../message/text.ts';
import type { FileRecord, Item, Summary } from '../plan/summary.ts';
import { failingTexts, isCheck, repositoryTexts } from './entry-texts.ts';
import { changedFiles, isChanged, lastEdit, namesInShort, nameOf } from './file-texts.ts';
import { isHandedOver } from './hand-over.ts';
import { currentTexts, isOver, itemTexts } from './item-texts.ts';
import { always, listed, RANK, type Line, type RenderSpace } from './summary-line.ts';

/** How much of the text each list may take before its older entries give way. */
const SHARE = { items: 0.1, repository: 0.05 } as const;
/** A short task list is shown whole. */
const LEAST_ITEMS_CHARS = 500;
const itemChars = (chars: number): number => Math.max(LEAST_ITEMS_CHARS, chars * SHARE.items);

/** How things are: what was done for the last request, finished items, and the repository. */
export function stateLines(s: Summary, { chars }: RenderSpace): readonly Line[] {
  const over = isOldList(s) ? [] : s.items.filter((item) => isOver(item, s.outcomes));
  const done = itemTexts(over, s.outcomes);
  return [
    ...always('State', RANK.state, [
      ...answeredTexts(s),
      ...requestTexts(s, 'reported on'),
      ...changedForRequest(s),
    ]),
    ...listed('State', RANK.state, itemChars(chars), done),
    ...listed('State', RANK.state, chars * SHARE.repository, repositoryTexts(s.repository ?? [])),
  ];
}

/** What is left to do, as far as the messages say so. */
export function openLines(s: Summary, { chars }: RenderSpace): readonly Line[] {
  const steps = s.currentPlan.map(
    (step) => `- ${step.endsWith('?') ? 'The agent asks' : 'In progress'}: ${step}`,
  );
  const open = s.items.filter((item) => !isOver(item, s.outcomes));
  const items = itemTexts(open, s.outcomes);
  const lines = [
    ...openWork([
      ...requestTexts(s, 'in progress'),
      ...currentTexts(s.currentTask, s.items),
      ...steps,
    ]),
    ...listed('Open Work', RANK.state, itemChars(chars), items),
    ...openWork([
      ...conflictTexts(s),
      ...failingTexts(s.outcomes, lastEdit(s.files)),
      ...unchangedTexts(s),
      ...changedSince(s),
      ...unpushedTexts(s),
      ...uncalledTexts(s),
    ]),
  ];
  const isReported = s.request?.reportedAt !== undefined;
  return lines.length === 0 && isReported ? openWork(['- Nothing is known to be open.']) : lines;
}

const openWork = (texts: readonly string[]): readonly Line[] =>
  always('Open Work', RANK.state, texts);

const isDone = ({ state }: Item): boolean => state === 'done';

/** True if a task list was finished before the last request: it says nothing about that one. */
const isOldList = ({ items, request }: Summary): boolean =>
  request !== undefined &&
  items.every((item) => isDone(item) && (item.statedAt ?? Infinity) < request.at);

/** What the last request answers, if the prompt shows the request. */
function answeredTexts({ request }: Summary): readonly string[] {
  return request?.isShown === true && request.answers !== undefined
    ? [`- The request in m${request.at + 1} ${request.answers}`]
    : [];
}

/** What was asked last if it is reported on or if it is not, unless the prompt shows it. */
function requestTexts(
  { request }: Summary,
  wanted: 'reported on' | 'in progress',
): readonly string[] {
  if (request === undefined || request.isShown === true) return [];
  const { text, at, answers, reportedAt } = request;
  if ((reportedAt === undefined) !== (wanted === 'in progress')) return [];
  const answered = answers === undefined ? '' : ` (${answers})`;
  const where = reportedAt === undefined ? '' : ` in m${reportedAt + 1}`;
  return [`- Last request [m${at + 1}], ${wanted}${where}: “${text}”${answered}`];
}

function changedForRequest({ request, files }: Summary): readonly string[] {
  const names = request === undefined ? '' : namesChangedAfter(files, request.at);
  return names === '' ? [] : [`- Changed for the request in m${(request?.at ?? 0) + 1}: ${names}`];
}

/** The files that were changed after the last check and after the last commit; equal lists once. */
function changedSince({ outcomes, repository = [], files }: Summary): readonly string[] {
  const check = lastOf(outcomes, isCheck);
  const ran = oneLine(check?.call ?? '', CHECK_CHARS);
  const commit = lastOf(repository, ({ kind }) => kind === 'commit');
  const since: readonly (readonly [string, number | undefined])[] = [
    [`the last check (m${(check?.at ?? 0) + 1}: ${ran})`, check?.at],
    [`the last commit (${hashOf(commit?.text ?? '')})`, commit?.at],
  ];
  const known = since.filter(([, at]) => at !== undefined);
  const byNames = groupedBy(known, ([, at]) => namesChangedAfter(files, at ?? 0));
  return [...byNames]
    .filter(([names]) => names !== '')
    .map(([names, own]) => `- Changed after ${own.map(([when]) => when).join(' and ')}: ${names}`);
}

const CHECK_CHARS = 80;

/** The files in which a merge left conflicts, until they are committed. */
function conflictTexts({ conflicts = [] }: Summary): readonly string[] {
  const open = conflicts.filter(({ editedAt }) => editedAt === undefined);
  const edited = conflicts.filter(({ editedAt }) => editedAt !== undefined);
  const parts = [
    ...(open.length === 0 ? [] : [`not edited so far: ${open.map(({ path }) => path).join(', ')}`]),
    ...(edited.length === 0
      ? []
      : [`edited since: ${namesInShort(edited.map(({ path }) => nameOf(path)))}`]),
  ];
  const at = (conflicts.at(-1)?.at ?? 0) + 1;
  return parts.length === 0 ? [] : [`- Merge conflicts [m${at}]: ${parts.join('; ')}`];
}

/** The commits after the last push that the messages show. */
function unpushedTexts({ repository = [] }: Summary): readonly string[] {
  const pushed = lastOf(repository, ({ kind }) => kind === 'push' || kind === 'in sync')?.at ?? -1;
  const hashes = repository
    .filter(({ kind, at }) => kind === 'commit' && at > pushed)
    .map(({ text }) => hashOf(text));
  const noun = hashes.length === 1 ? 'commit' : 'commits';
  return hashes.length === 0 ? [] : [`- No push was seen after ${noun} ${namesInShort(hashes)}`];
}

const hashOf = (commit: string): string => commit.slice(0, Math.max(0, commit.indexOf(' ')));

/** Functions that nothing calls yet. */
const uncalledTexts = ({ uncalled = [] }: Summary): readonly string[] =>
  uncalled.length === 0 ? [] : [`- Added, not called by any edit so far: ${uncalled.join(', ')}`];

/**
 * A plan is worked through file by file: if some files that the task names were changed, the others of their kind. Those
 * that the agent read after it had begun to change files need no change, as far as one can see.
 */
function unchangedTexts({ task, files }: Summary): readonly string[] {
  const edited = changedFiles(files);
  const firstEdit = Math.min(...edited.map(({ at = Infinity }) => at));
  const looked = files.filter(
    (file) => file.read && !isChanged(file) && (file.at ?? -1) > firstEdit,
  );
  const changed = new Set(edited.map(({ path }) => nameOf(path)));
  const seen = new Set(looked.map(({ path }) => nameOf(path)));
  const given = task === null || isHandedOver(task) ? '' : task;
  const named = new Set(
    given
      .split(/(?<=[.!?])\s|\n/)
      .filter((sentence) => !LEAVES.test(sentence))
      .flatMap((sentence) => sentence.split(/[^\w@./-]+/))
      .map((word) => nameOf(word).replace(/\.+$/, ''))
      .filter((name) => name.length <= LONGEST_NAME),
  );
  const done = [...named].filter((name) => changed.has(name) && kindOf(name) !== undefined);
  const kinds = new Set(done.map(kindOf));
  const open = [...named].filter(
    (name) => !changed.has(name) && !seen.has(name) && kinds.has(kindOf(name)),
  );
  return done.length < LEAST_DONE || open.length === 0
    ? []
    : [`- Named in the task, not changed so far: ${namesInShort(open)}`];
}

/** One file that was changed does not make a list of files a plan. */
const LEAST_DONE = 2;
const LONGEST_NAME = 80;
/** Says of a file that it is not to be changed. */
const LEAVES = /\b(?:not|never|leave|except|without|unchanged|n['’]t)\b/i;
const kindOf = (name: string): string | undefined => /.(\.\w{1,5})$/.exec(name)?.[1];

/** The names of the files that were changed after a message, the newest of many. */
function namesChangedAfter(files: readonly FileRecord[], index: number): string {
  return namesInShort(
    changedFiles(files)
      .filter(({ at = -1 }) => at > index)
      .map(({ path }) => nameOf(path)),
  );
}
