import { reversed } from '../../check/list.ts';
import { callsOf, hasResults, startsTurn } from '../../message/message.ts';
import { linesOf } from '../../message/text.ts';
import type { Problem, ToolOutcome } from '../../plan/summary.ts';
import { hasPassed, isCheck, settles } from '../../summary/entry-texts.ts';
import { nameOf } from '../../summary/file-texts.ts';
import type { Node } from '../../thread/thread.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import { causeIn, rolesOf, saidByAgent } from './agent-words.ts';
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
  const next = new Map<string, Run>();
  const passed: Run[] = [];
  const found: Problem[] = [];
  for (const run of reversed(runs)) {
    const { kind, outcome } = run;
    if (hasPassed(outcome)) {
      passed.unshift(run);
      passed.splice(MOST_PASSED);
    } else if (found.length < MOST_PROBLEMS && isOfWork(outcome)) {
      const again = next.get(kind);
      const solving = passed.find((one) => one.kind === kind || settles(one.outcome, outcome));
      const from = (places.get(run.endedAt) ?? 0) + 1;
      const after = nodes.slice(from, from + MOST_MESSAGES);
      if (solving !== undefined && !isStillThere(outcome.error, again?.outcome.error))
        found.push(...problemOf(run, solving, upTo(after, again ?? solving), statistics));
    }
    next.set(kind, run);
  }
  const known = new Set(before.map(({ at }) => at));
  return [...before, ...reversed(found).filter(({ at }) => !known.has(at))].slice(-MOST_PROBLEMS);
}

/** A check that failed, or a conflict: not a command that is missing or was given wrongly. */
const isOfWork = (outcome: ToolOutcome): boolean =>
  (isCheck(outcome) || outcome.error?.includes('CONFLICT') === true) &&
  !/command not found/.test(outcome.error ?? '');

/** The messages before the next run, and only those of the same turn. */
function upTo(nodes: readonly Node[], { outcome, endedAt }: Run): readonly Node[] {
  const end = outcome.at ?? endedAt;
  const own = nodes.filter(({ index }) => index <= end);
  const turn = own.findIndex(({ message }) => startsTurn(message));
  return turn < 0 ? own : own.slice(0, turn);
}

/** Numbers change with every edit. */
const withoutNumbers = (text: string): string => text.replace(/\d+/g, '0');

/** True if a later run says the first of the same errors. */
function isStillThere(error: string | undefined, later: string | undefined): boolean {
  if (error === undefined || later === undefined) return false;
  return linesOf(withoutNumbers(later)).includes(withoutNumbers(linesOf(error)[0] ?? ''));
}

function problemOf(
  { outcome, endedAt }: Run,
  solving: Run,
  between: readonly Node[],
  statistics: AnchorStatistics,
): readonly Problem[] {
  const { at = endedAt, call, error } = outcome;
  if (error === undefined) return [];
  const roles = rolesOf(between);
  const said = between.find(
    ({ index, message }) => roles.get(index) === 'step' && causeIn(saidByAgent(message)) !== '',
  );
  const files = between
    .filter(({ message }) => !hasResults(message))
    .flatMap(({ message, index }) =>
      callsOf(message).flatMap(({ callId }) => statistics.changedBy(callId, index)),
    );
  if (said === undefined) return [];
  return [
    {
      at,
      call,
      error: linesOf(error)[0] ?? '',
      ...(said === undefined
        ? {}
        : { said: causeIn(saidByAgent(said.message)), saidAt: said.index }),
      files: [...new Set(files.map(({ path }) => nameOf(path)))],
      solvedAt: solving.outcome.at ?? solving.endedAt,
    },
  ];
}
