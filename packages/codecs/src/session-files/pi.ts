import { textMessage, type Message } from '@bobbin/core';
import { isJsonObject, type JsonObject, lastIndex, reversed } from '@bobbin/core/internal';
import { DecodeError } from '../wire/decode-error.ts';
import type { Place } from '../wire/place.ts';
import {
  encodeJsonLines,
  firstLines,
  jsonLines,
  textField,
  timeField,
  tokenCount,
} from './json-lines.ts';
import { decodePiMessage } from './pi-message.ts';
import type {
  Session,
  SessionCompaction,
  SessionEntry,
  SessionFormat,
  SessionHeader,
} from './session.ts';

/**
 * Session files of pi, versions 1 to 3. Version 1 is a line of entries, in which a compaction names the first entry it
 * keeps by its number; from 2 on entries have ids and parents, and the last one is the head.
 */
export const piSession: SessionFormat = {
  name: 'pi',
  recognises(text) {
    const [header] = firstLines(text, 1);
    return header?.['type'] === 'session' && typeof header['id'] === 'string';
  },
  decode(text) {
    const places = jsonLines(text);
    const [header] = places;
    if (header?.at('type').value !== 'session')
      throw new DecodeError('line 1', 'must be the header of a pi session');
    return sessionOf(header, places.slice(1));
  },
  encode: encodeJsonLines,
};

/** An entry with its place in the tree, as every version means it. */
interface Line {
  readonly place: Place;
  readonly type: string;
  readonly id: string;
  readonly parent: string | null;
  /** None if the line holds no message, or one that the user hid from the model. */
  readonly message: Message | undefined;
}

function sessionOf(header: Place, places: readonly Place[]): Session {
  const lines = version(header) < 2 ? places.map(numbered) : places.map(linked);
  const whole = pathOf(lines);
  const edits = editsOf(whole);
  const shown = new Map(whole.map((line) => [line, { ...line, message: edited(line, edits) }]));
  const path = [...shown.values()];
  const entries = lines.map((line) => entryOf(shown.get(line) ?? line));
  return {
    format: 'pi',
    header: headerOf(header),
    entries: [{ original: header.object(), messages: [] }, ...entries],
    messages: messagesOf(path),
    compactions: path.flatMap(({ type }, i) =>
      type === 'compaction' ? [compactionAt(path, i)] : [],
    ),
    context: contextOf(path),
  };
}

function compactionAt(path: readonly Line[], at: number): SessionCompaction {
  const { place } = path[at] as Line;
  const before = messagesOf(path.slice(0, at)).length;
  const kept = firstKept(path, at);
  return {
    summary: place.at('summary').text(),
    after: before,
    firstKept: kept === undefined ? before : messagesOf(path.slice(0, kept)).length,
    ...timeField(place.at('timestamp').value),
    tokensBefore: tokenCount(place.at('tokensBefore').value),
  };
}

/** From the root to the last entry. */
function pathOf(lines: readonly Line[]): readonly Line[] {
  const byId = new Map(lines.map((line) => [line.id, line]));
  const path: Line[] = [];
  let line = lines.at(-1);
  while (line !== undefined && path.length <= lines.length) {
    path.push(line);
    line = line.parent === null ? undefined : byId.get(line.parent);
  }
  return reversed(path);
}

/** As pi rebuilds it: the newest summary, what was kept before it, and all that came after it. */
function contextOf(path: readonly Line[]): readonly Message[] {
  const at = lastIndex(path, ({ type }) => type === 'compaction');
  if (at < 0) return messagesOf(path);
  const kept = [...keptLines(path, at), ...path.slice(at + 1)];
  return [...checkpoint(path[at] as Line), ...messagesOf(kept)];
}

function version(header: Place): number {
  return tokenCount(header.at('version').value) || 1;
}

function headerOf(header: Place): SessionHeader {
  return {
    id: header.at('id').text(),
    ...timeField(header.at('timestamp').value),
    ...textField('cwd', header.at('cwd').value),
    ...textField('model', header.at('modelId').value),
    version: String(version(header)),
  };
}

