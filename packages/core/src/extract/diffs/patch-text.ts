import type { AddedRun, DiffText, FileDiff } from './unified-diff.ts';

const PATCH = '*** Begin Patch';
const FILE = /^\*\*\* (Add|Update|Delete) File: (.+?)\s*$/;
const FEED = /\\n|\n/g;
const LONGEST = 150_000;

/** The files and added lines of a patch that a call applies, as its arguments hold it; undefined if there is none. */
export function patchIn(args: string): DiffText | undefined {
  if (!args.includes(PATCH)) return undefined;
  const files: FileDiff[] = [];
  const added: AddedRun[] = [];
  for (const [line, start, end] of linesOf(args.slice(0, LONGEST))) {
    const [, verb, path = ''] = FILE.exec(line) ?? [];
    if (verb !== undefined) files.push(fileOf(verb, path));
    const file = files.at(-1);
    if (file === undefined || !line.startsWith('+')) continue;
    const last = added.at(-1);
    if (last !== undefined && last[2] === file && last[1] === start)
      added[added.length - 1] = [last[0], end, file];
    else added.push([start, end, file]);
  }
  return files.length === 0 ? undefined : { files, added, rest: [] };
}

function fileOf(verb: string, path: string): FileDiff {
  const does = verb === 'Add' ? 'added' : verb === 'Delete' ? 'deleted' : 'modified';
  return { path, from: undefined, does, plus: 0, minus: 0, replaced: [] };
}

/** The lines of a text, escaped or not, each with its place and that of the next line. */
function* linesOf(text: string): Iterable<readonly [line: string, start: number, end: number]> {
  let start = 0;
  for (const { index, 0: feed } of text.matchAll(FEED)) {
    // An escaped backslash before an n does not end a line.
    if (feed.length === 2 && text.charAt(index - 1) === '\\') continue;
    yield [text.slice(start, index), start, index + feed.length];
    start = index + feed.length;
  }
}
