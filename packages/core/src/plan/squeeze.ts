import { spanOf } from '../thread/span.ts';
import type { Draft, Entry } from './draft.ts';
import { excerptRecord, moveToArtifact, type Ends } from './externalize.ts';
import { seated } from './seat.ts';
import type { PlanRecord } from './plan.ts';
import type { Hands, Proposal, Situation, Strategy } from './strategy.ts';

export interface SqueezeOptions {
  /**
   * What may be shortened: all but pins; pins, when they alone exceed the budget, so that they leave half of the room to
   * the rest; or pins, when nothing else is left.
   */
  readonly reach: 'loose' | 'oversized-pins' | 'pins';
  /** No message is made smaller than this. */
  readonly floorTokens: number;
}

const SHARE_OF_OVERSIZED_PINS = 0.5;

/**
 * Shortens the largest messages to one common size, so that the whole fits: head and tail stay in the seat, the whole
 * goes to an artifact. It makes any one result, any one turn, fit any budget.
 */
export function squeeze({ reach, floorTokens }: SqueezeOptions): Strategy {
  const name = reach === 'loose' ? 'squeeze' : 'squeeze-pins';
  return {
    name,
    aggressiveness: reach === 'loose' ? 5 : 6,
    propose(situation) {
      const { draft } = situation;
      const entries = candidates(situation, reach);
      const level = Math.max(
        floorTokens,
        waterLevel(roomFor(situation, entries, reach), entries, draft),
      );
      return entries.flatMap((entry) => {
        const span = spanOf([entry.node]);
        const cost = draft.cost(entry);
        if (span === undefined || cost <= level) return [];
        const tokensFreed = cost - Math.max(level, leastCost(situation, entry));
        const reason = `${cost} tokens in one message`;
        return tokensFreed <= 0 ? [] : [{ strategy: name, span, tokensFreed, reason }];
      });
    },
    execute: shorten,
  };
}

/** What the candidates may cost together. */
function roomFor(
  { draft, targetTokens }: Situation,
  entries: readonly Entry[],
  reach: SqueezeOptions['reach'],
): number {
  const total = entries.reduce((sum, entry) => sum + draft.cost(entry), 0);
  if (reach !== 'oversized-pins') return targetTokens - (draft.tokens - total);
  return total > targetTokens ? targetTokens * SHARE_OF_OVERSIZED_PINS : total;
}

/** Carries a proposal out: the message keeps what it may cost after `tokensFreed` are gone. */
export function shorten(
  proposal: Proposal,
  situation: Situation,
  hands: Hands,
): Promise<PlanRecord | undefined> {
  const entry = situation.draft.entry(proposal.span.ids[0]);
  if (entry === undefined) return Promise.resolve(undefined);
  const room = situation.draft.cost(entry) - proposal.tokensFreed;
  return moveToArtifact(proposal, situation, hands, endsWithin(situation, entry, room));
}

/** The largest first, so that as few as possible are touched. */
function candidates({ draft }: Situation, reach: SqueezeOptions['reach']): readonly Entry[] {
  return draft.entries
    .filter((entry) => !draft.isGone(entry) && (reach !== 'loose') === entry.pinned)
    .toSorted((a, b) => draft.cost(b) - draft.cost(a) || a.node.index - b.node.index);
}

/** The size to which the largest must be cut so that all of them cost at most `room` together. */
function waterLevel(room: number, entries: readonly Entry[], draft: Draft): number {
  let left = room;
  for (let i = entries.length - 1; i >= 0; i--) {
    const cost = draft.cost(entries[i] as Entry);
    const level = Math.floor(left / (i + 1));
    if (cost > level) return Math.max(0, level);
    left -= cost;
  }
  return Number.POSITIVE_INFINITY;
}

/** What an entry costs as a bare pointer. */
function leastCost({ draft, counter }: Situation, entry: Entry): number {
  return counter.message(seated(entry.message, excerptRecord(draft, entry, ends(0))));
}

/** The longest ends of an entry that cost at most `room`, found by halving. */
function endsWithin({ draft, counter }: Situation, entry: Entry, room: number): Ends {
  const record = excerptRecord(draft, entry, ends(0));
  let low = 0;
  let high = JSON.stringify(entry.message.parts).length;
  while (low < high) {
    const chars = Math.ceil((low + high) / 2);
    const cost = counter.message(seated(entry.message, { ...record, ...ends(chars) }));
    if (cost <= room) low = chars;
    else high = chars - 1;
  }
  return ends(low);
}

/** Two thirds of the characters at the head, one third at the tail. */
function ends(chars: number): Ends {
  return { headChars: Math.ceil((chars * 2) / 3), tailChars: Math.floor(chars / 3) };
}
