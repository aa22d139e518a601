import { hasResults, resultsOf } from '../../message/message.ts';
import { spanOf } from '../../thread/thread.ts';
import { excerptRecord, moveToArtifact } from '../artifact-record.ts';
import type { Draft, Entry } from '../draft.ts';
import type { Remainder } from '../../render/excerpt.ts';
import { nonNegative, optionsParser } from '../../check/shape.ts';
import { inPlace } from '../../render/record.ts';
import type { Proposal, RungContext, Rung } from './rung.ts';
import { shorten } from './shorten.ts';
import { chosenExcerpt } from '../excerpt-choice.ts';

export interface ExternalizeOptions {
  /** Results with fewer tokens stay whole. A tool policy may set another threshold. */
  readonly overTokens: number;
  /** How many characters of each result stay as an excerpt. */
  readonly keptChars: number;
}

const parseOptions = optionsParser<ExternalizeOptions>(
  'externalize',
  { overTokens: nonNegative, keptChars: nonNegative },
  { overTokens: 1_000, keptChars: 900 },
);

/**
 * Moves large tool results before the cut to artifacts, if that alone reaches the target. In place of each result, the
 * prompt shows an excerpt and says how to read the rest. If it would not reach the target, the results stay whole for
 * the next rung, such as `summarize`.
 */
export function externalize(options: Partial<ExternalizeOptions> = {}): Rung {
  const { overTokens, keptChars } = parseOptions(options);
  const chosen = new WeakMap<Entry, Remainder>();
  return {
    name: 'externalize',
    propose(context) {
      const { draft, cut, targetTokens } = context;
      const large = draft.entries
        .slice(0, cut.index)
        .filter((entry) => isLarge(context, entry, overTokens));
      const most = large.reduce((sum, { tokens }) => sum + tokens, 0);
      if (draft.tokens - most > targetTokens) return [];
      const proposals = large.flatMap((entry) => {
        const kept = chosenExcerpt(draft, entry, keptChars);
        chosen.set(entry, kept);
        return proposeExcerpt(draft, entry, kept);
      });
      const freed = proposals.reduce((sum, proposal) => sum + proposal.tokensFreed, 0);
      return draft.tokens - freed > targetTokens ? [] : proposals;
    },
    execute(proposal, context, effects) {
      const { draft, targetTokens } = context;
      const entry = draft.entry(proposal.span.ids[0]);
      const tokensFreed = draft.tokens - targetTokens;
      const kept = entry === undefined ? undefined : chosen.get(entry);
      if (kept === undefined || tokensFreed < proposal.tokensFreed)
        return shorten({ ...proposal, tokensFreed }, context, effects);
      return moveToArtifact(proposal, context, effects, kept);
    },
  };
}

function isLarge({ draft, tools }: RungContext, entry: Entry, overTokens: number): boolean {
  const tool = resultsOf(entry.message)[0]?.tool;
  const own = tool === undefined ? undefined : tools[tool]?.externalizeOverTokens;
  if (entry.pinned || !hasResults(entry.message) || draft.action(entry) !== undefined) return false;
  return entry.tokens >= (own ?? overTokens);
}

function proposeExcerpt(draft: Draft, entry: Entry, kept: Remainder): readonly Proposal[] {
  const span = spanOf([entry.node]);
  const record = excerptRecord(draft, entry, kept);
  const tokensFreed =
    entry.tokens - draft.counter.message(inPlace(entry.message, record, draft.style));
  if (tokensFreed <= 0) return [];
  return [
    { strategy: 'externalize', span, tokensFreed, reason: `${entry.tokens} tokens in one result` },
  ];
}
