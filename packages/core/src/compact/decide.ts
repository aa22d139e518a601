import { rewritePays } from '../plan/economics.ts';
import type { Plan } from '../plan/plan.ts';
import {
  firedBecause,
  firesOnFloor,
  mustAct,
  type PromptSize,
  type TriggerInput,
} from '../plan/trigger.ts';
import { besideMessages, messageLimit } from '../tokens/budget.ts';
import type { CompactorConfig } from './compaction.ts';
import { aimOf } from './policy.ts';

export type Decision =
  | { readonly kind: 'rest' }
  | { readonly kind: 'postpone'; readonly reason: string }
  | { readonly kind: 'compact'; readonly reason: string };

/** What is known of the prompt in addition to its figures. */
export interface Since {
  /** The provider's cache has expired. */
  readonly cold: boolean;
  /** Nothing was said since the plan was made. */
  readonly settled: boolean;
  /** What the last compaction left, or what no compaction may touch if that is more. */
  readonly floor: PromptSize;
}

/**
 * Whether to compact now: the trigger decides, hysteresis and economics may postpone, and what no longer fits must be
 * compacted. If no message came since the plan was made, the trigger has already been answered.
 */
export function decide(
  config: CompactorConfig,
  check: TriggerInput,
  plan: Plan,
  { cold, settled, floor }: Since,
): Decision {
  if (mustAct(check))
    return {
      kind: 'compact',
      reason: `${check.tokens} tokens > limit ${messageLimit(check.budget)}`,
    };
  const { trigger, economics, stop } = config.policy;
  const reason = firedBecause(trigger, check);
  if (reason === undefined || settled || plan.undid !== undefined) return { kind: 'rest' };
  const target = aimOf(config.policy, check.budget);
  if (stop === 'at-target' && check.tokens <= target - unseenTokens(check)) return { kind: 'rest' };
  if (firesOnFloor(trigger, check, floor))
    return { kind: 'postpone', reason: `${reason}, but hardly any of it can be freed` };
  if (economics === undefined) return { kind: 'compact', reason };
  const pays = rewritePays({
    prices: economics.prices,
    rewrittenTokens: check.tokens,
    tokensFreed: check.tokens - Math.max(target, floor.tokens),
    requestsToCome: economics.requestsToCome,
    cold,
  });
  return pays
    ? { kind: 'compact', reason }
    : { kind: 'postpone', reason: `${reason}, but a rewrite does not pay yet` };
}

/** What the provider counted beyond all that is known of the request: a target that ignores it frees nothing. */
export function unseenTokens({ tokens, contextTokens, budget }: TriggerInput): number {
  return Math.max(0, contextTokens - tokens - besideMessages(budget));
}
