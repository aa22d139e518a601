import {
  callsOf,
  resultsOf,
  resultText,
  type Message,
  type MessageId,
} from '../../message/message.ts';
import { spanOf } from '../../thread/thread.ts';
import { besideSummary, type BesideSummary } from '../../plan/cut.ts';
import type { Draft, Entry } from '../draft.ts';
import { NOTHING, type Remainder } from '../../render/excerpt.ts';
import { excerptRecord, moveToArtifact, type Shortened } from '../artifact-record.ts';
import { inPlace } from '../../render/record.ts';
import type { Proposal, RungContext, Rung } from './rung.ts';
import { excerptsTogether } from '../excerpt-choice.ts';

/** Results up to this long stay whole; so do arguments up to this long, and older ones up to the last of these. */
const WHOLE_CHARS = 240;
const WHOLE_ARGS_CHARS = 1_500;
const OLDER_ARGS_CHARS = 500;
/** Arguments that bring about something worth reading, such as a question to a sub-agent, stay up to this long. */
const ASKING_ARGS_CHARS = 300;
/** Every excerpt begins with its first line and ends with its last, which says how it went. */
const FIRST_LINE_CHARS = 120;
const LAST_LINE_CHARS = 60;
/**
 * The newest round, which the model has not read yet, stays whole unless it takes more than this share of the space.
 */
const MOST_OF_NEWEST = 0.4;
/** … or more than this of all that may be sent; a single prompt is read once, and the agent goes on elsewhere. */
const MOST_UNREAD = 0.35;
const MOST_UNREAD_MADE_TO_MEASURE = 0.25;
const NEWEST_SHARE = 0.06;
/** A message that would hardly become shorter stays as it is. */
const LEAST_FREED_SHARE = 0.2;

/**
 * Shortens results and arguments after the cut if they leave too little space for a summary of what comes before it.
 * The lines that are most likely to be needed stay; the whole goes to an artifact.
 */
export function excerpts(keep: BesideSummary): Rung {
  const chosen = new WeakMap<RungContext, ReadonlyMap<MessageId, Shortened>>();
  return {
    name: 'excerpts',
    propose(context) {
      const remainders = withReasoning(context, chooseRemainders(context, keep));
      chosen.set(context, remainders);
      return [...remainders].flatMap(([id, kept]) => proposeOne(context, id, kept));
    },
    execute(proposal, context, effects) {
      const kept = chosen.get(context)?.get(proposal.span.ids[0]) ?? NOTHING;
      return moveToArtifact(proposal, context, effects, kept);
    },
  };
}

/** What a running turn thought stays with its calls. */
function withReasoning(
  { draft }: RungContext,
  remainders: ReadonlyMap<MessageId, Remainder>,
): ReadonlyMap<MessageId, Shortened> {
  return new Map(
    [...remainders].map(([id, kept]) => {
      const entry = draft.entry(id);
      const stays = entry !== undefined && draft.keepsReasoning(entry);
      return [id, stays ? { ...kept, keepsReasoning: true } : kept];
    }),
  );
}

function proposeOne(context: RungContext, id: MessageId, kept: Shortened): readonly Proposal[] {
  const { draft, counter } = context;
  const entry = draft.entry(id);
  const span = entry === undefined ? undefined : spanOf([entry.node]);
  if (entry === undefined || span === undefined) return [];
  const tokens = counter.message(
    inPlace(entry.message, excerptRecord(draft, entry, kept), draft.style),
  );
  const tokensFreed = draft.cost(entry) - tokens;
  const reason = `${draft.cost(entry)} tokens after the cut`;
  return tokensFreed > draft.cost(entry) * LEAST_FREED_SHARE
    ? [{ strategy: 'excerpts', span, tokensFreed, reason }]
    : [];
}

