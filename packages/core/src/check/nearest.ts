import { sorted } from './list.ts';
/** ` (did you mean openai?)` if one of some names is near to what was given; otherwise nothing. */
export function didYouMean(given: string, names: readonly string[]): string {
  const meant = nearest(given, names);
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

/** The name that was probably meant, if any: it differs by few typing errors, or one begins with the other. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const said = given.toLowerCase();
  const [best] = sorted(
    names.map((name) => ({ name, slips: slipsBetween(said, name.toLowerCase()) })),
    (a, b) => a.slips - b.slips,
  );
  if (best !== undefined && best.slips <= Math.max(1, best.name.length / 3)) return best.name;
  return names.find((name) => beginsWith(said, name.toLowerCase()));
}

const SHORTEST_BEGINNING = 4;

function beginsWith(a: string, b: string): boolean {
  return Math.min(a.length, b.length) >= SHORTEST_BEGINNING && (a.startsWith(b) || b.startsWith(a));
}

/** How many typing errors lead from one word to another: an extra, missing or wrong letter, or two exchanged. */
function slipsBetween(a: string, b: string): number {
  let before: readonly number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const wrong = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const slips = Math.min(wrong, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(exchanged ? Math.min(slips, (before[j - 2] ?? 0) + 1) : slips);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
