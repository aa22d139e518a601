import { reversed } from '../../check/list.ts';
import { callsOf, startsTurn, type Message } from '../../message/message.ts';
import { linesOf } from '../../message/text.ts';
import type { Problem, ToolOutcome } from '../../plan/summary.ts';
import { hasPassed, isCheck, settles } from '../../summary/entry-texts.ts';
import { nameOf } from '../../summary/file-texts.ts';
import type { Node } from '../../thread/thread.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import { causeIn, saidByAgent } from '../story/agent-words.ts';
import type { Run } from './commands.ts';

const MOST_PROBLEMS = 12;
/** A cause is said, and a file is changed, soon after the failure. */
const MOST_MESSAGES = 24;
const MOST_PASSED = 40;

/** What failed and works since, oldest first: with what the agent said of the cause, and the files that it changed. */
export function solvedProblems(
  nodes: readonly Node[],
  runs: readonly Run[],
  statistics: AnchorStatistics,
  before: readonly Problem[],
): readonly Problem[] {
  const places = new Map(nodes.map(({ index }, place) => [index, place]));
  const found = solvedRuns(runs).flatMap((solved) => {
    const from = (places.get(solved.failed.endedAt) ?? 0) + 1;
    return problemOf(solved, nodes.slice(from, from + MOST_MESSAGES), statistics) ?? [];
  });
  const known = new Set(before.map(({ at }) => at));
  return [...before, ...found.filter(({ at }) => !known.has(at))].slice(-MOST_PROBLEMS);
}

/** A run that failed, the next run of its kind, and the run that shows that the failure is over. */
interface SolvedRun {
  readonly failed: Run;
  readonly next: Run;
  readonly solving: Run;
}

/** The failures that are over, oldest first. */
function solvedRuns(runs: readonly Run[]): readonly SolvedRun[] {
  const next = new Map<string, Run>();
  const passed: Run[] = [];
  const solved: SolvedRun[] = [];
  for (const run of reversed(runs)) {
    const { kind, outcome } = run;
    if (hasPassed(outcome)) {
      passed.unshift(run);
      passed.splice(MOST_PASSED);
    } else if (isOfWork(outcome)) {
      const solving = passed.find((one) => solves(one, run));
      const again = next.get(kind) ?? solving;
      if (solving !== undefined && !isStillThere(outcome.error, again?.outcome.error))
        solved.push({ failed: run, next: again ?? solving, solving });
    }
    next.set(kind, run);
  }
  return reversed(solved);
}

/** Ends an operation without doing it, or does nothing. */
const GIVES_UP = /\s--?(?:abort|skip|quit|version|help|collect-only|no-run|dry-run)\b/;
const GOES_ON = /\bgit (?:-C \S+ )?(?:\w[\w-]* --continue|commit)\b/;

/** True if a run that passed shows that a failure is over. */
function solves({ outcome: later }: Run, { outcome: failed }: Run): boolean {
  if (GIVES_UP.test(later.call)) return false;
  if (hasConflict(failed)) return later.call === failed.call || GOES_ON.test(later.call);
  return later.call === failed.call || settles(later, failed);
}

const hasConflict = ({ error }: ToolOutcome): boolean => error?.includes('CONFLICT') === true;

/** A check that failed, or a conflict: not a command that is missing or was given wrongly. */
const isOfWork = (outcome: ToolOutcome): boolean =>
  (isCheck(outcome) || hasConflict(outcome)) && !/command not found/.test(outcome.error ?? '');

/** Numbers change with every edit. */
const withoutNumbers = (text: string): string => text.replace(/\d+/g, '0');

/** True if a later run says the first of the same errors. */
function isStillThere(error: string | undefined, later: string | undefined): boolean {
  if (error === undefined || later === undefined) return false;
  return linesOf(withoutNumbers(later)).includes(withoutNumbers(linesOf(error)[0] ?? ''));
}

/** A failure with what the agent said and changed before the next run. Undefined if it said no cause. */
function problemOf(
  { failed, next, solving }: SolvedRun,
  after: readonly Node[],
  statistics: AnchorStatistics,
): Problem | undefined {
  const { at = failed.endedAt, call, error } = failed.outcome;
  const between = upTo(after, startOf(next));
  const said = between.find(({ message }) => causeSaid(message) !== '');
  if (error === undefined || said === undefined) return undefined;
  const files = between.flatMap(({ message, index }) =>
    callsOf(message).flatMap(({ callId }) => statistics.changedBy(callId, index)),
  );
  return {
    at,
    call,
    error: linesOf(error)[0] ?? '',
    said: causeSaid(said.message),
    saidAt: said.index,
    files: [...new Set(files.map(({ path }) => nameOf(path)))],
    solvedAt: startOf(solving),
    ...(solving.outcome.call === call ? {} : { solvedBy: solving.outcome.call }),
  };
}

const startOf = ({ outcome, endedAt }: Run): number => outcome.at ?? endedAt;

const causeSaid = (message: Message): string =>
  message.role === 'assistant' ? causeIn(saidByAgent(message)) : '';

/** The messages up to an index, and only those of the same turn. */
function upTo(nodes: readonly Node[], end: number): readonly Node[] {
  const own = nodes.filter(({ index }) => index <= end);
  const turn = own.findIndex(({ message }) => startsTurn(message));
  return turn < 0 ? own : own.slice(0, turn);
}
