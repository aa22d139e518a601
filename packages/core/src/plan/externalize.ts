import { artifactContent } from '../thread/artifact.ts';
import { callsOf, hasResults, resultsOf, type CallPart } from '../thread/message.ts';
import { spanOf } from '../thread/span.ts';
import { describeMessage } from './describe.ts';
import type { Draft, Entry } from './draft.ts';
import { seated } from './seat.ts';
import type { ExternalizeRecord } from './plan.ts';
import type { Hands, Proposal, Situation, Strategy } from './strategy.ts';

export interface ExternalizeOptions {
  /** Smaller results stay. A tool may set its own threshold. */
  readonly overTokens: number;
  readonly headChars: number;
  readonly tailChars: number;
}

const DEFAULTS: ExternalizeOptions = { overTokens: 1_000, headChars: 600, tailChars: 300 };

/** Moves large tool results that lie before the cut to artifacts; an excerpt and the way back stay in their seats. */
export function externalize(options: Partial<ExternalizeOptions> = {}): Strategy {
  const { overTokens, headChars, tailChars } = { ...DEFAULTS, ...options };
  return {
    name: 'externalize',
    aggressiveness: 1,
    propose(situation) {
      const { draft, cut, tools } = situation;
      return draft.entries.slice(0, cut.index).flatMap((entry) => {
        const tool = resultsOf(entry.message)[0]?.tool;
        const threshold =
          (tool === undefined ? undefined : tools[tool]?.externalizeOverTokens) ?? overTokens;
        if (entry.pinned || !hasResults(entry.message) || draft.action(entry) !== undefined)
          return [];
        return entry.tokens < threshold
          ? []
          : proposeExcerpt(draft, entry, { headChars, tailChars });
      });
    },
    execute: (proposal, situation, hands) =>
      moveToArtifact(proposal, situation, hands, { headChars, tailChars }),
  };
}

/** How much of a message's ends stays in the prompt. */
export interface Ends {
  readonly headChars: number;
  readonly tailChars: number;
}

function proposeExcerpt(draft: Draft, entry: Entry, ends: Ends): readonly Proposal[] {
  const span = spanOf([entry.node]);
  if (span === undefined) return [];
  const tokensFreed =
    entry.tokens - draft.counter.message(seated(entry.message, excerptRecord(draft, entry, ends)));
  if (tokensFreed <= 0) return [];
  return [
    { strategy: 'externalize', span, tokensFreed, reason: `${entry.tokens} tokens in one result` },
  ];
}

/** The record that an entry becomes: an artifact's id is known before it is stored. */
export function excerptRecord(draft: Draft, entry: Entry, ends: Ends): ExternalizeRecord {
  const span = spanOf([entry.node]);
  if (span === undefined) throw new RangeError('an entry has a node');
  const description = describeMessage(entry.message, callFor(draft, entry));
  return {
    kind: 'externalize',
    span,
    artifactId: artifactContent(entry.message).id,
    summary: description,
    hint: `when the full content is needed: ${description}`,
    ...ends,
  };
}

/** Stores the content, then makes the record that points to it. */
export async function moveToArtifact(
  proposal: Proposal,
  situation: Situation,
  hands: Hands,
  ends: Ends,
): Promise<ExternalizeRecord | undefined> {
  const entry = situation.draft.entry(proposal.span.ids[0]);
  if (entry === undefined) return undefined;
  const { content, mediaType } = artifactContent(entry.message);
  const { tenant, thread } = situation.key;
  const createdAt = situation.now;
  await hands.artifacts.put(content, {
    tenant,
    thread,
    createdAt,
    mediaType,
    sensitivity: 'internal',
  });
  return excerptRecord(situation.draft, entry, ends);
}

/** The call that a result answers, found in its own unit. */
export function callFor(draft: Draft, entry: Entry): CallPart | undefined {
  const wanted = resultsOf(entry.message)[0]?.callId;
  if (wanted === undefined) return undefined;
  for (let i = entry.unit; i < draft.entries.length; i++) {
    const candidate = draft.entries[i] as Entry;
    if (candidate.unit !== entry.unit) return undefined;
    const call = callsOf(candidate.message).find(({ callId }) => callId === wanted);
    if (call !== undefined) return call;
  }
  return undefined;
}
