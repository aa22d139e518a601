import { callsOf, resultsOf, resultText } from '../../message/message.ts';
import { headOf } from '../../message/text.ts';
import type { Conflict } from '../../plan/summary.ts';
import type { Node } from '../../thread/thread.ts';
import { commandIn, shellCommands } from '../anchors/shell.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import { isRefused } from '../story/user-words.ts';

/** "CONFLICT (content): Merge conflict in src/a.ts", or the file first: "CONFLICT (modify/delete): src/a.ts deleted in …". */
const REPORTED = /^CONFLICT \([\w/-]{1,40}\): (?:Merge conflict in )?(\S{1,300})/gm;
const FAILED = /^(?:fatal|error): /m;
const READ_CHARS = 20_000;
const MOST_CONFLICTS = 40;
/** Ends an operation with all its conflicts, or begins another one. */
const ENDS = new Set(['merge', 'rebase', 'cherry-pick', 'revert', 'am', 'pull', 'commit']);
/** Settles the conflicts in the files that it names, or in all of them. */
const SETTLES = new Set(['add', 'rm', 'checkout', 'restore', 'reset']);

/** The files in which conflicts were reported and not settled by git since, oldest first. */
export function mergeConflicts(
  nodes: readonly Node[],
  { files }: AnchorStatistics,
  before: readonly Conflict[],
): readonly Conflict[] {
  const open = new Map(before.map((one) => [one.path, one]));
  const lines = new Map<string, string>();
  for (const { message, index } of nodes) {
    for (const call of callsOf(message)) {
      const line = /\bgit\b/.test(call.args) ? commandIn(call) : undefined;
      if (line !== undefined) lines.set(call.callId, line);
    }
    for (const result of resultsOf(message)) {
      const line = lines.get(result.callId);
      if (line === undefined) continue;
      lines.delete(result.callId);
      const text = headOf(resultText(result), READ_CHARS);
      const reported = [...text.matchAll(REPORTED)].map(([, path = '']) => path);
      const isFailed = result.outcome === 'failure' || FAILED.test(text) || isRefused(text);
      if (!isFailed || reported.length > 0) settle(open, line);
      for (const path of reported) open.set(path, { path, at: index });
    }
  }
  return [...open.values()].slice(-MOST_CONFLICTS).map(({ path, at }): Conflict => {
    const editedAt = files.find(path)?.editedAt ?? -1;
    return editedAt > at ? { path, at, editedAt } : { path, at };
  });
}

/** Takes out the conflicts that the commands of a line settle. */
function settle(open: Map<string, Conflict>, line: string): void {
  if (open.size === 0) return;
  for (const { words } of shellCommands(line)) {
    const [program, name = '', ...rest] = words;
    if (program !== 'git') continue;
    const named = rest.filter((word) => !word.startsWith('-'));
    const isAll = ENDS.has(name) || named.length === 0 || named.includes('.');
    if (!ENDS.has(name) && !SETTLES.has(name)) continue;
    for (const path of open.keys())
      if (isAll || named.some((word) => path === word || path.startsWith(`${word}/`)))
        open.delete(path);
  }
}
