import { artifactContent } from '../thread/artifact.ts';
import { callsOf, resultsOf, type CallPart } from '../thread/message.ts';
import { spanOf } from '../thread/span.ts';
import { describeMessage } from './describe.ts';
import type { Draft, Entry } from './draft.ts';
import type { Remainder } from './excerpt.ts';
import type { ExternalizeRecord } from './plan.ts';
import type { Hands, Proposal, Situation } from './strategy.ts';

/** The record that an entry becomes: an artifact's id is known before it is stored. */
export function excerptRecord(draft: Draft, entry: Entry, kept: Remainder): ExternalizeRecord {
  const span = spanOf([entry.node]);
  if (span === undefined) throw new RangeError('an entry has a node');
  const description = describeMessage(entry.message, callFor(draft, entry));
  return {
    kind: 'externalize',
    span,
    artifactId: artifactContent(entry.message).id,
    summary: description,
    hint: `when the full content is needed: ${description}`,
    ...kept,
  };
}

/** Stores the content, then makes the record that points to it. */
export async function moveToArtifact(
  proposal: Proposal,
  situation: Situation,
  hands: Hands,
  kept: Remainder,
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
  return excerptRecord(situation.draft, entry, kept);
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
