import { spanOf } from '../thread/span.ts';
import type { Entry } from './draft.ts';
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
      const found = candidates(situation, reach);
      const level = Math.max(floorTokens, waterLevel(roomFor(situation, found, reach), found));
      return found.flatMap(({ entry, cost, least }) => {
        const span = spanOf([entry.node]);
        const tokensFreed = cost - Math.max(level, least);
        if (span === undefined || tokensFreed <= 0) return [];
        const reason = `${cost} tokens in one message`;
        return [{ strategy: name, span, tokensFreed, reason }];
      });
    },
    execute: shorten,
  };
}

/** A message that may be shortened: what it costs now, and what it would cost as a bare pointer. */
interface Candidate {
  readonly entry: Entry;
  readonly cost: number;
  readonly least: number;
}

/** A pointer costs about this: smaller messages cannot be shortened. */
const POINTER_TOKENS = 24;

/** The largest first, so that as few as possible are touched. */
function candidates(situation: Situation, reach: SqueezeOptions['reach']): readonly Candidate[] {
  const { draft, counter } = situation;
  return draft.entries
    .filter((entry) => !draft.isGone(entry) && (reach !== 'loose') === entry.pinned)
    .map((entry) => {
      const cost = draft.cost(entry);
      const record = cost > POINTER_TOKENS ? excerptRecord(draft, entry, ends(0)) : undefined;
      const least = record === undefined ? cost : counter.message(seated(entry.message, record));
      return { entry, cost, least: Math.min(cost, least) };
    })
    .toSorted((a, b) => b.cost - a.cost || a.entry.node.index - b.entry.node.index);
}

/** What the candidates may cost together. */
function roomFor(
  { draft, targetTokens }: Situation,
  found: readonly Candidate[],
  reach: SqueezeOptions['reach'],
): number {
  const total = found.reduce((sum, { cost }) => sum + cost, 0);
  if (reach !== 'oversized-pins') return targetTokens - (draft.tokens - total);
  return total > targetTokens ? targetTokens * SHARE_OF_OVERSIZED_PINS : total;
}

/** The greatest size to which the largest must be cut so that all of them cost at most `room` together. */
function waterLevel(room: number, found: readonly Candidate[]): number {
  let low = 0;
  let high = found[0]?.cost ?? 0;
  while (low < high) {
    const level = Math.ceil((low + high) / 2);
    const total = found.reduce(
      (sum, { cost, least }) => sum + Math.max(least, Math.min(cost, level)),
      0,
    );
    if (total <= room) low = level;
    else high = level - 1;
  }
  return low;
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

const MOST_CHARS_A_TOKEN = 16;

/** The longest ends of an entry that cost at most `room`, found by halving. */
function endsWithin({ draft, counter }: Situation, entry: Entry, room: number): Ends {
  const record = excerptRecord(draft, entry, ends(0));
  let low = 0;
  let high = Math.min(room * MOST_CHARS_A_TOKEN, JSON.stringify(entry.message.parts).length);
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
