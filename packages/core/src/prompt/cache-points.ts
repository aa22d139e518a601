import type { Counter } from '../tokens/counter.ts';
import type { Landmarks } from './builder.ts';
import type { PromptMessage } from './prompt.ts';

/** What a provider allows of cache markers. Figures are data. */
export interface CacheLimits {
  /** How many markers the messages may hold; those for tools and system are counted apart. */
  readonly markers: number;
  /** A prefix shorter than this is not cached. */
  readonly minimumTokens: number;
}

export const DEFAULT_CACHE_LIMITS: CacheLimits = { markers: 3, minimumTokens: 1024 };
const OFFSET_ROUNDS = 4;

/**
 * Where a provider should cache: behind the previous turn, behind round N−4, and at the tail (E13). Fewer where the
 * provider takes fewer, the most useful first: tail, previous turn, earlier round.
 */
export function cachePoints(
  messages: readonly PromptMessage[],
  landmarks: Landmarks,
  counter: Counter,
  limits: CacheLimits = DEFAULT_CACHE_LIMITS,
): readonly number[] {
  const turn = landmarks.turns.at(-1);
  const round = landmarks.rounds.at(-OFFSET_ROUNDS);
  const wanted = [messages.length - 1, before(turn), before(round)];
  const chosen = new Set<number>();
  for (const point of wanted) {
    if (chosen.size < limits.markers && point !== undefined && point >= 0) chosen.add(point);
  }
  const reachesMinimum = minimumPosition(messages, counter, limits.minimumTokens);
  return [...chosen].filter((point) => point >= reachesMinimum).toSorted((a, b) => a - b);
}

function before(position: number | undefined): number | undefined {
  return position === undefined || position === 0 ? undefined : position - 1;
}

/** The first position at which the prefix is large enough; found within the first few messages of a long prompt. */
function minimumPosition(
  messages: readonly PromptMessage[],
  counter: Counter,
  tokens: number,
): number {
  let sum = 0;
  for (let i = 0; i < messages.length; i++) {
    sum += counter.message((messages[i] as PromptMessage).message);
    if (sum >= tokens) return i;
  }
  return messages.length;
}
