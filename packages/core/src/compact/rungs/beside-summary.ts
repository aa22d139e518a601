import { sorted } from '../../check/list.ts';
import type { MessageId } from '../../message/message.ts';
import type { PlanRecord } from '../../plan/plan.ts';
import { spanOf } from '../../thread/thread.ts';
import type { Entry } from '../draft.ts';
import type { Effects, Proposal, RungContext } from './rung.ts';
import { shorten } from './shorten.ts';

/** The share of the target that a summary gets at least: large messages that stay are shortened for it. */
const FLOOR_SHARE = 0.5;

/** Marks the proposals that free space for a summary. */
export const SHORTENS: string = 'summarize-shorten';
/** A message that stays is shortened for a summary only above this share of the target. */
export const LARGE_SHARE: number = 0.25;
/** … and above this one for an account that already exists. */
const LARGE_BESIDE_ACCOUNT_SHARE = 0.05;

const BESIDE_ACCOUNT = { share: LARGE_BESIDE_ACCOUNT_SHARE, tokens: Number.POSITIVE_INFINITY };

/** The messages that stay next to a summary, the largest first. */
function besideSummary({ draft }: RungContext, covered: ReadonlySet<MessageId>): readonly Entry[] {
  return sorted(
    draft.entries.filter(
      (entry) => !covered.has(entry.node.id) && !draft.isGone(entry) && !entry.pending,
    ),
    (a, b) => draft.cost(b) - draft.cost(a) || a.node.index - b.node.index,
  );
}

/**
 * Shortens the largest messages that stay to a share of the target, until so many tokens are free. What no model has
 * read yet stays whole, except in a single prompt of a given size.
 */
export function shorteningProposals(
  context: RungContext,
  covered: ReadonlySet<MessageId>,
  { share, tokens }: { readonly share: number; readonly tokens: number },
): readonly Proposal[] {
  const { draft, targetTokens, limitTokens, sent } = context;
  const least = Math.floor(targetTokens * share);
  const unreadFrom = targetTokens < limitTokens ? sent : Number.POSITIVE_INFINITY;
  let excess = tokens;
  return besideSummary(context, covered).flatMap((entry) => {
    if (entry.pinned || entry.node.index >= unreadFrom) return [];
    const span = spanOf([entry.node]);
    const cost = draft.cost(entry);
    const tokensFreed = Math.min(excess, cost - least);
    if (span === undefined || tokensFreed <= 0) return [];
    excess -= tokensFreed;
    return [
      {
        strategy: SHORTENS,
        span,
        tokensFreed,
        reason: `${cost} tokens in one message beside a summary`,
      },
    ];
  });
}

/** A single prompt is read once: there an account is worth more than the length of the newest messages. */
export function besideAccount(
  context: RungContext,
  covered: ReadonlySet<MessageId>,
): readonly Proposal[] {
  const { targetTokens, limitTokens } = context;
  return targetTokens < limitTokens ? [] : shorteningProposals(context, covered, BESIDE_ACCOUNT);
}

/** By how much the messages that stay exceed what leaves a summary its floor. */
export function floorExcess(
  context: RungContext,
  covered: ReadonlySet<MessageId>,
  wantedTokens: number,
): number {
  const { draft, targetTokens } = context;
  const kept = besideSummary(context, covered).reduce((sum, entry) => sum + draft.cost(entry), 0);
  return kept + Math.min(wantedTokens, targetTokens * FLOOR_SHARE) - targetTokens;
}

/** Shortens a message as far as the target still asks for it. */
export function shortenToTarget(
  proposal: Proposal,
  context: RungContext,
  effects: Effects,
): Promise<PlanRecord | undefined> {
  const { draft, targetTokens } = context;
  const tokensFreed = Math.min(proposal.tokensFreed, draft.tokens - targetTokens);
  return tokensFreed <= 0
    ? Promise.resolve(undefined)
    : shorten({ ...proposal, tokensFreed }, context, effects);
}
