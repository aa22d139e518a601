import { groupedBy } from '../../check/list.ts';
import { callsOf, startsTurn } from '../../message/message.ts';
import type { Summary, ToolOutcome, TurnCheck, TurnWork } from '../../plan/summary.ts';
import {
  hasPassed,
  isCheck,
  isShell,
  saysPassed,
  tellingOutcomes,
} from '../../summary/entry-texts.ts';
import { isOfGit, nameOf } from '../../summary/file-texts.ts';
import type { Node } from '../../thread/thread.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import { kindOfCommand, lastRunsByKind, type Run } from './commands.ts';

const MOST_TURNS = 100;

/** What the agent changed and checked in each turn, oldest first. Turns without either are left out. */
export function workByTurn(
  nodes: readonly Node[],
  runs: readonly Run[],
  statistics: AnchorStatistics,
  { work: before = [], outcomes }: Pick<Summary, 'work' | 'outcomes'>,
): readonly TurnWork[] {
  const work = new Map(before.map((one) => [one.turn, one]));
  const runsOf = groupedBy(runs, ({ outcome }) => outcome.turn);
  for (const [turn, own] of groupedBy(nodes, (node) => node.turn)) {
    const known = work.get(turn);
    const earlier = outcomes.filter((run) => run.turn === turn);
    const done = workOf(turn, own, statistics);
    const files = [...new Set([...(known?.files ?? []), ...done.files])];
    const checks = mergedChecks(known?.checks ?? [], checksIn(runsOf.get(turn) ?? [], earlier));
    if (files.length > 0 || checks.length > 0)
      work.set(turn, { ...known, ...done, at: known?.at ?? done.at, files, checks });
  }
  return [...work.values()].slice(-MOST_TURNS);
}

function workOf(
  turn: number,
  nodes: readonly Node[],
  statistics: AnchorStatistics,
): Omit<TurnWork, 'checks'> {
  const request = nodes.find(({ message }) => startsTurn(message)) ?? nodes[0];
  const changed = changedIn(nodes, statistics);
  const changedAt = changed.at(-1)?.index;
  return {
    turn,
    at: request?.index ?? 0,
    until: nodes.at(-1)?.index ?? 0,
    files: [...new Set(changed.map(({ name }) => name))],
    ...(changedAt === undefined ? {} : { changedAt }),
  };
}

/** The names of the files that were changed, each time with the message that did so. */
const changedIn = (
  nodes: readonly Node[],
  statistics: AnchorStatistics,
): readonly { readonly name: string; readonly index: number }[] =>
  nodes.flatMap(({ message, index }) =>
    callsOf(message)
      .flatMap(({ callId }) => statistics.changedBy(callId, index))
      .filter(({ path }) => !isOfGit(path))
      .map(({ path }) => ({ name: nameOf(path), index })),
  );

/** The checks that ran, after those of the turn that are known, by how the last run of each kind ended. */
function checksIn(runs: readonly Run[], before: readonly ToolOutcome[]): readonly TurnCheck[] {
  return tellingOutcomes(lastRunsByKind(runs, before))
    .filter((run) => isCheck(run) && (!hasPassed(run) || saysPassed(run)))
    .map((run) => ({
      kind: (isShell(run) ? kindOfCommand(run.call) : undefined) ?? run.tool,
      hasPassed: hasPassed(run) || run.resolution !== undefined,
      at: run.at ?? 0,
    }));
}

function mergedChecks(
  before: readonly TurnCheck[],
  now: readonly TurnCheck[],
): readonly TurnCheck[] {
  return [...new Map([...before, ...now].map((check) => [check.kind, check])).values()];
}
