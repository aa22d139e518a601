import { textOf, type Message, type Part, type ResultPart } from '@bobbin/core';
import {
  isJsonObject,
  parseJson,
  type JsonObject,
  type MessageMeta,
  jsonText,
  lastOf,
} from '@bobbin/core/internal';
import { DecodeError } from '../wire/decode-error.ts';
import { lasting, Place } from '../wire/place.ts';
import { textField, timeField, tokenCount } from './json-lines.ts';
import type { Session, SessionCompaction, SessionEntry, SessionFormat } from './session.ts';

/**
 * Exports of OpenCode: one object with the session and its messages, each a list of parts. A tool's part holds the
 * call and what came of it, so an answer is a message and the results after it. A compaction is a user message with
 * a part of that name, and the summary that answers it.
 */
export const opencodeSession: SessionFormat = {
  name: 'opencode',
  recognises: (text) => /^\s*\{\s*"(?:info|messages)"\s*:/.test(text) && isExport(parseJson(text)),
  decode(text) {
    const value = parseJson(text);
    if (!isJsonObject(value) || !isExport(value))
      throw new DecodeError(
        'export',
        'must be an object with the info and the messages of a session',
      );
    const { messages: _, ...head } = value;
    const root = new Place('export', value);
    return sessionOf(head, root.at('info'), root.at('messages').list().map(entryOf));
  },
  encode({ entries: [head, ...rest] }) {
    const messages = rest.map(({ original }) => original);
    return jsonText({ ...head?.original, messages });
  },
};

function isExport(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { info, messages } = value;
  return isJsonObject(info) && typeof info['id'] === 'string' && Array.isArray(messages);
}

interface Entry extends SessionEntry {
  readonly id: string;
  /** The answer to a compaction: its text is the summary. */
  readonly isSummary: boolean;
  /** Asks for a compaction; `tail` names the first message that it keeps. */
  readonly compaction: JsonObject | undefined;
}

function entryOf(place: Place): Entry {
  const info = place.at('info');
  const parts = place.at('parts').list();
  const isAnswer = info.at('role').text() === 'assistant';
  const isSummary = isAnswer && info.at('summary').value === true;
  const compaction = parts.find((part) => part.at('type').value === 'compaction')?.object();
  const made = isSummary || compaction !== undefined ? { synthetic: true } : {};
  const meta = { ...metaOf(info), ...made };
  return {
    original: place.object(),
    id: info.at('id').text(),
    isSummary,
    compaction,
    messages: isAnswer
      ? steps(parts).flatMap((step) => answer(step, meta))
      : said('user', parts.flatMap(decodePart), meta),
  };
}

function metaOf(info: Place): MessageMeta {
  const { time, modelID, tokens, error } = info.object();
  return {
    ...timeField(isJsonObject(time) ? time['created'] : undefined),
    ...textField('model', modelID),
    ...(isJsonObject(tokens) ? { usage: usageOf(tokens) } : {}),
    ...(isJsonObject(error)
      ? { status: error['name'] === 'MessageAbortedError' ? 'aborted' : 'error' }
      : {}),
  };
}

function usageOf({ input, output, cache }: JsonObject): NonNullable<MessageMeta['usage']> {
  const { read, write } = isJsonObject(cache) ? cache : {};
  return {
    inputTokens: tokenCount(input),
    outputTokens: tokenCount(output),
    cacheReadTokens: tokenCount(read),
    cacheWriteTokens: tokenCount(write),
  };
}

/** An answer may have taken several requests; each began with a mark. */
function steps(parts: readonly Place[]): readonly (readonly Place[])[] {
  const found: Place[][] = [[]];
  for (const part of parts) {
    if (part.at('type').value === 'step-start') found.push([]);
    else found.at(-1)?.push(part);
  }
  return found.filter((step) => step.length > 0);
}

function answer(step: readonly Place[], meta: MessageMeta): readonly Message[] {
  const results = step.flatMap(decodeResult);
  const { usage: _, ...rest } = meta;
  return [
    ...said('assistant', step.flatMap(decodePart), meta),
    ...(results.length === 0 ? [] : [{ role: 'tool' as const, parts: results, meta: rest }]),
  ];
}

function said(role: 'user' | 'assistant', parts: readonly Part[], meta: MessageMeta): Message[] {
  return parts.length === 0 ? [] : [{ role, parts, meta }];
}

/** Parts that are never sent. */
const UNSENT = new Set(['step-start', 'step-finish', 'snapshot', 'patch', 'agent', 'retry']);

/** What OpenCode asks its model in place of the request for a compaction. */
const COMPACTION_WISH = 'What did we do so far?';

/** The part as it is sent. */
function decodePart(place: Place): readonly Part[] {
  const type = place.at('type').text();
  switch (type) {
    case 'text':
      return place.at('ignored').value === true || place.at('text').value === ''
        ? []
        : [{ kind: 'text', text: place.at('text').text() }];
    case 'reasoning':
      return [{ kind: 'reasoning', text: place.at('text').text(), ...signatureField(place) }];
    case 'file': {
      const [source, mediaType] = [place.at('url').text(), place.at('mime').text()];
      if (mediaType.startsWith('image/')) return [{ kind: 'image', source, mediaType }];
      return [
        { kind: 'file', source, mediaType, ...textField('name', place.at('filename').value) },
      ];
    }
    case 'tool':
      return [
        {
          kind: 'call',
          callId: place.at('callID').text(),
          tool: place.at('tool').text(),
          args: jsonText(place.at('state').at('input').json()),
        },
      ];
    case 'subtask':
      return [{ kind: 'text', text: place.at('prompt').text() }];
    case 'compaction':
      return [{ kind: 'text', text: COMPACTION_WISH }];
    default:
      return UNSENT.has(type) ? [] : [{ kind: 'opaque', type, value: lasting(place.object()) }];
  }
}

/** What the provider wants back with a thought, under the provider's name. */
function signatureField(place: Place): { readonly signature?: string } {
  const { metadata } = place.object();
  for (const own of Object.values(isJsonObject(metadata) ? metadata : {})) {
    if (!isJsonObject(own)) continue;
    const signed = own['signature'] ?? own['redactedData'] ?? own['reasoningEncryptedContent'];
    if (typeof signed === 'string') return { signature: signed };
  }
  return {};
}

function decodeResult(place: Place): readonly ResultPart[] {
  if (place.at('type').value !== 'tool') return [];
  const state = place.at('state');
  const { status, output, error } = state.object();
  if (status !== 'completed' && status !== 'error') return [];
  const text = status === 'error' ? error : output;
  return [
    {
      kind: 'result',
      callId: place.at('callID').text(),
      tool: place.at('tool').text(),
      outcome: status === 'error' ? 'failure' : 'success',
      content: typeof text === 'string' && text !== '' ? [{ kind: 'text', text }] : [],
    },
  ];
}

function sessionOf(head: JsonObject, info: Place, entries: readonly Entry[]): Session {
  const spoken = entries.filter((entry) => !isMade(entry));
  const compactions = entries.flatMap((_, i) => compactionAt(entries, i) ?? []);
  const messages = spoken.flatMap((entry) => entry.messages);
  const last = compactions.at(-1);
  const model = lastOf(messages, ({ meta }) => meta?.model !== undefined)?.meta?.model;
  const { time, directory, version } = info.object();
  return {
    format: 'opencode',
    header: {
      id: info.at('id').text(),
      ...timeField(isJsonObject(time) ? time['created'] : undefined),
      ...textField('cwd', directory),
      ...textField('model', model),
      ...textField('version', version),
    },
    entries: [{ original: head, messages: [] }, ...entries.map(plain)],
    messages,
    compactions,
    context: last === undefined ? messages : [summaryOf(last), ...messages.slice(last.firstKept)],
  };
}

function plain({ original, messages }: Entry): SessionEntry {
  return { original, messages };
}

/** Said by OpenCode itself: the request for a compaction, and the summary. */
function isMade({ isSummary, compaction }: Entry): boolean {
  return isSummary || compaction !== undefined;
}

/** The compaction whose summary an entry is; one that was never answered changed nothing. */
function compactionAt(entries: readonly Entry[], at: number): SessionCompaction | undefined {
  const entry = entries[at];
  if (entry?.isSummary !== true || entry.messages.length === 0) return undefined;
  const request = lastOf(entries.slice(0, at), ({ compaction }) => compaction !== undefined);
  const tail = request?.compaction?.['tail_start_id'];
  const from = entries.findIndex(({ id }) => id === tail);
  const after = spokenBefore(entries, at);
  const [message] = entry.messages;
  return {
    summary: entry.messages.map(textOf).join('\n'),
    after,
    firstKept: from < 0 ? after : spokenBefore(entries, from),
    ...timeField(message?.meta?.time),
  };
}

function spokenBefore(entries: readonly Entry[], at: number): number {
  const before = entries.slice(0, at).filter((entry) => !isMade(entry));
  return before.flatMap(({ messages }) => messages).length;
}

function summaryOf({ summary, time }: SessionCompaction): Message {
  const meta = time === undefined ? { synthetic: true } : { time, synthetic: true };
  return { role: 'user', parts: [{ kind: 'text', text: summary }], meta };
}
