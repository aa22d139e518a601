import { sorted } from '../../check/list.ts';
import type { Note, Speaker } from '../../plan/summary.ts';
import type { FileAccess } from '../anchors/files.ts';
import { VOICE, type Piece, type Segment, type Voice } from '../anchors/scan.ts';
import type { AnchorStatistics, CallTrail, Placed } from '../anchors/statistics.ts';
import {
  callLine,
  isWithin,
  NO_RANGES,
  quoted,
  stretchOf,
  takenAway,
  tells,
  wordsBeside,
  type Range,
} from './quote.ts';
import { rounded, standing, type Group, type Item, type Selection } from './select.ts';

const HEADING_CHARS = 180;
/** The marks of a line in the summary, and of a heading, `[m123] `. */
const MARK_CHARS = 3;
const NUMBER_CHARS = 8;
/** How many pieces are looked at for each anchor, and how many anchors for a number of characters. */
const PIECES_PER_ANCHOR = 4;
const CHARS_PER_ANCHOR = 12;
const SHORTEST_LINE = 6;
/** Of lines of one text that differ in numbers alone so many are quoted. */
const MOST_ALIKE = 3;

/** A stretch of a text that could be quoted. */
interface Line extends Item {
  readonly of: number;
  readonly piece: Piece;
  start: number;
  end: number;
  body: string;
}

/** A line that an earlier summary quotes. */
interface CarriedLine extends Item {
  readonly note: Note;
}

interface PlacedNote {
  readonly of: number;
  readonly start: number;
  readonly note: Note;
}

/** The lines about one file, or from one call. */
interface LineGroup extends Group {
  readonly file: FileAccess | undefined;
  readonly source: string | undefined;
  /** The text of the call. */
  readonly of: number | undefined;
  readonly lines: Map<number, Line[]>;
}

/** Chooses lines of calls, results and system messages because of the exact strings in them. */
export class ExactLines {
  readonly #statistics: AnchorStatistics;
  readonly #selection: Selection;
  readonly #mayQuote: (of: number) => boolean;
  readonly #groups = new Map<string, LineGroup>();
  readonly #carried: CarriedLine[] = [];
  readonly #seen = new Set<string>();
  /** How many lines of each text are alike but for their numbers. */
  readonly #alike = new Map<number, Map<string, number>>();
  readonly #taken = new Map<number, readonly Range[]>();

  constructor(
    statistics: AnchorStatistics,
    selection: Selection,
    mayQuote: (of: number) => boolean,
  ) {
    this.#statistics = statistics;
    this.#selection = selection;
    this.#mayQuote = mayQuote;
  }

