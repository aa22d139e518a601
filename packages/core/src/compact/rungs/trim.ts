import type { JsonObject } from '../../message/json.ts';
import { hasResults, resultsOf, type MessageId } from '../../message/message.ts';
import { preservedFields } from '../../plan/tool-policy.ts';
import {
  limitsWithin,
  longParts,
  parseTrimLimits,
  type TrimLimits,
} from '../../plan/trim-figures.ts';
import { NOTHING } from '../../render/excerpt.ts';
import { inPlace } from '../../render/record.ts';
import { spanOf } from '../../thread/thread.ts';
import { excerptRecord, moveToArtifact, type Shortened } from '../artifact-record.ts';
import type { Entry } from '../draft.ts';
import { excerptsTogether } from '../excerpt-choice.ts';
import type { Proposal, Rung, RungContext } from './rung.ts';

/** Every stand-in has its first line, and its last, which says how it ended. */
const FIRST_LINE_CHARS = 60;
const LAST_LINE_CHARS = 40;
/** If much is worth keeping, stand-ins may be this much longer on average. */
const MOST_OF_LIMITS = 3;
/** A message that would hardly become shorter stays as it is. */
const LEAST_FREED_SHARE = 0.2;

/**
 * Shortens results and arguments in place, in batches: a batch begins where the last one ended and reaches up to the
 * newest results. The lines that are most likely to be needed stay; the whole goes to an artifact.
 */
export function trim(options: Partial<TrimLimits> = {}): Rung {
  const limits = parseTrimLimits(options);
  return { ...trimming(limits, ({ draft }) => draft.trimmedTo), trims: limits };
}

/** Trims under pressure alone, never because that pays, and also what earlier batches have left whole. */
export function trimFurther(limits: TrimLimits): Rung {
  return trimming(limits, () => 0);
}

/** The index of the first message that a batch may change. */
type BatchStart = (context: RungContext) => number;

function trimming(whole: TrimLimits, start: BatchStart): Rung {
  const chosen = new WeakMap<RungContext, ReadonlyMap<MessageId, Shortened>>();
  return {
    name: 'trim',
    wholeBatch: true,
    propose(context) {
      const batch = widestNeeded(context, start(context), limitsWithin(whole, context.limitTokens));
      chosen.set(context, batch.shortened);
      const { draft } = context;
      if (batch.proposals.length > 0) draft.trimmedTo = Math.max(draft.trimmedTo, batch.end);
      return batch.proposals;
    },
    execute(proposal, context, effects) {
      const kept = chosen.get(context)?.get(proposal.span.ids[0]) ?? NOTHING;
      return moveToArtifact(proposal, context, effects, kept);
    },
  };
}

interface Batch {
  readonly end: number;
  readonly shortened: ReadonlyMap<MessageId, Shortened>;
  readonly proposals: readonly Proposal[];
}

/**
 * The batch that keeps the newest results whole. If the prompt would not fit with it but does with fewer of them, fewer
 * stay: a summary would take more.
 */
function widestNeeded(context: RungContext, start: number, limits: TrimLimits): Batch {
  const usual = batchOf(context, start, limits);
  if (fits(context, usual)) return usual;
  for (let keepResults = limits.keepResults - 1; keepResults >= 0; keepResults--) {
    const batch = batchOf(context, start, { ...limits, keepResults });
    if (fits(context, batch)) return batch;
  }
  return usual;
}

function batchOf(context: RungContext, start: number, limits: TrimLimits): Batch {
  const end = batchEnd(context, limits);
  const shortened = shortenedWithin(context, start, end, limits);
  const proposals = [...shortened].flatMap(([id, kept]) => proposeOne(context, id, kept));
  return { end, shortened, proposals };
}

function fits({ draft, limitTokens }: RungContext, { proposals }: Batch): boolean {
  const freed = proposals.reduce((sum, { tokensFreed }) => sum + tokensFreed, 0);
  return draft.tokens - freed <= limitTokens;
}

/**
 * The index of the first message that stays whole: the unit of the oldest of the newest results. What no model has read
 * yet stays as well, and so does a running turn whose reasoning is signed for all that precedes it.
 */
function batchEnd({ draft, sent }: RungContext, { keepResults }: TrimLimits): number {
  if (keepResults === 0) return sent;
  let results = 0;
  for (let i = draft.entries.length - 1; i >= 0; i--) {
    const entry = draft.entries[i] as Entry;
    results += resultsOf(entry.message).length;
    if (results >= keepResults) return Math.min(sent, draft.entries[entry.unit]?.node.index ?? 0);
  }
  return 0;
}

/** What stays of each message of the batch. */
function shortenedWithin(
  context: RungContext,
  start: number,
  end: number,
  limits: TrimLimits,
): ReadonlyMap<MessageId, Shortened> {
  const { draft } = context;
  const batch = draft.entries.filter(
    (entry) =>
      entry.node.index >= start &&
      entry.node.index < end &&
      !entry.pinned &&
      draft.action(entry) === undefined &&
      isLong(entry, limits),
  );
  if (batch.length === 0) return new Map();
  const cut = new Set(batch);
  const others = draft.entries.filter((entry) => !cut.has(entry) && !draft.isGone(entry));
  const chosen = excerptsTogether(
    draft,
    batch.map((entry) => ({ entry, headChars: FIRST_LINE_CHARS, tailChars: LAST_LINE_CHARS })),
    others.map((entry) => draft.shown(entry)),
    {
      spaceChars: batch.reduce((sum, entry) => sum + spaceFor(entry, limits), 0) * MOST_OF_LIMITS,
      wholeChars: limits.standInChars,
      argsChars: limits.argsChars,
      args: 'by-worth',
      leastWorth: limits.leastWorth,
      fills: false,
    },
  );
  return new Map(
    batch.map((entry) => [
      entry.node.id,
      {
        ...(chosen.get(entry.node.id) ?? NOTHING),
        trimmed: true as const,
        keepsReasoning: true as const,
        ...preservedBy(entry, context),
      },
    ]),
  );
}

function isLong({ message }: Entry, limits: TrimLimits): boolean {
  const { results, calls } = longParts(message, limits);
  return results + calls > 0;
}

function spaceFor({ message }: Entry, limits: TrimLimits): number {
  const { results, calls } = longParts(message, limits);
  return results * limits.standInChars + calls * limits.argsChars;
}

/** Fields that the tools of an entry's results ask to preserve, by call id. */
function preservedBy(
  { message }: Entry,
  { tools }: RungContext,
): { readonly preserved?: JsonObject } {
  const fields = resultsOf(message).flatMap((result): readonly [string, JsonObject][] => {
    const own = preservedFields(result, tools);
    return Object.keys(own).length === 0 ? [] : [[result.callId, own]];
  });
  return fields.length === 0 ? {} : { preserved: Object.fromEntries(fields) };
}

function proposeOne(context: RungContext, id: MessageId, kept: Shortened): readonly Proposal[] {
  const { draft, counter } = context;
  const entry = draft.entry(id);
  if (entry === undefined) return [];
  const span = spanOf([entry.node]);
  const cost = draft.cost(entry);
  const record = excerptRecord(draft, entry, kept);
  const tokensFreed = cost - counter.message(inPlace(entry.message, record, draft.style));
  const what = hasResults(entry.message) ? 'result' : 'call';
  return tokensFreed > cost * LEAST_FREED_SHARE
    ? [{ strategy: 'trim', span, tokensFreed, reason: `an older ${what} of ${cost} tokens` }]
    : [];
}
