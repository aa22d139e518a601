import { textMessage, textOf, type Message, type Usage } from '@bobbin/core';
import {
  isJsonObject,
  type JsonObject,
  lastIndex,
  lastOf,
  type MessageMeta,
} from '@bobbin/core/internal';
import { decodeAnthropic } from '../anthropic/anthropic.ts';
import { contextUsage } from '../response-usage.ts';
import { DecodeError } from '../wire/decode-error.ts';
import { KnownCalls } from '../wire/known-calls.ts';
import type { Place } from '../wire/place.ts';
import { encodeJsonLines, firstLines, jsonLines, textField, timeField } from './json-lines.ts';
import type { Session, SessionCompaction, SessionFormat, SessionHeader } from './session.ts';

const RECOGNISED_BY = 50;

/**
 * Session files of Claude Code: a tree by `uuid` and `parentUuid`, one line for each block of an answer. The messages
 * are Anthropic's. A compaction is a boundary, which begins a new tree, and a summary in a user message after it.
 */
export const claudeCodeSession: SessionFormat = {
  name: 'claude-code',
  recognises: (text) =>
    firstLines(text, RECOGNISED_BY).some(
      (line) => line['parentUuid'] !== undefined && typeof line['sessionId'] === 'string',
    ),
  decode(text) {
    const calls = new KnownCalls();
    const lines = jsonLines(text).map((place) => lineOf(place, calls));
    return sessionOf(lines);
  },
  encode: encodeJsonLines,
};

interface Line {
  readonly wire: JsonObject;
  readonly uuid: string | undefined;
  readonly messages: readonly Message[];
  readonly isSummary: boolean;
}

function lineOf(place: Place, calls: KnownCalls): Line {
  const wire = place.object();
  const { type, uuid, isCompactSummary } = wire;
  const isMessage = (type === 'user' || type === 'assistant') && place.has('message');
  return {
    wire,
    uuid: typeof uuid === 'string' ? uuid : undefined,
    messages: isMessage ? decodeMessages(place, calls) : [],
    isSummary: isCompactSummary === true,
  };
}

/** What the API takes of a stored message; an answer is stored with its usage and more. */
function decodeMessages(place: Place, calls: KnownCalls): readonly Message[] {
  const message = place.at('message');
  const wire = { role: message.at('role').text(), content: message.at('content').json() };
  const meta = metaOf(place.object(), message);
  const decoded = decodeAnthropic(message.holding(wire), calls);
  return decoded.filter((each) => !isBlank(each)).map((each) => ({ ...each, meta }));
}

/** An answer may begin with a block of blanks, which is kept in the file and never sent back. */
function isBlank({ parts }: Message): boolean {
  return parts.every((part) => part.kind === 'text' && part.text.trim() === '');
}

function metaOf(wire: JsonObject, message: Place): MessageMeta {
  const { timestamp, isSidechain, agentId, isCompactSummary, isApiErrorMessage } = wire;
  return {
    ...timeField(timestamp),
    ...textField('model', message.at('model').value),
    ...(isSidechain === true
      ? { branch: typeof agentId === 'string' ? agentId : 'sidechain' }
      : {}),
    ...(isCompactSummary === true ? { synthetic: true } : {}),
    ...(isApiErrorMessage === true ? { status: 'error' as const } : {}),
    ...usageField(message),
  };
}

function usageField(message: Place): { readonly usage?: Usage } {
  const usage = message.has('usage') ? contextUsage(message.at('usage').object()) : undefined;
  return usage === undefined ? {} : { usage };
}

function sessionOf(lines: readonly Line[]): Session {
  const path = pathOf(lines);
  const spoken = path.filter(({ isSummary }) => !isSummary);
  const messages = spoken.flatMap((line) => line.messages);
  const boundary = lastIndex(path, isBoundary);
  return {
    format: 'claude-code',
    header: headerOf(lines),
    entries: lines.map(({ wire, messages: own }) => ({ original: wire, messages: own })),
    messages,
    compactions: path.flatMap((line, i) => (isBoundary(line) ? [compactionAt(path, i)] : [])),
    context: path
      .slice(boundary + 1)
      .flatMap((line) => line.messages)
      .filter(({ meta }) => meta?.status !== 'error'),
  };
}

function isBoundary({ wire }: Line): boolean {
  return wire['subtype'] === 'compact_boundary';
}

