import type { Counter } from '../tokens/counter.ts';
import { namesIn, sentencesOf } from '../extract/anchors/names.ts';
import { fitSummary } from '../summary/render.ts';
import type { Summary } from '../plan/summary.ts';

interface Room {
  readonly truth: Summary;
  readonly maxTokens: number;
  readonly counter: Counter;
}

/** The most of the room that an account may take which names as much per token as the extract does. */
const SHARE = 0.25;

/**
 * Cuts a model's account to what it may cost. It stays whole where it displaces no exact string that the extract would
 * have shown in the same room, or where it is as dense in true names as the extract, up to a quarter of the room; else
 * as many of its first sentences stay as displace nothing. So a summary never says less by name than the extract does,
 * unless what the account names in its place is worth as much.
 */
export function withinRoom(summary: Summary, room: Room): Summary {
  const { prose } = summary;
  if (prose === null || prose === room.truth.prose) return summary;
  const { truth, maxTokens, counter } = room;
  const bare = fitSummary(truth, maxTokens, counter) ?? '';
  const needed = namesIn(bare);
  const displaces = (account: string | null): boolean => {
    const named = namesIn(fitSummary({ ...summary, prose: account }, maxTokens, counter) ?? '');
    return [...needed].some((name) => !named.has(name));
  };
  if (!displaces(prose)) return summary;
  const isDense = density(prose, needed, counter) >= density(bare, needed, counter);
  const account = isDense
    ? longest(prose, (text) => counter.text(text) <= maxTokens * SHARE)
    : longest(prose, (text) => !displaces(text));
  return { ...summary, prose: account };
}

/** How many of some names a text holds for each of its tokens. */
function density(text: string, names: ReadonlySet<string>, counter: Counter): number {
  const held = [...namesIn(text)].filter((name) => names.has(name)).length;
  return held / Math.max(1, counter.text(text));
}

/** The most first sentences of a text that pass a test which shorter texts pass more easily; null where none does. */
function longest(text: string, passes: (text: string) => boolean): string | null {
  const lines = text.split('\n').map(sentencesOf);
  const total = lines.reduce((sum, sentences) => sum + sentences.length, 0);
  const first = (most: number): string => {
    let left = most;
    return lines
      .map((sentences) => {
        const taken = sentences.slice(0, Math.max(0, left));
        left -= taken.length;
        return taken.join(' ');
      })
      .join('\n')
      .trim();
  };
  let low = 0;
  let high = total;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (passes(first(middle))) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? null : first(low);
}
