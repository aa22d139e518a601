import {
  callsOf,
  resultsOf,
  resultText,
  textOf,
  type Message,
  type Outcome,
} from '../../message/message.ts';
import { chunkEnd, type Anchor, type AnchorReader, type Form, type Met } from './anchor.ts';
import { touchedBy, type Touched } from './tool-effects.ts';

/** Whose words a text is. */
export const VOICE = { user: 0, text: 1, args: 2, tool: 3, system: 4 } as const;
export type Voice = (typeof VOICE)[keyof typeof VOICE];

/** An anchor in one text. */
export interface Mention {
  readonly anchor: Anchor;
}

/** A line of a text that holds anchors, or a part of a long line. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  /** Positions in the segment's mentions. */
  readonly mentions: readonly number[];
  readonly hash: number;
}

/** One text of a message: what was said, what was called, what came back. */
export interface Segment {
  readonly voice: Voice;
  readonly text: string;
  readonly tool: string;
  readonly callId: string | undefined;
  /** For a call: what it does to files. */
  readonly touched: Touched | undefined;
  /** For a result: how the call ended, if the host said so. */
  readonly outcome: Outcome | undefined;
  readonly mentions: readonly Mention[];
  readonly pieces: readonly Piece[];
}

const scans = new WeakMap<Message, readonly Segment[]>();

/** The texts of a message with their anchors. Each message is read only once. */
export function scan(message: Message, reader: AnchorReader): readonly Segment[] {
  let segments = scans.get(message);
  if (segments === undefined) {
    segments = [...segmentsOf(message, reader)];
    scans.set(message, segments);
  }
  return segments;
}

function* segmentsOf(message: Message, reader: AnchorReader): Iterable<Segment> {
  const said = textOf(message);
  if (said !== '') yield segment(said, { voice: VOICE_OF[message.role] }, reader);
  for (const call of callsOf(message)) {
    const own = {
      voice: VOICE.args,
      tool: call.tool,
      callId: call.callId,
      touched: touchedBy(call),
    };
    yield segment(`${call.tool} ${call.args}`, own, reader);
  }
  for (const result of resultsOf(message)) {
    const { callId, tool = '', outcome } = result;
    yield segment(resultText(result), { voice: VOICE.tool, tool, callId, outcome }, reader);
  }
}

const VOICE_OF: Readonly<Record<Message['role'], Voice>> = { ...VOICE, assistant: VOICE.text };

/** True if a text has its line feeds escaped: arguments are JSON, except those that a tool takes as plain text. */
function isEscaped(text: string, voice: Voice): boolean {
  return voice === VOICE.args && !text.includes('\n');
}

/** A text on its own: a note that an earlier summary quotes. */
export function segment(
  text: string,
  own: Pick<Segment, 'voice'> & Partial<Segment>,
  reader: AnchorReader,
): Segment {
  const { voice, tool = '', callId, touched, outcome } = own;
  const lines = new Lines(text, voice, reader);
  lines.read();
  const { mentions, pieces } = lines;
  return { voice, text, tool, callId, touched, outcome, mentions, pieces };
}

const HEAD_CHARS = 150_000;
const TAIL_CHARS = 50_000;
/** The longest stretch that is quoted as one; a line may be a little longer. */
const PIECE = 170;
const SLACK = 40;
/** A key of arguments, with which a line of them begins. */
const KEY = /"[\w-]{1,40}":/y;
const [BACKSLASH, DOT, SPACE] = [92, 46, 32];

class Lines {
  readonly mentions: Mention[] = [];
  readonly pieces: Piece[] = [];
  readonly #text: string;
  readonly #voice: Voice;
  readonly #reader: AnchorReader;
  readonly #form: Form;
  readonly #byKey = new Map<string, number>();
  /** The next escaped line feed and the next value of arguments, as far as they were looked for. */
  #feedAt = -1;
  #keyAt = -1;
  /** The mentions of the piece that is read. */
  #own: number[] = [];

  constructor(text: string, voice: Voice, reader: AnchorReader) {
    this.#text = text;
    this.#voice = voice;
    this.#reader = reader;
    this.#form = isEscaped(text, voice) ? 'json' : 'plain';
  }

  /** Only the beginning and the end of a very long text are read: the time for one message has a bound. */
  read(): void {
    const { length } = this.#text;
    this.#read(0, Math.min(length, HEAD_CHARS));
    if (length > HEAD_CHARS) this.#read(Math.max(HEAD_CHARS, length - TAIL_CHARS), length);
  }

  #read(from: number, to: number): void {
    const text = this.#text;
    const escaped = isEscaped(text, this.#voice);
    for (let start = from; start < to;) {
      const end = escaped ? this.#argumentEnd(start + 1) : this.#find('\n', start);
      let begin = start;
      while (end - begin > PIECE + SLACK) {
        const next = this.#breakAt(begin);
        this.#piece(begin, next);
        begin = next;
        if (begin > to) return;
      }
      if (end > begin) this.#piece(begin, end);
      start = escaped ? end : end + 1;
    }
  }

  #find(mark: string, from: number): number {
    const found = this.#text.indexOf(mark, from);
    return found < 0 ? this.#text.length : found;
  }

  /** Arguments are JSON: their lines end before an escaped line feed, and after a value that another follows. */
  #argumentEnd(from: number): number {
    const text = this.#text;
    // If there is none, the end of the text counts, regardless of what comes before it.
    while (
      this.#feedAt < text.length &&
      (this.#feedAt < from || text.charCodeAt(this.#feedAt - 1) === BACKSLASH)
    )
      this.#feedAt = this.#find(String.raw`\n`, Math.max(from, this.#feedAt + 1));
    if (this.#keyAt < from) this.#keyAt = this.#nextKey(from);
    return Math.min(this.#feedAt, this.#keyAt);
  }

  /** Where the next key of the arguments begins; the end of the text if there is none. */
  #nextKey(from: number): number {
    const text = this.#text;
    for (
      let k = text.indexOf('","', Math.max(0, from - 2));
      k >= 0;
      k = text.indexOf('","', k + 1)
    ) {
      KEY.lastIndex = k + 2;
      if (KEY.test(text)) return k + 2;
    }
    return text.length;
  }

  #piece(start: number, end: number): void {
    const hash = this.#reader.read(this.#text, start, end, this.#met, this.#form);
    if (this.#own.length === 0) return;
    this.pieces.push({ start, end, mentions: this.#own, hash });
    this.#own = [];
  }

  readonly #met: Met = (anchors) => {
    for (const anchor of anchors) {
      const at = this.#mention(anchor);
      if (!this.#own.includes(at)) this.#own.push(at);
    }
  };

  #mention(anchor: Anchor): number {
    let at = this.#byKey.get(anchor.key);
    if (at === undefined) {
      at = this.mentions.length;
      this.#byKey.set(anchor.key, at);
      this.mentions.push({ anchor });
    }
    return at;
  }

  /** Where a long line is broken: after a sentence in prose, otherwise at a space, never inside a chunk. */
  #breakAt(from: number): number {
    const text = this.#text;
    const prose = this.#voice === VOICE.text || this.#voice === VOICE.user;
    if (prose)
      for (let k = from + PIECE + 30; k > from + 50; k--)
        if (text.charCodeAt(k) === DOT && text.charCodeAt(k + 1) === SPACE) return k + 2;
    for (let k = from + PIECE; k > from + 60; k--) if (text.charCodeAt(k) === SPACE) return k;
    return chunkEnd(text, from + PIECE);
  }
}
