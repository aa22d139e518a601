import type { Redact } from '../../summary/redact.ts';
import { flat, isImport } from '../quotes/quote.ts';
import type { Replacement } from './changes.ts';

const LONGEST_CHARS = 90;
/** A line that has nothing in common with the one in its place says something if it is so long. */
const [LEAST_CHARS, SHORT_CHARS] = [4, 45];
const MOST_LINES = 2;
/** A line that says nothing without those around it, or a comment. */
const BARE =
  /^(?:\W*|(?:else|return|break|continue|end|try|pass)\W*|(?:\/\/|#|\*|\/\*|--|"""|''').*)$/;

/**
 * What a small edit changes of a line, as "old → new", or the lines that it only takes away. What it adds is shown as a
 * block. Secrets are found in the whole text: a part of a line may hide that it is one.
 */
export function lineChanges({ before, after }: Replacement, redact: Redact): readonly string[] {
  return changedLines(before, after).length === 0
    ? []
    : changedLines(redact(before), redact(after));
}

/** The first line that an edit of a file adds and that says something, if it is short. */
export function addedLine({ before, after }: Replacement, redact: Redact): string | undefined {
  if (before.trim() === '') return undefined;
  const [line] = without(tellingLines(redact(after)), tellingLines(redact(before)));
  return line !== undefined && line.length <= LONGEST_CHARS ? line : undefined;
}

function changedLines(before: string, after: string): readonly string[] {
  const [old, now] = [tellingLines(before), tellingLines(after)];
  const removed = without(old, now);
  const added = without(now, old);
  const [from, to] = [removed[0], added[0]];
  if (from !== undefined && to !== undefined)
    return removed.length + added.length === 2 ? short(wordChange(from, to)) : [];
  return to !== undefined || removed.length > MOST_LINES
    ? []
    : short(removed.map((line) => `− ${line}`));
}

const tellingLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map(flat)
    .filter((line) => !BARE.test(line) && !isImport(line));

const short = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line.length <= LONGEST_CHARS);

/** Some lines without those that are among others, as often as they are there. */
function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const times = left.get(line) ?? 0;
    left.set(line, times - 1);
    return times <= 0;
  });
}

/**
 * The part of a line that changed, in whole words: "time.Now() → time.Now().UTC()". Of lines with nothing in common both
 * are shown, if they are short.
 */
function wordChange(before: string, after: string): readonly string[] {
  const [old, now] = [before.split(/\s+/), after.split(/\s+/)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old.at(-1 - end) === now.at(-1 - end)
  )
    end++;
  if (start + end === 0)
    return [before, after].every(({ length }) => length > LEAST_CHARS && length <= SHORT_CHARS)
      ? [`${before} → ${after}`]
      : [];
  let from = old.slice(start, old.length - end).join(' ');
  let to = now.slice(start, now.length - end).join(' ');
  if (from === '' || to === '') return [`${before} → ${after}`];
  while (from.length > 1 && to.length > 1 && from.at(-1) === to.at(-1) && endsForOther(from))
    [from, to] = [from.slice(0, -1), to.slice(0, -1)];
  return [`${from} → ${to}`];
}

/** True if the last character belongs to what is around a part of a line: a comma, or a bracket that the part does not open. */
function endsForOther(part: string): boolean {
  const opens = part.match(/[([{]/g)?.length ?? 0;
  const closes = part.match(/[)\]}]/g)?.length ?? 0;
  return /[,;:]$/.test(part) || (/[)\]}]$/.test(part) && closes > opens);
}