function chooseRemainders(
  { draft, cut, targetTokens, limitTokens }: RungContext,
  keep: BesideSummary,
): ReadonlyMap<MessageId, Remainder> {
  const after = draft.entries.slice(cut.index).filter((entry) => !draft.isGone(entry));
  const cost = (entries: readonly Entry[]): number =>
    entries.reduce((sum, entry) => sum + draft.cost(entry), 0);
  // If excerpts alone are enough, they need not leave space for a summary.
  const before = draft.tokens - cost(after);
  const besideTokens = besideSummary(keep, draft.entries, { targetTokens, limitTokens });
  const spaceTokens = Math.max(besideTokens, targetTokens - before);
  if (cost(after) <= spaceTokens) return new Map();
  const newest = draft.newestUnit;
  const newestTokens = cost(after.filter(({ unit }) => unit === newest));
  const share = targetTokens >= limitTokens ? MOST_UNREAD_MADE_TO_MEASURE : MOST_UNREAD;
  const unread = Math.max(spaceTokens * MOST_OF_NEWEST, limitTokens * share);
  const sparesNewest = newestTokens <= unread;
  const argsChars = argsCharsIn(after, newest);
  const long = after.filter(
    (entry) => isLong(draft, entry, argsChars) && !(sparesNewest && entry.unit === newest),
  );
  const shortened = new Set(long);
  const others = after.filter((entry) => !shortened.has(entry));
  const least = long.reduce((sum, entry) => sum + leastTokens(draft, entry, argsChars(entry)), 0);
  const chars = long.reduce((sum, { message }) => sum + longChars(message), 0);
  const charsPerToken =
    chars /
    Math.max(
      1,
      long.reduce((sum, { tokens }) => sum + tokens, 0),
    );
  const newestCount = long.filter(({ unit }) => unit === newest).length;
  const headChars = (spaceTokens * charsPerToken * NEWEST_SHARE) / Math.max(1, newestCount);
  const remainders = excerptsTogether(
    draft,
    long.map((entry) =>
      entry.unit === newest
        ? {
            entry,
            headChars: Math.max(FIRST_LINE_CHARS, headChars * 0.7),
            tailChars: headChars * 0.3,
          }
        : { entry, headChars: FIRST_LINE_CHARS, tailChars: LAST_LINE_CHARS },
    ),
    others.map(({ message }) => message),
    {
      spaceChars: Math.max(0, (spaceTokens - cost(others) - least) * charsPerToken),
      wholeChars: WHOLE_CHARS,
      argsChars: WHOLE_ARGS_CHARS,
      args: 'by-length',
      fills: spaceTokens > besideTokens,
    },
  );
  return new Map(
    long.map((entry) => {
      const { kept } = remainders.get(entry.node.id) ?? NOTHING;
      return [entry.node.id, { kept, argsChars: argsChars(entry) }];
    }),
  );
}

/** The name of an argument that puts text into a file: the result only confirms it. */
const PUTS = /"(?:new_?(?:str(?:ing)?|text)|file_text|content)"\s*:/i;

/** How long the arguments of an entry may stay: those that bring about something worth reading give way to it. */
function argsCharsIn(
  entries: readonly Entry[],
  newest: number | undefined,
): (entry: Entry) => number {
  const returned = new Map<number, number>();
  for (const { unit, message } of entries)
    returned.set(unit, (returned.get(unit) ?? 0) + resultChars(message));
  return ({ unit, message }) => {
    const isEdit = callsOf(message).some(({ args }) => PUTS.test(args));
    if (!isEdit && (returned.get(unit) ?? 0) > WHOLE_CHARS) return ASKING_ARGS_CHARS;
    return unit === newest ? WHOLE_ARGS_CHARS : OLDER_ARGS_CHARS;
  };
}

function isLong(draft: Draft, entry: Entry, argsChars: (entry: Entry) => number): boolean {
  const { message, pinned } = entry;
  if (pinned || draft.action(entry) !== undefined) return false;
  return (
    resultsOf(message).some((result) => resultText(result).length > WHOLE_CHARS) ||
    callsOf(message).some(({ args }) => args.length > argsChars(entry))
  );
}

const longChars = (message: Message): number => resultChars(message) + argChars(message);

const resultChars = (message: Message): number =>
  resultsOf(message).reduce((sum, result) => sum + resultText(result).length, 0);

const argChars = (message: Message): number =>
  callsOf(message).reduce((sum, { args }) => sum + args.length, 0);

/** What an entry costs with nothing of its results shown. */
function leastTokens(draft: Draft, entry: Entry, argsChars: number): number {
  const kept = entry.message.parts.map((part) =>
    part.kind === 'text' ? ([[0, part.text.length]] as const) : [],
  );
  const record = excerptRecord(draft, entry, { kept, argsChars });
  return draft.counter.message(inPlace(entry.message, record, draft.style));
}
