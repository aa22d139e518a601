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
      const rank = priority === 'medium' ? '' : ` [${priority}]`;
      const known = editsSince(editedAt) + checkedSince(item, checks);
      return `- [${MARKS[state]}] ${text}${rank}${because(context)}${known}`;
    },
  );
}

const messages = (indices: readonly number[]): string =>
  sorted([...new Set(indices)], (a, b) => a - b)
    .map((at) => `m${at + 1}`)
    .join(', ');

/** Edits that an open item seems to have asked for. */
const editsSince = (editedAt: readonly number[] = []): string =>
  editedAt.length === 0 ? '' : ` (edits for this since: ${messages(editedAt)})`;

/** Asks for runs of checks, not for a test to be written. */
const RUNS = /\b(?:re-?run|run|verify|check|execute|pass)\b/i;

/** How the checks that an item asks for ended, if that is not what the list says. */
function checkedSince(
  { state, text, statedAt = -1 }: Item,
  checks: readonly ToolOutcome[],
): string {
  const kinds = RUNS.test(text) ? CHECK_KINDS.filter((kind) => kind.test(text)) : [];
  if (kinds.length === 0) return '';
  const last = kinds.map((kind) => lastOf(checks, ({ call }) => kind.test(call)));
  const failed = last.find(
    (one) => one !== undefined && !hasPassed(one) && one.resolution === undefined,
  );
  if (state === 'done')
    return failed?.at === undefined ? '' : ` (but the last run failed, ${messages([failed.at])})`;
  const passed = last.flatMap((one) =>
    one?.at !== undefined && one.at > statedAt && hasPassed(one) && saysPassed(one) ? [one.at] : [],
  );
  return passed.length < kinds.length ? '' : ` (passed since: ${messages(passed)})`;
}