/**
 * The lines of the conversation that was talked on last, in the order of the file. Calls that are made together are
 * chained, and each result hangs on its own call: the chain from the last line misses all results but one.
 */
function pathOf(lines: readonly Line[]): readonly Line[] {
  const byId = new Map(
    lines.flatMap((line) => (line.uuid === undefined ? [] : [[line.uuid, line]])),
  );
  const chain = new Set<Line>();
  let line = lastOf(
    lines,
    ({ messages, wire }) => messages.length > 0 && wire['isSidechain'] !== true,
  );
  while (line !== undefined && !chain.has(line)) {
    chain.add(line);
    const { parentUuid, logicalParentUuid } = line.wire;
    const parent = parentUuid ?? logicalParentUuid;
    line = typeof parent === 'string' ? byId.get(parent) : undefined;
  }
  const calls = new Set([...chain].flatMap(callIds));
  const answers = new Set([...chain].flatMap(answerId));
  return lines.filter(
    (other) =>
      chain.has(other) ||
      (other.wire['isSidechain'] !== true &&
        (resultIds(other).some((id) => calls.has(id)) ||
          answerId(other).some((id) => answers.has(id)))),
  );
}

function callIds({ messages }: Line): readonly string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'call' ? [part.callId] : [])),
  );
}

function resultIds({ messages }: Line): readonly string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'result' ? [part.callId] : [])),
  );
}

/** The id of the answer that a line is a block of. */
function answerId({ wire }: Line): readonly string[] {
  const { type, message } = wire;
  const id = type === 'assistant' && isJsonObject(message) ? message['id'] : undefined;
  return typeof id === 'string' ? [id] : [];
}

function compactionAt(path: readonly Line[], at: number): SessionCompaction {
  const { compactMetadata, timestamp } = (path[at] as Line).wire;
  const metadata = isJsonObject(compactMetadata) ? compactMetadata : {};
  const before = path.slice(0, at).filter(({ isSummary }) => !isSummary);
  const after = messagesOf(before).length;
  const kept = keptFrom(before, metadata['preservedSegment']);
  const firstKept = kept === undefined ? after : messagesOf(before.slice(0, kept)).length;
  const summary = path.slice(at).find(({ isSummary }) => isSummary)?.messages ?? [];
  const attached = attachedAfter(path, at);
  const tokens = metadata['preTokens'];
  return {
    summary: summary.map(textOf).join('\n'),
    after,
    firstKept,
    ...(attached.length === 0
      ? {}
      : { received: [...summary, ...messagesOf(before).slice(firstKept), ...attached] }),
    ...timeField(timestamp),
    ...(typeof tokens === 'number' ? { tokensBefore: tokens } : {}),
  };
}

function messagesOf(lines: readonly Line[]): readonly Message[] {
  return lines.flatMap(({ messages }) => messages);
}

/** The position of the first line that a compaction keeps, if it keeps any. */
function keptFrom(before: readonly Line[], segment: unknown): number | undefined {
  const head = isJsonObject(segment) ? segment['headUuid'] : undefined;
  const at = head === undefined ? -1 : before.findIndex(({ uuid }) => uuid === head);
  return at < 0 ? undefined : at;
}

/** What Claude Code attaches to the summary, such as files that were read last: before the first answer after it. */
function attachedAfter(path: readonly Line[], at: number): readonly Message[] {
  const found: Message[] = [];
  for (const { wire } of path.slice(at + 1)) {
    if (wire['type'] === 'assistant') break;
    const text = textsIn(wire['attachment']).join('\n');
    if (text !== '') found.push(textMessage('user', text, { synthetic: true }));
  }
  return found;
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function headerOf(lines: readonly Line[]): SessionHeader {
  const first = lines.find(({ wire }) => wire['parentUuid'] !== undefined)?.wire;
  if (typeof first?.['sessionId'] !== 'string')
    throw new DecodeError('line 1', 'must be a line of a Claude Code session');
  const model = lastOf(
    lines.flatMap(({ messages }) => messages),
    ({ meta }) => meta?.model !== undefined,
  );
  return {
    id: first['sessionId'],
    ...timeField(first['timestamp']),
    ...textField('cwd', first['cwd']),
    ...textField('model', model?.meta?.model),
    ...textField('version', first['version']),
  };
}
