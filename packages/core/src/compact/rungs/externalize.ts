import { hasResults, resultsOf } from '../../message/message.ts';
import { spanOf } from '../../thread/span.ts';
import { excerptRecord, moveToArtifact } from '../artifact-record.ts';
import type { Draft, Entry } from '../draft.ts';
import type { Remainder } from '../../render/excerpt.ts';
import { anAmount, optionsOf } from '../../check/shape.ts';
import { seated } from '../../render/in-place.ts';
import type { Proposal, Situation, Strategy } from './rung.ts';
import { shorten } from './shorten.ts';
import { valued } from '../excerpt-choice.ts';

export interface ExternalizeOptions {
  /** Smaller results stay. A tool may set its own threshold. */
  readonly overTokens: number;
  /** How much of each stays in its seat. */
  readonly keptChars: number;
}

const given = optionsOf<ExternalizeOptions>(
  'externalize',
  { overTokens: anAmount, keptChars: anAmount },
  { overTokens: 1_000, keptChars: 900 },
);

/**
 * Moves large tool results that lie before the cut to artifacts, where that is enough to reach the target; an excerpt and
 * the way back stay in their seats. Where it is not, they are left to the summary, which reads them whole.
 */
export function externalize(options: Partial<ExternalizeOptions> = {}): Strategy {
  const { overTokens, keptChars } = given(options);
  const chosen = new WeakMap<Entry, Remainder>();
  return {
    name: 'externalize',
    propose(situation) {
      const { draft, cut, targetTokens } = situation;
      const large = draft.entries
        .slice(0, cut.index)
        .filter((entry) => isLarge(situation, entry, overTokens));
      const most = large.reduce((sum, { tokens }) => sum + tokens, 0);
      if (draft.tokens - most > targetTokens) return [];
      const proposals = large.flatMap((entry) => {
        const kept = valued(draft, entry, keptChars);
        chosen.set(entry, kept);
        return proposeExcerpt(draft, entry, kept);
      });
      const freed = proposals.reduce((sum, proposal) => sum + proposal.tokensFreed, 0);
      return draft.tokens - freed > targetTokens ? [] : proposals;
    },
    execute(proposal, situation, hands) {
      const { draft, targetTokens } = situation;
      const entry = draft.entry(proposal.span.ids[0]);
      const tokensFreed = draft.tokens - targetTokens;
      const kept = entry === undefined ? undefined : chosen.get(entry);
      if (kept === undefined || tokensFreed < proposal.tokensFreed)
        return shorten({ ...proposal, tokensFreed }, situation, hands);
      return moveToArtifact(proposal, situation, hands, kept);
    },
  };
}

function isLarge({ draft, tools }: Situation, entry: Entry, overTokens: number): boolean {
  const tool = resultsOf(entry.message)[0]?.tool;
  const own = tool === undefined ? undefined : tools[tool]?.externalizeOverTokens;
  if (entry.pinned || !hasResults(entry.message) || draft.action(entry) !== undefined) return false;
  return entry.tokens >= (own ?? overTokens);
}

function proposeExcerpt(draft: Draft, entry: Entry, kept: Remainder): readonly Proposal[] {
  const span = spanOf([entry.node]);
  if (span === undefined) return [];
  const record = excerptRecord(draft, entry, kept);
  const tokensFreed = entry.tokens - draft.counter.message(seated(entry.message, record));
  if (tokensFreed <= 0) return [];
  return [
    { strategy: 'externalize', span, tokensFreed, reason: `${entry.tokens} tokens in one result` },
  ];
}
