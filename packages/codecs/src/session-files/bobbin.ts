import { textMessage, type Message } from '@bobbin/core';
import { type JsonObject, lastOf, reversed } from '@bobbin/core/internal';
import { DecodeError } from '../wire/decode-error.ts';
import type { Place } from '../wire/place.ts';
import { checkedMessage, withKnownWire } from './bobbin-message.ts';
import {
  encodeJsonLines,
  firstLines,
  jsonLines,
  textField,
  timeField,
  tokenCount,
} from './json-lines.ts';
import type { Session, SessionCompaction, SessionFormat } from './session.ts';

/**
 * Session files of Bobbin itself: a `session` line, messages that name their parents, heads that moved, and compactions.
 * What the last compaction on the path shows is its summary, the first message that it kept and all after that one.
 */
export const bobbinSession: SessionFormat = {
  name: 'bobbin',
  recognises(text) {
    const [header] = firstLines(text, 1);
    return header !== undefined && isHeader(header);
  },
  decode(text) {
    const [header, ...lines] = jsonLines(text);
    if (header === undefined || !isHeader(header.object()))
      throw new DecodeError('line 1', 'must be the header of a Bobbin session');
    return new BobbinFile(header, lines).session();
  },
  encode: encodeJsonLines,
};

function isHeader({ type, format, thread }: JsonObject): boolean {
  return type === 'session' && typeof format === 'number' && typeof thread === 'string';
}

interface Line {
  readonly parent: string | null;
  readonly message: Message;
}

class BobbinFile {
  readonly #header: Place;
  readonly #places: readonly Place[];
  readonly #lines = new Map<string, Line>();
  #head: string | null = null;

  constructor(header: Place, places: readonly Place[]) {
    this.#header = header;
    this.#places = places;
    for (const place of places) this.#read(place);
  }

  session(): Session {
    const path = this.#path();
    const messages = withKnownWire(path.map((id) => (this.#lines.get(id) as Line).message));
    const made = this.#places.flatMap((place) => compactionOn(path, place));
    const last = made.at(-1);
    const model = lastOf(messages, ({ meta }) => meta?.model !== undefined)?.meta?.model;
    return {
      format: 'bobbin',
      header: {
        id: this.#header.at('thread').text(),
        ...textField('model', model),
        version: String(this.#header.at('format').value),
      },
      entries: [this.#header, ...this.#places].map((place) => this.#entryOf(place)),
      messages,
      compactions: made
        .filter((each, i) => isNew(each, made[i - 1]))
        .map(({ compaction }) => compaction),
      context: last === undefined ? messages : contextOf(messages, last.compaction),
    };
  }

  #read(place: Place): void {
    const type = place.at('type').text();
    if (type !== 'message' && type !== 'head') return;
    const id = place.at('id').text();
    if (type === 'head' && !this.#lines.has(id))
      return place.at('id').fail('must be the id of a message before it');
    this.#head = id;
    if (type === 'head' || this.#lines.has(id)) return;
    const parent = place.at('parent').optionalText() ?? null;
    if (parent !== null && !this.#lines.has(parent))
      return place.at('parent').fail('must be the id of a message before it');
    this.#lines.set(id, { parent, message: checkedMessage(place.at('message')) });
  }

  #path(): readonly string[] {
    const path: string[] = [];
    for (let id = this.#head; id !== null; id = this.#lines.get(id)?.parent ?? null) path.push(id);
    return reversed(path);
  }

  #entryOf(place: Place): Session['entries'][number] {
    const isMessage = place.at('type').value === 'message';
    const line = isMessage ? this.#lines.get(place.at('id').text()) : undefined;
    return { original: place.object(), messages: line === undefined ? [] : [line.message] };
  }
}

interface Made {
  readonly compaction: SessionCompaction;
  /** An undo is a plan too: it shows again what a compaction had hidden. */
  readonly isUndo: boolean;
}

/** The compaction of a line, if it was made on a path: another fork does not know it. */
function compactionOn(path: readonly string[], place: Place): readonly Made[] {
  if (place.at('type').value !== 'compaction') return [];
  const plan = place.at('plan');
  const head = plan.at('head').optionalText();
  const after = head === undefined ? 0 : path.indexOf(head) + 1;
  if (head !== undefined && after === 0) return [];
  const firstKept = path.indexOf(place.at('firstKeptId').optionalText() ?? '');
  const compaction = {
    summary: place.at('summary').optionalText() ?? '',
    after,
    firstKept: firstKept < 0 ? after : firstKept,
    ...timeField(place.at('timestamp').value),
    tokensBefore: tokenCount(place.at('tokensBefore').value),
  };
  const isUndo = plan.has('undid') || plan.at('records').list().length === 0;
  return [{ compaction, isUndo }];
}

/** Plans also move out single results: what a summary replaces stays the same then. */
function isNew({ compaction, isUndo }: Made, before: Made | undefined): boolean {
  const { summary, firstKept } = before?.compaction ?? { summary: '', firstKept: 0 };
  return !isUndo && (compaction.summary !== summary || compaction.firstKept !== firstKept);
}

function contextOf(
  messages: readonly Message[],
  { summary, firstKept, time }: SessionCompaction,
): readonly Message[] {
  const kept = messages.slice(firstKept);
  if (summary === '') return kept;
  const meta = { ...(time === undefined ? {} : { time }), synthetic: true };
  return [textMessage('user', summary, meta), ...kept];
}
