import { sorted } from '../../check/list.ts';
import { hasResults } from '../../message/message.ts';
import { spanOf } from '../../thread/thread.ts';
import type { Entry } from '../draft.ts';
import { NOTHING } from '../../render/excerpt.ts';
import { excerptRecord } from '../artifact-record.ts';
import { inPlace } from '../../render/record.ts';
import { shorten } from './shorten.ts';
import type { RungContext, Rung } from './rung.ts';

export interface SqueezeOptions {
  /**
   * Which messages may be shortened. `'read'`: messages that are no pins and that a model has read. `'loose'`: all
   * messages but pins. `'oversized-pins'`: pins, if together they are too large. `'pins'`: all pins.
   */
  readonly reach: 'read' | 'loose' | 'oversized-pins' | 'pins';
  /** No message becomes smaller than this. */
  readonly floorTokens: number;
  /**
   * The largest share of the target that pins keep if they alone exceed the limit. If absent, they keep as much as
   * fits.
   */
  readonly pinShare?: number;
  /** Pins are too large if together they exceed this share of the limit. If absent, the share is 1. */
  readonly oversizedShare?: number;
}

/** What is not pinned keeps at most this share of the limit if pins exceed it. */
const SHARE_OF_OTHERS = 0.25;
/** If there is next to nothing else, pins keep most of the limit regardless of their share. */
const SHARE_ALONE = 0.6;
const NEXT_TO_NOTHING = 0.15;
/** The name of the rung that touches pins: its caller says so. */
export const SHORTENS_PINS = 'squeeze-pins';

/**
 * Shortens the largest messages to one common size, so that the prompt fits. The beginning and the end of each message
 * stay, and its whole content becomes an artifact. With this rung, even a single huge result fits any budget.
 */
export function squeeze(options: SqueezeOptions): Rung {
  const { reach, floorTokens, pinShare } = options;
  const name = reach === 'loose' || reach === 'read' ? 'squeeze' : SHORTENS_PINS;
  return {
    name,
    propose(context) {
      const all = oversized(context, candidates(context, reach), options);
      if (all.length === 0) return [];
      const most =
        pinShare === undefined
          ? spaceFor(context, all, reach)
          : sharedSpace(context, all, pinShare);
      if (costOf(all) <= most) return [];
      const { found, space } = withoutSystem(context, all, most);
      const { level, cut } = leveled(context, found, space, floorTokens);
      return cut.flatMap(({ entry, cost, least }) => {
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

/** Pins that are too large together; system messages hold the rules, and count only if all exceed the limit. */
function oversized(
  { limitTokens }: RungContext,
  all: readonly Candidate[],
  { reach, oversizedShare = 1 }: SqueezeOptions,
): readonly Candidate[] {
  if (reach !== 'oversized-pins' || costOf(all) > limitTokens) return all;
  const others = all.filter(({ entry }) => entry.message.role !== 'system');
  return costOf(others) > limitTokens * oversizedShare ? others : [];
}

/** A message that may be shortened, and what it costs now. */
interface Candidate {
  readonly entry: Entry;
  readonly cost: number;
}

/** … and what it would cost as a bare pointer. */
interface Priced extends Candidate {
  readonly least: number;
}

/** A pointer costs about this: smaller messages cannot be shortened. Reasoning can, because it leaves no pointer. */
const POINTER_TOKENS = 24;

/** The largest first, so that as few as possible are touched. */
function candidates(context: RungContext, reach: SqueezeOptions['reach']): readonly Candidate[] {
  const { draft, sent } = context;
  const takesPins = reach === 'oversized-pins' || reach === 'pins';
  const isUnread = ({ node, message }: Entry): boolean => node.index >= sent && hasResults(message);
  return sorted(
    draft.entries
      .filter((entry) => !draft.isGone(entry) && takesPins === entry.pinned)
      .filter((entry) => reach !== 'read' || !isUnread(entry))
      .map((entry) => ({ entry, cost: draft.cost(entry) })),
    (a, b) => b.cost - a.cost || a.entry.node.index - b.entry.node.index,
  );
}

function withLeast({ draft, counter }: RungContext, { entry, cost }: Candidate): Priced {
  if (cost <= POINTER_TOKENS && !entry.message.parts.some(({ kind }) => kind === 'reasoning'))
    return { entry, cost, least: cost };
  const least = counter.message(
    inPlace(entry.message, excerptRecord(draft, entry, NOTHING), draft.style),
  );
  return { entry, cost, least: Math.min(cost, least) };
}

/** The size that no candidate may exceed except by its pointer, and the candidates above it. */
interface Leveled {
  readonly level: number;
  readonly cut: readonly Priced[];
}

/**
 * A pointer's price takes a hash and a description, so those above the level are priced first, as if pointers were
 * free: if none of them costs more than the level, the rest are below it at any price.
 */
function leveled(
  context: RungContext,
  found: readonly Candidate[],
  space: number,
  floorTokens: number,
): Leveled {
  const above = (level: number): readonly Priced[] =>
    found.filter(({ cost }) => cost > level).map((each) => withLeast(context, each));
  const free = found.map((each) => ({ ...each, least: 0 }));
  const highest = Math.max(floorTokens, waterLevel(space, free));
  const cut = above(highest);
  if (highest === floorTokens || cut.every(({ least }) => least <= highest))
    return { level: highest, cut };
  const priced = above(floorTokens);
  const small = found.slice(priced.length).map((each) => ({ ...each, least: each.cost }));
  return { level: Math.max(floorTokens, waterLevel(space, [...priced, ...small])), cut: priced };
}

/** What the candidates may cost together: pins give way only as far as the limit requires. */
function spaceFor(
  { draft, targetTokens, limitTokens }: RungContext,
  found: readonly Candidate[],
  reach: SqueezeOptions['reach'],
): number {
  const others = draft.tokens - costOf(found);
  if (reach !== 'oversized-pins') return targetTokens - others;
  return limitTokens - Math.min(others, limitTokens * SHARE_OF_OTHERS);
}

/** Pins that leave most of the space to the rest, if there is a rest. */
function sharedSpace(
  { draft, targetTokens, limitTokens }: RungContext,
  found: readonly Candidate[],
  pinShare: number,
): number {
  const others = draft.tokens - costOf(found);
  if (others > limitTokens * NEXT_TO_NOTHING) return targetTokens * pinShare;
  return targetTokens >= limitTokens ? limitTokens - others : limitTokens * SHARE_ALONE;
}

/** System messages hold the rules: they are shortened only if nothing else can free the space. */
function withoutSystem(
  context: RungContext,
  all: readonly Candidate[],
  space: number,
): { readonly found: readonly Candidate[]; readonly space: number } {
  const found = all.filter(({ entry }) => entry.message.role !== 'system');
  const left = space - (costOf(all) - costOf(found));
  const least = found.reduce((sum, each) => sum + withLeast(context, each).least, 0);
  return least <= left ? { found, space: left } : { found: all, space };
}

function costOf(found: readonly Candidate[]): number {
  return found.reduce((sum, { cost }) => sum + cost, 0);
}

/** The greatest size to which the largest must be cut so that all of them cost at most `space` together. */
function waterLevel(space: number, found: readonly Priced[]): number {
  let low = 0;
  let high = found[0]?.cost ?? 0;
  while (low < high) {
    const level = Math.ceil((low + high) / 2);
    const total = found.reduce(
      (sum, { cost, least }) => sum + Math.max(least, Math.min(cost, level)),
      0,
    );
    if (total <= space) low = level;
    else high = level - 1;
  }
  return low;
}
