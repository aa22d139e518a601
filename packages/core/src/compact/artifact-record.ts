import { errorText } from '../check/error-text.ts';
import { artifactContent } from '../message/artifact-content.ts';
import type { ArtifactMetadata } from '../ports.ts';
import {
  type CallPart,
  callsOf,
  isSentMedia,
  type Message,
  resultsOf,
  resultText,
  textOf,
} from '../message/message.ts';
import { verifiedDurability } from '../plan/tool-policy.ts';
import { spanOf } from '../thread/thread.ts';
import type { Draft, Entry } from './draft.ts';
import type { Remainder } from '../render/excerpt.ts';
import type { ExternalizeRecord } from '../plan/plan.ts';
import type { Effects, Proposal, RungContext } from './rungs/rung.ts';
import { isJsonObject, parseJson } from '../message/json.ts';
import { oneLine } from '../message/text.ts';

/** What stays of an entry, and how that is shown. */
export type Shortened = Remainder &
  Pick<ExternalizeRecord, 'trimmed' | 'preserved' | 'keepsReasoning' | 'withoutMedia'>;

/** The record that an entry becomes: an artifact's id is known before it is stored. */
export function excerptRecord(draft: Draft, entry: Entry, kept: Shortened): ExternalizeRecord {
  const description = descriptionOf(draft, entry);
  return {
    kind: 'externalize',
    span: spanOf([entry.node]),
    artifactId: artifactContent(entry.message).id,
    summary: description,
    hint: kept.trimmed === true ? '' : `when the full content is needed: ${description}`,
    ...kept,
  };
}

/** An entry belongs to one draft and never changes, so it is described once for all sizes that are tried. */
const descriptions = new WeakMap<Entry, string>();

function descriptionOf(draft: Draft, entry: Entry): string {
  let description = descriptions.get(entry);
  if (description === undefined) {
    const callOf = (callId: string): CallPart | undefined => callFor(draft, entry, callId);
    description = draft.redact(describeMessage(entry.message, callOf));
    descriptions.set(entry, description);
  }
  return description;
}

/** Stores the content, then makes the record that points to it. */
export async function moveToArtifact(
  proposal: Proposal,
  context: RungContext,
  effects: Effects,
  kept: Shortened,
): Promise<ExternalizeRecord | undefined> {
  const entry = context.draft.entry(proposal.span.ids[0]);
  if (entry === undefined) return undefined;
  const { content, mediaType } = artifactContent(entry.message);
  const { tenant, thread } = context.key;
  const [result] = resultsOf(entry.message);
  const tool = result?.tool ?? callsOf(entry.message)[0]?.tool ?? '';
  const metadata: ArtifactMetadata = {
    tenant,
    thread,
    createdAt: context.now,
    mediaType,
    sensitivity: 'internal',
    ...context.tools[tool]?.artifact,
  };
  const record = excerptRecord(context.draft, entry, kept);
  return effects.artifacts.put(content, metadata).then(
    () => record,
    (error: unknown) => {
      // The thread holds the message, so nothing is lost; a prompt that does not fit would be.
      const why = errorText(error);
      effects.warn(`an artifact could not be stored, the thread alone holds it: ${why}`);
      return { ...record, unstored: true as const };
    },
  );
}

/** True if a message holds what cannot be asked for again: such a result, or a picture or file that came inside it. */
export async function isIrreplaceable(entry: Entry, context: RungContext): Promise<boolean> {
  if (entry.message.parts.some(isSentMedia)) return true;
  for (const result of resultsOf(entry.message)) {
    const args = callFor(context.draft, entry, result.callId)?.args ?? '';
    const captured = entry.message.meta?.sources?.[result.callId];
    const durability = await verifiedDurability(result, args, context.tools, captured);
    if (durability === 'non-replayable') return true;
  }
  return false;
}

/** The call that a result answers, found in its own unit. */
function callFor(draft: Draft, entry: Entry, callId: string): CallPart | undefined {
  for (let i = entry.unit; i < draft.entries.length; i++) {
    const candidate = draft.entries[i] as Entry;
    if (candidate.unit !== entry.unit) return undefined;
    const call = callsOf(candidate.message).find((each) => each.callId === callId);
    if (call !== undefined) return call;
  }
  return undefined;
}

/** What a call asks for, in one line: the first argument that a person would name it by. */
function describeCall(call: CallPart): string {
  const args = parseJson(call.args);
  if (!isJsonObject(args)) return oneLine(call.args);
  for (const name of [
    'command',
    'path',
    'file_path',
    'filePath',
    'file',
    'pattern',
    'query',
    'url',
  ]) {
    const value = args[name];
    if (typeof value === 'string') return oneLine(value);
  }
  return oneLine(call.args);
}

/** More lines than this are not counted: the time for one message has a bound. */
const MOST_LINES = 200_000;

function lineCount(text: string): string {
  let lines = text === '' ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
    if (++lines > MOST_LINES) return `over ${MOST_LINES} lines`;
  return `${lines} lines`;
}

/** What a message holds, in one line, for a pointer or an index entry. */
export function describeMessage(
  message: Message,
  callOf: (callId: string) => CallPart | undefined = () => undefined,
): string {
  const results = resultsOf(message);
  if (results.length > 0) {
    return results
      .map((result) => {
        const call = callOf(result.callId);
        const text = resultText(result);
        const lines = lineCount(text);
        const asked = call === undefined ? '' : `(${describeCall(call)})`;
        const outcome = result.outcome === undefined ? '' : ` ${result.outcome},`;
        return `${result.tool ?? call?.tool ?? 'tool'}${asked}:${outcome} ${lines}`;
      })
      .join('; ');
  }
  const calls = callsOf(message).map((c) => `${c.tool}(${describeCall(c)})`);
  return oneLine([textOf(message), ...calls].filter((text) => text !== '').join(' '));
}