  /** Takes a line that an earlier summary quotes. */
  carry(note: Note): void {
    const { source, at, text } = note;
    const group = this.#group(`carried ${source ?? ''} ${at ?? ''}`, {
      ...(source === undefined ? {} : { source }),
      headingChars: (source?.length ?? 0) + NUMBER_CHARS,
    });
    const item = { ...itemOf(group, text.length + MARK_CHARS, this.#statistics.idsIn(text)), note };
    group.items.push(item);
    this.#carried.push(item);
    this.#seen.add(note.text);
  }

  offer(): void {
    for (const [of, piece] of this.#candidates()) this.#add(of, piece);
    for (const group of this.#groups.values())
      for (const item of group.items) this.#selection.offer(item);
  }

  /** The chosen lines as notes, in the order of the conversation; neighbours are one note. */
  chosen(): readonly Note[] {
    const notes: PlacedNote[] = [];
    for (const group of this.#groups.values()) {
      const named = this.#namedCall(group);
      if (named !== undefined) notes.push(named);
      for (const [of, lines] of group.lines) {
        const { segment, index, turn, call } = this.#statistics.placed[of] as Placed;
        const at = call === undefined ? index : (this.#statistics.placed[call] as Placed).index;
        const source = group.file?.path ?? group.source;
        for (const { start, text, worth } of joined(lines)) {
          const own = { text, by: speakerOf(segment.voice), turn, at, worth: rounded(worth) };
          notes.push({ of, start, note: source === undefined ? own : { ...own, source } });
        }
      }
    }
    const carried = this.#carried
      .filter(({ taken }) => taken)
      .map(({ note, worth }) => ({ ...note, worth: rounded(worth) }));
    const own = sorted(notes, (a, b) => a.of - b.of || a.start - b.start);
    return [...carried, ...own.map(({ note }) => note)];
  }

  /** A call of which nothing but its own line is shown. */
  #namedCall({ of, source, open, items }: LineGroup): PlacedNote | undefined {
    const taken = items.filter((item) => item.taken);
    if (!open || source === undefined || of === undefined || taken.some(({ chars }) => chars > 0))
      return undefined;
    const { index, turn } = this.#statistics.placed[of] as Placed;
    const worth = rounded(Math.max(...taken.map((item) => item.worth)));
    return { of, start: 0, note: { text: '', by: 'assistant', source, turn, at: index, worth } };
  }

  /** For each anchor the few pieces that hold most for their length, the newest of equal lines. */
  #candidates(): readonly (readonly [of: number, piece: Piece])[] {
    const { placed } = this.#statistics;
    const { need, shown, roomChars } = this.#selection;
    const least = nthLargest(need, Math.ceil(Math.max(roomChars, 0) / CHARS_PER_ANCHOR));
    const best = new Map<number, Candidate[]>();
    for (let of = placed.length - 1; of >= 0; of--) {
      const { segment, ids, file, changes } = placed[of] as Placed;
      // The call that reads a file says nothing beside the file's name.
      const onlyReads = segment.voice === VOICE.args && file !== undefined && !changes;
      if (onlyReads || !this.#mayQuote(of)) continue;
      for (let k = segment.pieces.length - 1; k >= 0; k--) {
        const piece = segment.pieces[k] as Piece;
        let value = 0;
        for (const at of piece.mentions) value += need[ids[at] as number] as number;
        const candidate = { of, piece, density: value / (piece.end - piece.start + 12) };
        for (const at of piece.mentions) {
          const id = ids[at] as number;
          if ((need[id] as number) < least || shown[id] === 1) continue;
          const list = best.get(id);
          if (list === undefined) best.set(id, [candidate]);
          else place(list, candidate);
        }
      }
    }
    const chosen = new Map<Piece, number>();
    for (const list of best.values())
      for (const { of, piece } of list)
        if (!isWithin(piece.start, this.#takenAway(of))) chosen.set(piece, of);
    return sorted(
      [...chosen].map(([piece, of]) => [of, piece] as const),
      (a, b) => b[0] - a[0] || b[1].start - a[1].start,
    );
  }

  #add(of: number, piece: Piece): void {
    const { ids, segment, changes } = this.#statistics.placed[of] as Placed;
    const group = this.#groupOf(of);
    const line: Line = {
      group,
      of,
      piece,
      start: piece.start,
      end: piece.end,
      body: '',
      merit: lineMerit(segment, piece, changes),
      chars: Math.max(8, piece.end - piece.start - 6),
      ids: piece.mentions.map((at) => ids[at] as number),
      stands: undefined,
      settle: this.#settle,
      taken: false,
      worth: 0,
    };
    group.items.push(line);
    const own = group.lines.get(of);
    if (own === undefined) group.lines.set(of, [line]);
    else own.push(line);
  }

  /** The text of a line is made when its turn comes: its length, and how well each anchor is explained by its words. */
  readonly #settle = (item: Item): void => {
    const line = item as Line;
    const { segment } = this.#statistics.placed[line.of] as Placed;
    const { anchors } = this.#statistics;
    const name = anchors[this.#mostNeeded(line.ids)]?.key ?? '';
    const stretch = stretchOf(segment, line.piece, name, this.#takenAway(line.of));
    const isOpening = stretch.start === 0 && segment.voice === VOICE.args;
    const read = isOpening
      ? quoted(segment.text.slice(segment.tool.length + 1, stretch.end), VOICE.args)
      : stretch.body;
    const body = segment.voice === VOICE.tool ? this.#withoutMany(line.of, read) : read;
    line.start = stretch.start;
    line.end = stretch.end;
    line.body = body;
    line.chars = body.length + MARK_CHARS * (1 + body.split('\n').length);
    const isNew =
      body.length >= SHORTEST_LINE &&
      tells(body) &&
      !this.#seen.has(body) &&
      !this.#isHeading(line, body);
    this.#seen.add(body);
    line.ids = isNew ? line.ids.filter((id) => body.includes(anchors[id]?.key ?? '')) : [];
    line.stands = line.ids.map((id) =>
      standing(wordsBeside(stretch.words, anchors[id]?.key ?? '')),
    );
  };

  /** True where the heading of the group shows the same words. */
  #isHeading({ group, start, of }: Line, body: string): boolean {
    const { source, of: call, file } = group as LineGroup;
    if (file !== undefined) return file.path.includes(body);
    if (source === undefined) return false;
    return (
      (start === 0 && of === call && body.length <= HEADING_CHARS) ||
      source.includes(body.replaceAll('\n', ' '))
    );
  }

  /** A text without more lines of a listing: the first of a kind say what the others are. */
  #withoutMany(of: number, body: string): string {
    const counts = this.#alike.get(of) ?? new Map<string, number>();
    this.#alike.set(of, counts);
    const isAmongFirst = (line: string): boolean => {
      const kind = line.replace(PASSED.test(line) ? /\S+/g : SMALL_NUMBER, '#');
      if (kind === line) return true;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return count <= MOST_ALIKE;
    };
    return body.split('\n').filter(isAmongFirst).join('\n');
  }

  /** The anchor for whose sake a line is quoted. */
  #mostNeeded(ids: readonly number[]): number {
    const { need, shown } = this.#selection;
    const lacks = (id: number): number => (need[id] as number) * (1 - (shown[id] as number));
    return ids.reduce((best, id) => (lacks(id) > lacks(best) ? id : best), ids[0] ?? 0);
  }

  #groupOf(of: number): LineGroup {
    const { segment, file, call, index } = this.#statistics.placed[of] as Placed;
    // The heading of a changed file is there anyway.
    if (file !== undefined)
      return this.#group(`file ${file.path}`, {
        file,
        headingChars: file.edits > 0 ? 0 : 12 + Math.min(60, file.path.length),
      });
    const trail = this.#statistics.calls.get(segment.voice === VOICE.args ? of : (call ?? -1));
    if (trail === undefined) return this.#group(`message ${index}`, { headingChars: NUMBER_CHARS });
    const source = sourceOf(this.#statistics, trail);
    return this.#group(`call ${trail.segment}`, {
      source,
      of: trail.segment,
      headingChars: source.length + NUMBER_CHARS + 4,
    });
  }

  #group(
    key: string,
    {
      file,
      source,
      of,
      headingChars,
    }: {
      readonly file?: FileAccess;
      readonly source?: string;
      readonly of?: number;
      readonly headingChars: number;
    },
  ): LineGroup {
    let group = this.#groups.get(key);
    if (group === undefined) {
      const ids = source === undefined ? [] : this.#statistics.idsIn(source);
      group = {
        file,
        source,
        of,
        headingChars,
        ids,
        stand: 1,
        items: [],
        open: false,
        lines: new Map(),
      };
      this.#groups.set(key, group);
      if (of !== undefined) group.items.push(itemOf(group, 0, []));
    }
    return group;
  }

  #takenAway(of: number): readonly Range[] {
    const { segment } = this.#statistics.placed[of] as Placed;
    if (segment.voice !== VOICE.args) return NO_RANGES;
    let ranges = this.#taken.get(of);
    if (ranges === undefined) this.#taken.set(of, (ranges = takenAway(segment.text)));
    return ranges;
  }
}

