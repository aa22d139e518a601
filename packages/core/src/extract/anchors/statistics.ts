import type { Node } from '../../thread/thread.ts';
import { startsTurn } from '../../message/message.ts';
import { AnchorReader, type Anchor } from './anchor.ts';
import { FileTrails, noteTouch, type FileAccess } from './files.ts';
import { scan, segment, VOICE, type Mention, type Segment, type Voice } from './scan.ts';
import type { Note } from '../../plan/summary.ts';
import { isDone } from './tool-effects.ts';

/** How fast the names that the agent used and that any speaker used fade, in messages. */
const [OWN_FADE, ANY_FADE] = [48, 12];

/** A text in its place among the others. */
export interface Placed {
  readonly segment: Segment;
  /** The number of the message on its path. */
  readonly index: number;
  readonly turn: number;
  /** The one file that it is about; none if a call failed. */
  file: FileAccess | undefined;
  readonly changes: boolean;
  /** For a result: the text of its call. */
  readonly call: number | undefined;
  /** The anchors of the segment's mentions. */
  readonly ids: Int32Array;
}

const UNRELATED = { file: undefined, changes: false, call: undefined } as const;

/** How an anchor was named. */
export interface Row {
  turns: number;
  lastTurn: number;
  /** The fewest anchors next to it in one text, as a logarithm. */
  fewestBeside: number;
  /** How often the agent and how often any speaker named it, each fading; as of `fadedAt`. */
  own: number;
  any: number;
  fadedAt: number;
}

/** What is known of a conversation's anchors: a fold over its texts, oldest first, linear in them. */
export class AnchorStatistics {
  readonly reader: AnchorReader = new AnchorReader();
  readonly anchors: Anchor[] = [];
  readonly rows: Row[] = [];
  readonly placed: Placed[] = [];
  readonly files: FileTrails = new FileTrails();
  /**
   * Where the calls that have no result yet are in `placed`, oldest first. An id may come again: the source of a
   * transcript may hide ids.
   */
  readonly #open = new Map<string, number[]>();
  readonly #changed = new Map<string, FileAccess[]>();
  readonly #ids = new Map<string, number>();
  /** The number after that of the last message. */
  end: number = 0;
  turns: number = 0;

  /** The files that a call changed; none if it failed. */
  changedBy(callId: string, index: number): readonly FileAccess[] {
    return this.#changed.get(`${index} ${callId}`) ?? [];
  }

  idOf(key: string): number | undefined {
    return this.#ids.get(key);
  }

  /** The anchors that a line names. */
  idsIn(line: string): readonly number[] {
    const ids = new Set<number>();
    this.reader.read(line, 0, line.length, (anchors) => {
      for (const { key } of anchors) {
        const id = this.#ids.get(key);
        if (id !== undefined) ids.add(id);
      }
    });
    return [...ids];
  }

  /** Takes the next message. Returns where its texts are in `placed`. */
  add({ message, index, turn }: Pick<Node, 'message' | 'index' | 'turn'>): readonly number[] {
    if (startsTurn(message)) this.turns++;
    return scan(message, this.reader).map((own) => this.#place(own, index, turn));
  }

  /** Takes a line that an earlier summary quoted, at its original place. */
  addNote({ text, at = 0, turn }: Note, voice: Voice, file: FileAccess | undefined): void {
    this.#put({
      ...UNRELATED,
      segment: segment(text, { voice }, this.reader),
      index: at,
      turn,
      file,
    });
  }

  #place(own: Segment, index: number, turn: number): number {
    const { voice, callId } = own;
    const placed = { ...UNRELATED, segment: own, index, turn };
    if (callId !== undefined && voice === VOICE.args) return this.#placeCall(placed, callId);
    const call = callId === undefined || voice !== VOICE.tool ? undefined : this.#answered(callId);
    if (call === undefined) return this.#put(placed);
    this.#settle(call, own);
    const { file, changes } = this.placed[call] as Placed;
    return this.#put({ ...placed, file, changes, call });
  }

  #placeCall(placed: Omit<Placed, 'ids'>, callId: string): number {
    const { touches = [], only = false } = placed.segment.touched ?? {};
    const files = new Set(touches.map(({ path }) => this.files.named(path, placed.index)));
    const file = only && files.size === 1 ? [...files][0] : undefined;
    const changes = touches.some(({ does }) => does !== 'reads');
    const at = this.#put({ ...placed, file, changes });
    this.#open.set(callId, [...(this.#open.get(callId) ?? []), at]);
    return at;
  }

  /** The call that a result answers: the first one with its id in the last message that has an open call of that id. */
  #answered(callId: string): number | undefined {
    const open = this.#open.get(callId) ?? [];
    const messageOf = (call: number | undefined): number => this.placed[call ?? -1]?.index ?? -1;
    const last = messageOf(open.at(-1));
    const [call] = open.splice(
      open.findIndex((one) => messageOf(one) === last),
      1,
    );
    return call;
  }

  /** What a call did to files is known when its result is there. */
  #settle(at: number, result: Segment): void {
    const call = this.placed[at] as Placed;
    const { touches = [], only = false } = call.segment.touched ?? {};
    const done = touches.filter((touch) => isDone(touch, only, result));
    if (done.length === 0) call.file = undefined;
    for (const touch of done) {
      const file = this.files.named(touch.path, call.index);
      noteTouch(file, touch, call.index);
      if (touch.does === 'reads') continue;
      const key = `${call.index} ${call.segment.callId ?? ''}`;
      this.#changed.set(key, [...(this.#changed.get(key) ?? []), file]);
    }
  }

  #put(own: Omit<Placed, 'ids'>): number {
    const { mentions } = own.segment;
    this.end = Math.max(this.end, own.index + 1);
    const ids = new Int32Array(mentions.length);
    const beside = Math.log2(1 + mentions.length);
    for (let k = 0; k < mentions.length; k++) {
      const mention = mentions[k] as Mention;
      const id = this.#anchor(mention.anchor);
      ids[k] = id;
      this.#note(id, own, beside);
    }
    return this.placed.push({ ...own, ids }) - 1;
  }

  #anchor(anchor: Anchor): number {
    let id = this.#ids.get(anchor.key);
    if (id === undefined) {
      id = this.anchors.length;
      this.#ids.set(anchor.key, id);
      this.anchors.push(anchor);
    }
    return id;
  }

  #note(
    id: number,
    { segment: { voice }, index, turn }: Omit<Placed, 'ids'>,
    beside: number,
  ): void {
    const row = (this.rows[id] ??= {
      turns: 0,
      lastTurn: -1,
      fewestBeside: beside,
      own: 0,
      any: 0,
      fadedAt: index,
    });
    if (beside < row.fewestBeside) row.fewestBeside = beside;
    const gap = Math.max(0, index - row.fadedAt);
    row.own =
      row.own * Math.exp(-gap / OWN_FADE) + (voice === VOICE.text || voice === VOICE.args ? 1 : 0);
    row.any = row.any * Math.exp(-gap / ANY_FADE) + 1;
    row.fadedAt = Math.max(row.fadedAt, index);
    if (turn === row.lastTurn) return;
    row.turns++;
    row.lastTurn = turn;
  }

  /** What is left at the end of how often an anchor was named. */
  faded({ own, any, fadedAt }: Row): readonly [own: number, any: number] {
    const gap = this.end - fadedAt;
    return [own * Math.exp(-gap / OWN_FADE), any * Math.exp(-gap / ANY_FADE)];
  }
}
