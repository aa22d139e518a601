import { lastOf, sorted } from '../check/list.ts';
import type { Item, ToolOutcome } from '../plan/summary.ts';
import {
  because,
  CHECK_KINDS,
  hasPassed,
  isCheck,
  saysPassed,
  tellingOutcomes,
} from './entry-texts.ts';

/** What is being worked on, unless the list of items shows it. */
export function currentTexts(
  currentTask: string | null,
  items: readonly Item[],
): readonly string[] {
  const isListed = items.some(({ text, state }) => state === 'current' && text === currentTask);
  return currentTask === null || isListed ? [] : [`- Working on: ${currentTask}`];
}

const MARKS = { done: 'x', current: '>', open: ' ' } as const;

/** A line for each item, finished ones first, with what edits and checks say of it. */
export function itemTexts(
  items: readonly Item[],
  outcomes: readonly ToolOutcome[],
): readonly string[] {
  const checks = tellingOutcomes(outcomes).filter(isCheck);
  return sorted(items, (a, b) => Number(a.state !== 'done') - Number(b.state !== 'done')).map(
    (item) => {
      const { state, text, priority, context, editedAt } = item;
      const passed = passedSince(item, checks);
      const mark = MARKS[passed.length > 0 ? 'done' : state];
      const rank = priority === 'medium' ? '' : ` [${priority}]`;
      const known = passed.length > 0 ? ` (passed: ${messages(passed)})` : editsSince(editedAt);
      return `- [${mark}] ${text}${rank}${because(context)}${known}${failedSince(item, checks)}`;
    },
  );
}

/** True if an item is finished, or only asks for checks that passed since. */
export const isOver = (item: Item, outcomes: readonly ToolOutcome[]): boolean =>
  item.state === 'done' || passedSince(item, tellingOutcomes(outcomes).filter(isCheck)).length > 0;

const messages = (indices: readonly number[]): string =>
  sorted([...new Set(indices)], (a, b) => a - b)
    .map((at) => `m${at + 1}`)
    .join(', ');

/** Edits that an open item seems to have asked for. */
const editsSince = (editedAt: readonly number[] = []): string =>
  editedAt.length === 0 ? '' : ` (edits for this since: ${messages(editedAt)})`;

/** Asks for runs of checks, not for a test to be written. */
const RUNS = /\b(?:re-?run|run|verify|check|execute|pass)\b/i;
/** Asks for something else too. */
const CHANGES = /\b(?:fix|add|write|update|implement|change|create|remove|refactor|mend)\b/i;

/** The last run of each kind of check that an item asks for. */
function lastChecks(
  { text }: Item,
  checks: readonly ToolOutcome[],
): readonly (ToolOutcome | undefined)[] {
  const kinds = RUNS.test(text) ? CHECK_KINDS.filter((kind) => kind.test(text)) : [];
  return kinds.map((kind) => lastOf(checks, ({ call }) => kind.test(call)));
}

/** The messages with the checks that an open item asks for, if all of them passed since it was stated. */
function passedSince(item: Item, checks: readonly ToolOutcome[]): readonly number[] {
  const { state, text, statedAt = -1 } = item;
  if (state === 'done' || CHANGES.test(text)) return [];
  const last = lastChecks(item, checks);
  const passed = last.flatMap((one) =>
    one?.at !== undefined && one.at > statedAt && hasPassed(one) && saysPassed(one) ? [one.at] : [],
  );
  return passed.length < last.length ? [] : passed;
}

/** Says that a check failed which a finished item asks for. */
function failedSince(item: Item, checks: readonly ToolOutcome[]): string {
  const failed = lastChecks(item, checks).find(
    (one) => one !== undefined && !hasPassed(one) && one.resolution === undefined,
  );
  return item.state !== 'done' || failed?.at === undefined
    ? ''
    : ` (but the last run failed, ${messages([failed.at])})`;
}