const LINE_MERIT = 0.0006;
/** A line of a diff that was added or removed, or a comment in words. */
const CHANGED_LINE = /^[+-](?![+-]{2}) *\S/;
const COMMENT = /^\s*[+-]?\s*(?:\/\/|#|\*|--|<!--)\s*\p{L}+(?: [\p{L}'’,.-]+){4}/u;

/** What a line is worth to a reader for each character, beside the anchors in it. */
function lineMerit({ text, voice }: Segment, { start, end }: Piece, changes: boolean): number {
  if (voice === VOICE.args) return changes ? LINE_MERIT : 0;
  const head = text.slice(start, Math.min(end, start + 120));
  return CHANGED_LINE.test(head) || COMMENT.test(head) ? LINE_MERIT : 0;
}

/** A piece that may be quoted for an anchor in it: how much it holds for its length. */
interface Candidate {
  readonly of: number;
  readonly piece: Piece;
  readonly density: number;
}

/** Puts a candidate among the best few, unless an equal line is there. */
function place(best: Candidate[], candidate: Candidate): void {
  const { piece, density } = candidate;
  const isFull = best.length === PIECES_PER_ANCHOR;
  if (isFull && (best[PIECES_PER_ANCHOR - 1] as Candidate).density >= density) return;
  for (const other of best) if (other.piece.hash === piece.hash) return;
  let at = isFull ? best.length - 1 : best.length;
  for (; at > 0 && (best[at - 1] as Candidate).density < density; at--)
    best[at] = best[at - 1] as Candidate;
  best[at] = candidate;
}

function itemOf(group: Group, chars: number, ids: readonly number[]): Item {
  const stands = ids.map(() => 1);
  return { group, merit: 0, chars, ids, stands, settle: () => undefined, taken: false, worth: 0 };
}

/** A call in one line. */
function sourceOf(statistics: AnchorStatistics, call: CallTrail): string {
  const { tool, text } = (statistics.placed[call.segment] as Placed).segment;
  return callLine(tool, text.slice(tool.length + 1), HEADING_CHARS);
}

const SMALL_NUMBER = /(?<![\w.])\d{1,3}(?![\w.])/g;
/** What passed is shown by its first few. */
const PASSED = /^\W*(?:PASS|ok|✓|✔|√)(?=\W)/;

interface Run {
  readonly start: number;
  end: number;
  text: string;
  worth: number;
}

/** The lines that were taken, in order, neighbours as one. */
function joined(lines: readonly Line[]): readonly Run[] {
  const runs: Run[] = [];
  const taken = sorted(
    lines.filter((line) => line.taken),
    (a, b) => a.start - b.start,
  );
  for (const { start, end, body, worth } of taken) {
    const last = runs.at(-1);
    if (last === undefined || start > last.end + 1) runs.push({ start, end, text: body, worth });
    else {
      last.end = Math.max(last.end, end);
      last.text = [...new Set([...last.text.split('\n'), ...body.split('\n')])].join('\n');
      last.worth = Math.max(last.worth, worth);
    }
  }
  return runs;
}

function speakerOf(voice: Voice): Speaker {
  switch (voice) {
    case VOICE.user:
      return 'user';
    case VOICE.text:
    case VOICE.args:
      return 'assistant';
    case VOICE.tool:
      return 'tool';
    case VOICE.system:
      return 'system';
  }
}

function nthLargest(values: Float64Array, n: number): number {
  return n >= values.length ? 0 : (sorted(values)[values.length - n] ?? 0);
}
