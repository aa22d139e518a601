import type { Clock } from '../ports.ts';

/** Few enough to be worked through in a moment, many enough that the pauses between cost little. */
const AT_ONCE = 500;

/** Works through a list in parts with pauses between them, so that a process goes on with its other work meanwhile. */
export async function inParts<Item>(
  items: readonly Item[],
  clock: Clock,
  work: (part: readonly Item[]) => unknown,
): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    if (from > 0) await clock.pause?.();
    work(items.slice(from, from + AT_ONCE));
  }
}