/** Version 1: each entry follows the one before. Numbers count the header as 0. */
function numbered(place: Place, i: number): Line {
  return lineOf(place, String(i + 1), i === 0 ? null : String(i));
}

function linked(place: Place): Line {
  return lineOf(place, place.at('id').text(), place.at('parentId').optionalText() ?? null);
}

function lineOf(place: Place, id: string, parent: string | null): Line {
  const type = place.at('type').text();
  const message = isHidden(place) ? undefined : messageOf(type, place);
  return { place, type, id, parent, message };
}

function messageOf(type: string, place: Place): Message | undefined {
  switch (type) {
    case 'message':
      return decodePiMessage(place.at('message'));
    case 'custom_message':
      return decodePiMessage(place.holding({ ...place.object(), role: 'custom' }));
    case 'branch_summary':
      return summaryOf(place);
    default:
      return undefined;
  }
}

/** A summary that pi made, as the user message that the model reads. */
function summaryOf(place: Place): Message {
  const meta = { ...timeField(place.at('timestamp').value), synthetic: true };
  return textMessage('user', place.at('summary').text(), meta);
}

function entryOf({ place, message }: Line): SessionEntry {
  return { original: place.object(), messages: message === undefined ? [] : [message] };
}

function messagesOf(lines: readonly Line[]): readonly Message[] {
  return lines.flatMap(({ message }) => message ?? []);
}

/** The position on the path of the first entry that a compaction keeps; undefined if it keeps none. */
function firstKept(path: readonly Line[], at: number): number | undefined {
  const { place } = path[at] as Line;
  const {
    firstKeptEntryId: byId,
    firstKeptEntryIndex: byNumber,
    keepLastMessages,
  } = place.object();
  if (typeof keepLastMessages === 'number') return lastMessages(path, at, keepLastMessages);
  const id = typeof byNumber === 'number' ? String(byNumber) : byId;
  const found = path.findIndex((line) => line.id === id);
  return found < 0 || found >= at ? undefined : found;
}

/** Where the last so many messages before a compaction begin: none of them comes before the previous compaction. */
function lastMessages(path: readonly Line[], at: number, count: number): number | undefined {
  let first: number | undefined;
  for (let i = at - 1, left = count; i >= 0 && left > 0; i--) {
    const { type, message } = path[i] as Line;
    if (type === 'compaction') break;
    if (message === undefined) continue;
    first = i;
    left -= 1;
  }
  return first;
}

/** System messages and older compactions among what was kept are part of the newest checkpoint. */
function keptLines(path: readonly Line[], at: number): readonly Line[] {
  const from = firstKept(path, at) ?? at;
  return path.slice(from, at).filter(({ message }) => message?.role !== 'system');
}

function checkpoint({ place }: Line): readonly Message[] {
  const system = place.has('systemMessage') ? [decodePiMessage(place.at('systemMessage'))] : [];
  return [...system, summaryOf(place)];
}

/** The newest edit of each entry. */
function editsOf(lines: readonly Line[]): ReadonlyMap<string, Place> {
  const edits = lines.filter(({ type }) => type === 'context_edit');
  return new Map(edits.map(({ place }) => [place.at('targetId').text(), place.at('replacement')]));
}

/** The message of a line as the model sees it: none, with other content, or as it is. */
function edited(line: Line, edits: ReadonlyMap<string, Place>): Message | undefined {
  const { message, place, id } = line;
  const replacement = edits.get(id);
  if (message === undefined || replacement === undefined) return message;
  if (replacement.value === null) return undefined;
  const content = replacement.object()['content'];
  const wire = line.type === 'message' ? place.at('message').object() : place.object();
  return redecoded(place, { role: 'custom', ...wire, content: blocks(content) });
}

function redecoded(place: Place, wire: JsonObject): Message {
  return decodePiMessage(place.holding(wire));
}

function blocks(content: JsonObject[string]): JsonObject[string] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** A command that the user ran and kept from the model. */
function isHidden(place: Place): boolean {
  const { message } = place.object();
  return isJsonObject(message) && message['excludeFromContext'] === true;
}
