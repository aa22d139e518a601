import { jsonText } from '../../message/json.ts';
import type { Message } from '../../message/message.ts';
import type { Draft, Entry } from '../draft.ts';
import { ends, NOTHING, partText, type Remainder } from '../../render/excerpt.ts';
import { excerptRecord, moveToArtifact, type Shortened } from '../artifact-record.ts';
import type { PlanRecord } from '../../plan/plan.ts';
import { inPlace } from '../../render/record.ts';
import type { Effects, Proposal, RungContext } from './rung.ts';
import { chosenExcerpt } from '../excerpt-choice.ts';

/** Carries a proposal out: the message keeps what it may cost after `tokensFreed` are gone. */
export function shorten(
  proposal: Proposal,
  context: RungContext,
  effects: Effects,
): Promise<PlanRecord | undefined> {
  const entry = context.draft.entry(proposal.span.ids[0]);
  if (entry === undefined) return Promise.resolve(undefined);
  const space = context.draft.cost(entry) - proposal.tokensFreed;
  return moveToArtifact(proposal, context, effects, within(context, entry, space));
}

const MOST_CHARS_A_TOKEN = 16;
/** A size is found to this fraction of itself: each size that is tried is counted whole. */
const FINE = 512;

/** As much of an entry as costs at most `space`: what is needed most, or otherwise its ends, found by halving. */
function within({ draft, counter }: RungContext, entry: Entry, space: number): Shortened {
  const reasoning = loopReasoning(draft, entry, space);
  const record = excerptRecord(draft, entry, { ...NOTHING, ...reasoning });
  const cost = (kept: Remainder): number =>
    counter.message(inPlace(entry.message, { ...record, ...kept }, draft.style));
  let low = 0;
  let high = charsWithin(entry.message, space * MOST_CHARS_A_TOKEN);
  while (high - low > low / FINE) {
    const chars = Math.ceil((low + high) / 2);
    if (cost(ends(entry.message, chars)) <= space) low = chars;
    else high = chars - 1;
  }
  for (const share of CLOSER) {
    const kept = chosenExcerpt(draft, entry, Math.floor(low * share));
    if (cost(kept) <= space) return { ...kept, ...reasoning };
  }
  return { ...ends(entry.message, low), ...reasoning };
}

/** A choice may cost a little more than the two ends: less of it is tried before them. */
const CLOSER = [1, 0.95, 0.9, 0.75, 0.6];

/** The reasoning of a running turn stays if there is space for it. */
function loopReasoning(
  draft: Draft,
  entry: Entry,
  space: number,
): Pick<Shortened, 'keepsReasoning'> {
  if (!draft.keepsReasoning(entry)) return {};
  const bare = excerptRecord(draft, entry, { ...NOTHING, keepsReasoning: true });
  const tokens = draft.counter.message(inPlace(entry.message, bare, draft.style));
  return tokens <= space ? { keepsReasoning: true } : {};
}

/** How long a message is as JSON, or `most` if it is longer; the length of its texts alone often decides. */
function charsWithin({ parts }: Message, most: number): number {
  const least = parts.reduce((sum, part) => sum + partText(part).length, 0);
  return least >= most ? most : Math.min(most, jsonText(parts).length);
}
