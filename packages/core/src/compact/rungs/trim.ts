import type { JsonObject } from '../../message/json.ts';
import { callsOf, hasResults, resultsOf, type MessageId } from '../../message/message.ts';
import { preservedFields } from '../../plan/durability.ts';
import { isLongCall, isLongResult, parseTrimLimits, type TrimLimits } from '../../plan/trim-figures.ts';
import { NOTHING, type Remainder } from '../../render/excerpt.ts';
import { inPlace } from '../../render/in-place.ts';
import { spanOf } from '../../thread/span.ts';
import { excerptRecord, moveToArtifact, type Shortened } from '../artifact-record.ts';
import type { Entry } from '../draft.ts';
import { excerptsTogether } from '../excerpt-choice.ts';
import type { Proposal, Rung, RungContext } from './rung.ts';

/** Every stand-in has its first line, and its last, which tells how it ended. */
const FIRST_LINE_CHARS = 80;
const LAST_LINE_CHARS = 60;
/** A message that would hardly become shorter stays as it is. */
const LEAST_FREED_SHARE = 0.2;

/**
 * Shortens results and arguments in place, in batches: a batch begins where the last one ended and reaches up to the
 * newest results. Of each the lines stay that are most likely to be needed; the whole goes to an artifact.
 */
export function trim(options: Partial<TrimLimits> = {}): Rung & { readonly limits: TrimLimits } {
  const limits = parseTrimLimits(options);
  const chosen = new WeakMap<RungContext, ReadonlyMap<MessageId, Shortened>>();
  return {
    name: 'trim',
    limits,
    wholeBatch: true,
    propose(context) {
      const end = batchEnd(context, limits);
      const remainders = shortenedWithin(context, end, limits);
      chosen.set(context, remainders);
      const proposals = [...remainders].flatMap(([id, kept]) => proposeOne(context, id, kept));
      if (proposals.length > 0) context.draft.trimmedTo = end;
      return proposals;
    },
    execute(proposal, context, effects) {
      const kept = chosen.get(context)?.get(proposal.span.ids[0]) ?? NOTHING;
      return moveToArtifact(proposal, context, effects, kept);
    },
  };
}

/** The index of the first message that stays whole: the unit that holds the oldest of the newest results. */
function batchEnd({ draft, sent }: RungContext, { keepResults }: TrimLimits): number {
  let results = 0;
  for (let i = draft.entries.length - 1; i >= 0; i--) {
    const entry = draft.entries[i] as Entry;
    results += resultsOf(entry.message).length;
    if (results >= keepResults) {
      const start = draft.entries[entry.unit]?.node.index ?? 0;
      return Math.min(start, sent);
    }
  }
  return 0;
}

/** What stays of each message of the batch. */
function shortenedWithin(
  context: RungContext,
  end: number,
  limits: TrimLimits,
): ReadonlyMap<MessageId, Shortened> {
  const remainders = chooseRemainders(context, end, limits);
  return new Map(
    [...remainders].map(([id, kept]) => {
      const entry = context.draft.entry(id);
      const preserved = entry === undefined ? undefined : preservedBy(entry, context);
      return [id, { ...kept, trimmed: true, ...(preserved === undefined ? {} : { preserved }) }];
    }),
  );
}

/** Fields that the tools of an entry's results ask to preserve, by call id. */
function preservedBy({ message }: Entry, { tools }: RungContext): JsonObject | undefined {
  const fields = resultsOf(message).flatMap((result): readonly [string, JsonObject][] => {
    const own = preservedFields(result, tools);
    return Object.keys(own).length === 0 ? [] : [[result.callId, own]];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

function chooseRemainders(
  context: RungContext,
  end: number,
  limits: TrimLimits,
): ReadonlyMap<MessageId, Remainder> {
  const { draft } = context;
  const from = draft.trimmedTo;
  const batch = draft.entries.filter(
    (entry) =>
      entry.node.index >= from &&
      entry.node.index < end &&
      !entry.pinned &&
      draft.action(entry) === undefined &&
      isLong(entry, limits),
  );
  if (batch.length === 0) return new Map();
  const cut = new Set(batch);
  const shown = draft.entries.filter((entry) => !cut.has(entry) && !draft.isGone(entry));
  const results = batch.reduce(
    (sum, { message }) => sum + resultsOf(message).filter((each) => isLongResult(each, limits)).length,
    0,
  );
  const calls = batch.reduce(
    (sum, { message }) => sum + callsOf(message).filter((each) => isLongCall(each, limits)).length,
    0,
  );
  return excerptsTogether(
    draft,
    batch.map((entry) => ({ entry, headChars: FIRST_LINE_CHARS, tailChars: LAST_LINE_CHARS })),
    shown.map((entry) => draft.shown(entry)),
    {
      roomChars: (limits.roomFactor ?? 1) * (results * limits.standInChars + calls * limits.argsChars),
      ...(limits.leastWorth === undefined ? {} : { leastWorth: limits.leastWorth }),
      wholeChars: limits.standInChars + FRAME,
      argsChars: limits.argsChars,
      fills: false,
    },
  );
}
const FRAME = 80;

function isLong({ message }: Entry, limits: TrimLimits): boolean {
  return (
    resultsOf(message).some((result) => isLongResult(result, limits)) ||
    callsOf(message).some((call) => isLongCall(call, limits))
  );
}

function proposeOne(context: RungContext, id: MessageId, kept: Shortened): readonly Proposal[] {
  const { draft, counter } = context;
  const entry = draft.entry(id);
  const span = entry === undefined ? undefined : spanOf([entry.node]);
  if (entry === undefined || span === undefined) return [];
  const cost = draft.cost(entry);
  const record = excerptRecord(draft, entry, kept);
  const tokensFreed = cost - counter.message(inPlace(entry.message, record, draft.style));
  const what = hasResults(entry.message) ? 'result' : 'call';
  return tokensFreed > cost * LEAST_FREED_SHARE
    ? [{ strategy: 'trim', span, tokensFreed, reason: `an older ${what} of ${cost} tokens` }]
    : [];
}
