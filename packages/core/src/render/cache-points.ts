import { sorted } from '../check/list.ts';
import type { Budget } from '../tokens/budget.ts';
import type { Counter } from '../tokens/counter.ts';
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

export interface CachePointOptions {
  readonly counter: Counter;
  readonly cacheLimits?: CacheLimits;
  /** Tools and system prompt come before the messages in what a provider caches; none if absent. */
  readonly budget?: Pick<Budget, 'systemTokens' | 'toolTokens'>;
}

/** Where turns and rounds start in a prompt. */
interface Starts {
  readonly turns: readonly number[];
  readonly rounds: readonly number[];
}

/**
 * Where a provider should cache: after the previous turn, after round N−4, and at the tail. Fewer if the provider takes
 * fewer, the most useful first: tail, previous turn, earlier round.
 */
export function cachePoints(
  messages: readonly PromptMessage[],
  { turns, rounds }: Starts,
  options: CachePointOptions,
): readonly number[] {
  const { cacheLimits: limits = DEFAULT_CACHE_LIMITS } = options;
  const turn = turns.at(-1);
  const round = rounds.length > OFFSET_ROUNDS ? rounds.at(-OFFSET_ROUNDS) : undefined;
  const wanted = [messages.length - 1, before(turn), before(round)];
  const chosen = new Set<number>();
  for (const point of wanted) {
    if (chosen.size < limits.markers && point !== undefined && point >= 0) chosen.add(point);
  }
  const reachesMinimum = minimumPosition(messages, options, limits.minimumTokens);
  const points = [...chosen].filter((point) => point >= reachesMinimum);
  return sorted(points, (a, b) => a - b);
}

function before(position: number | undefined): number | undefined {
  return position === undefined || position === 0 ? undefined : position - 1;
}

/** The first position at which the prefix is large enough; found within the first few messages of a long prompt. */
function minimumPosition(
  messages: readonly PromptMessage[],
  { counter, budget }: CachePointOptions,
  tokens: number,
): number {
  let sum = budget === undefined ? 0 : budget.systemTokens + budget.toolTokens;
  for (let i = 0; i < messages.length; i++) {
    sum += counter.message((messages[i] as PromptMessage).message);
    if (sum >= tokens) return i;
  }
  return messages.length;
}
