import { keyOfPath } from '../anchors/anchor.ts';
import { hasFailed } from '../facts/outcomes.ts';
import {
  callLine,
  isSetting,
  isWithin,
  NO_RANGES,
  quoted,
  stretchOf,
  takenAway,
  tells,
  wordsBeside,
  type Range,
} from './quote.ts';
import { VOICE, type Piece, type Segment, type Voice } from '../anchors/scan.ts';
import { standing, type Group, type Item, type Selection } from './select.ts';
import type { Note, Speaker } from '../../plan/summary.ts';
import type { FileAccess } from '../anchors/files.ts';
import type { CallTrail, Placed, AnchorStatistics } from '../anchors/statistics.ts';
import { isRequest } from '../facts/task.ts';

const HEADING_CHARS = 140;
/** The marks of a line in the summary, `· ` or ` … `, of each line below it, and of a heading, `[m123] `. */
const MARK_CHARS = 3;
const INDENT_CHARS = 2;
const NUMBER_CHARS = 8;
/** How many pieces are looked at for each anchor, and how many anchors for a room. */
const PIECES_PER_ANCHOR = 4;
const CHARS_PER_ANCHOR = 12;
const PROSE_BONUS = 1.3;
const SHORTEST_QUOTE = 4;
/** Begins a line that an edit took away: without it, it would pass for what the file holds. */
const GONE = 'was: ';
/** Of lines that differ in numbers alone so many are quoted. */
const MOST_ALIKE = 3;
/** A path alone says little of what is in the file. */
const PATH_STAND = 0.7;

/** A stretch of a text that could be quoted. */
interface Quote extends Item {
  readonly of: number;
  /** None where all of a text is quoted: a note of an earlier summary. */
  readonly piece: Piece | undefined;
  start: number;
  end: number;
  /** How it reads, once it is settled. */
  body: string | undefined;
  /** What an edit took away. */
  readonly gone: boolean;
  /** Its lines that name the file of its heading are left out. */
  below: boolean;
}

/** The lines about one file, from one call, or said by somebody. */
interface NoteGroup extends Group {
  readonly file?: FileAccess;
  readonly call?: CallTrail;
  readonly source?: string;
  readonly quotes: Map<number, Quote[]>;
}

/** A call that is named without a quote. */
export interface ChosenCall {
  readonly worth: number;
  readonly source: string;
}

interface PlacedNote {
  readonly of: number;
  readonly start: number;
  readonly note: Note;
}

export interface ChosenNotes {
  readonly notes: readonly Note[];
  /** The files that are named, with what that is worth. */
  readonly files: ReadonlyMap<FileAccess, number>;
  readonly calls: ReadonlyMap<CallTrail, ChosenCall>;
}

/** Chooses the lines of a conversation that a summary quotes because of the exact strings in them. */
export class NoteChooser {
  readonly #survey: AnchorStatistics;
  readonly #selection: Selection;
  /** The texts that may be quoted, and those of them that are notes of an earlier summary. */
  readonly #mayQuote: (of: number) => boolean;
  readonly #carried: ReadonlyMap<number, Note>;
  readonly #groups = new Map<string, NoteGroup>();
  readonly #groupAt = new Map<number, NoteGroup>();
  readonly #seen = new Set<string>();
  /** How many lines of each text are alike but for their numbers: of those looked at, and of those quoted. */
  readonly #alike: Alike = new Map();
  readonly #listed: Alike = new Map();
  readonly #settings = new Set<string>();
  /** The file of a diff that a text was last quoted for. */
  readonly #diffed = new Map<string, string>();
  readonly #diffs = new Map<string, boolean>();
  readonly #said = new Map<string, Speaker>();
  readonly #taken = new Map<number, readonly Range[]>();

  constructor(
    survey: AnchorStatistics,
    selection: Selection,
    mayQuote: (of: number) => boolean,
    carried: ReadonlyMap<number, Note>,
  ) {
    this.#survey = survey;
    this.#selection = selection;
    this.#mayQuote = mayQuote;
    this.#carried = carried;
  }

  /** Offers everything that could be quoted in the selection's room. */
  offer(): void {
    for (const [of, piece] of this.#candidates()) this.#offerQuote(of, piece);
    for (const of of this.#carried.keys()) this.#offerQuote(of, undefined);
    for (const file of this.#survey.files.all()) this.#offerHeading(this.#fileGroup(file));
    for (const group of this.#groups.values())
      if (group.call !== undefined && group.ids.length > 0) this.#offerHeading(group);
    for (const group of this.#groups.values())
      for (const item of group.items) if (!item.taken) this.#selection.offer(item);
  }

  /** Names the files that were changed last, whatever they are worth. */
  takeChangedFiles(roomChars: number): void {
    let left = roomChars;
    const changed = this.#survey.files.all().filter(({ edits }) => edits > 0);
    for (const file of changed.toSorted((a, b) => b.editedAt - a.editedAt)) {
      const group = this.#fileGroup(file);
      left -= group.headingChars;
      if (left < 0) return;
      const heading = this.#offerHeading(group);
      if (!group.open) this.#selection.take(heading, 1);
    }
  }

  chosen(): ChosenNotes {
    this.#diffed.clear();
    this.#listed.clear();
    const notes: PlacedNote[] = [];
    const files = new Map<FileAccess, number>();
    const calls = new Map<CallTrail, ChosenCall>();
    for (const group of this.#groups.values()) {
      if (!group.open) continue;
      const own = this.#notes(group);
      notes.push(...own);
      const worth = Math.max(...group.items.filter(({ taken }) => taken).map((item) => item.worth));
      if (group.file !== undefined) files.set(group.file, rounded(worth));
      if (group.call !== undefined && own.length === 0)
        calls.set(group.call, { worth: rounded(worth), source: this.#source(group) ?? '' });
    }
    const inOrder = notes.toSorted((a, b) => a.of - b.of || a.start - b.start);
    return { notes: inOrder.map(({ note }) => note), files, calls };
  }

  /** For each anchor the few pieces that hold most for their length, the newest of equal lines. */
  #candidates(): readonly (readonly [of: number, piece: Piece])[] {
    const { placed } = this.#survey;
    const { need, shown, roomChars } = this.#selection;
    const least = nthLargest(need, Math.ceil(Math.max(roomChars, 0) / CHARS_PER_ANCHOR));
    const best = new Map<number, Candidate[]>();
    for (let of = placed.length - 1; of >= 0; of--) {
      if (!this.#mayQuote(of) || this.#carried.has(of)) continue;
      const { segment, ids } = placed[of] as Placed;
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
    for (const list of best.values()) for (const { of, piece } of list) chosen.set(piece, of);
    return [...chosen]
      .map(([piece, of]) => [of, piece] as const)
      .toSorted((a, b) => b[0] - a[0] || b[1].start - a[1].start);
  }

  #offerQuote(of: number, piece: Piece | undefined): void {
    const { segment, ids } = this.#survey.placed[of] as Placed;
    let group = this.#groupAt.get(of);
    if (group === undefined) {
      group = this.#groupOf(of);
      this.#groupAt.set(of, group);
    }
    const [start, end] = piece === undefined ? [0, segment.text.length] : [piece.start, piece.end];
    const isProse = segment.voice === VOICE.text || segment.voice === VOICE.user;
    const quote: Quote = {
      group,
      of,
      piece,
      start,
      end,
      body: undefined,
      gone: isWithin(start, this.#takenAway(of)),
      below: false,
      bonus: isProse ? PROSE_BONUS : 1,
      chars: Math.max(8, end - start - 6),
      ids: piece === undefined ? [...ids] : piece.mentions.map((at) => ids[at] as number),
      stands: undefined,
      settle: this.#settle,
      taken: false,
      worth: 0,
    };
    group.items.push(quote);
    const own = group.quotes.get(of);
    if (own === undefined) group.quotes.set(of, [quote]);
    else own.push(quote);
  }

  /** The quote is made when its turn comes: its true length, and how well each anchor stands in its words. */
  readonly #settle = (item: Item): void => {
    const quote = item as Quote;
    const { piece } = quote;
    const { segment } = this.#survey.placed[quote.of] as Placed;
    const { anchors } = this.#survey;
    const whole = piece ?? { start: 0, end: segment.text.length, mentions: [], hash: 0 };
    const name = anchors[this.#most(quote.ids)]?.key ?? '';
    const stretch = stretchOf(segment, whole, name, this.#takenAway(quote.of));
    quote.below = this.#isToldAbove(quote, stretch.body);
    const body = withoutLinesOf(quote, stretch.body);
    quote.start = stretch.start;
    quote.end = stretch.end;
    quote.body = stretch.body;
    const below = INDENT_CHARS + (quote.gone ? GONE.length : 0);
    quote.chars = body.length + MARK_CHARS + below * (body.split('\n').length - 1);
    const isNew =
      body.length >= SHORTEST_QUOTE &&
      tells(body) &&
      !this.#isShown(quote, body) &&
      !this.#isOneOfMany(quote.of, segment, body);
    this.#seen.add(body);
    quote.ids = isNew ? quote.ids.filter((id) => body.includes(anchors[id]?.key ?? '')) : [];
    quote.stands = quote.ids.map((id) =>
      standing(wordsBeside(stretch.words, anchors[id]?.key ?? '')),
    );
  };

  /** True where a call names the file that its heading names, and nothing beside it that is not shown. */
  #isToldAbove({ group, of, ids }: Quote, body: string): boolean {
    const { file } = group as NoteGroup;
    const { segment } = this.#survey.placed[of] as Placed;
    if (file === undefined || segment.voice !== VOICE.args) return false;
    const name = keyOfPath(file.path);
    const line = body.split('\n').find((one) => one.includes(name));
    if (line === undefined) return false;
    const { shown } = this.#selection;
    return ids.every(
      (id) =>
        shown[id] === 1 ||
        group.ids.includes(id) ||
        !line.includes(this.#survey.anchors[id]?.key ?? ''),
    );
  }

  /** True where the same words stand in another quote, or in the heading of this one. */
  #isShown({ group, start }: Quote, body: string): boolean {
    const { source = '' } = group as NoteGroup;
    return this.#seen.has(body) || (start > 0 && source.includes(body.replaceAll('\n', ' ')));
  }

  /** True for more lines of a listing, or of settings: the first of a kind say what the others are. */
  #isOneOfMany(of: number, { voice }: Segment, body: string): boolean {
    if (voice === VOICE.tool) return withoutMany(body, of, this.#alike) === '';
    if (voice !== VOICE.args || !isSetting(body)) return false;
    const kind = body.replace(/\d+/g, '#');
    if (this.#settings.has(kind)) return true;
    this.#settings.add(kind);
    return false;
  }

  /** The anchor for whose sake a line is quoted. */
  #most(ids: readonly number[]): number {
    const { need, shown } = this.#selection;
    const lacks = (id: number): number => (need[id] as number) * (1 - (shown[id] as number));
    return ids.reduce((best, id) => (lacks(id) > lacks(best) ? id : best), ids[0] ?? 0);
  }

  #offerHeading(group: NoteGroup): Item {
    const item: Item = {
      group,
      bonus: 1,
      chars: 0,
      ids: [],
      stands: [],
      settle: () => undefined,
      taken: false,
      worth: 0,
    };
    group.items.push(item);
    return item;
  }

  #groupOf(of: number): NoteGroup {
    const { segment, file, call, index } = this.#survey.placed[of] as Placed;
    if (file !== undefined) return this.#fileGroup(file);
    const carried = this.#carried.get(of);
    if (carried !== undefined)
      return this.#group(`source ${carried.source ?? ''} ${index}`, {
        headingChars: (carried.source?.length ?? 0) + NUMBER_CHARS,
        ids: [],
        stand: 0,
        ...(carried.source === undefined ? {} : { source: carried.source }),
      });
    const trail = this.#survey.calls.get(segment.voice === VOICE.args ? of : (call ?? -1));
    if (trail !== undefined) return this.#callGroup(trail);
    return this.#group(`message ${of}`, { headingChars: NUMBER_CHARS, ids: [], stand: 0 });
  }

  #group(key: string, own: Omit<NoteGroup, 'items' | 'open' | 'quotes'>): NoteGroup {
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { ...own, items: [], open: false, quotes: new Map() };
      this.#groups.set(key, group);
    }
    return group;
  }

  #fileGroup(file: FileAccess): NoteGroup {
    const known = this.#groups.get(`file ${file.path}`);
    if (known !== undefined) return known;
    const headingChars = Math.min(file.path.length, 60) + 22;
    return this.#group(`file ${file.path}`, {
      headingChars,
      ids: this.#idsIn(file.path),
      stand: PATH_STAND,
      file,
    });
  }

  /** The anchors that a line shows. */
  #idsIn(line: string): readonly number[] {
    const ids = new Set<number>();
    this.#survey.reader.read(line, 0, line.length, (anchors) => {
      for (const { key } of anchors) {
        const id = this.#survey.idOf(key);
        if (id !== undefined) ids.add(id);
      }
    });
    return [...ids];
  }

  #callGroup(call: CallTrail): NoteGroup {
    const known = this.#groups.get(`call ${call.segment}`);
    if (known !== undefined) return known;
    const source = sourceOf(this.#survey, call, HEADING_CHARS);
    return this.#group(`call ${call.segment}`, {
      headingChars: source.length + NUMBER_CHARS + 4,
      ids: this.#idsIn(source),
      stand: 1,
      call,
      source,
    });
  }

  /** The chosen stretches of a group as notes; neighbours become one, and the beginning of a call is its heading. */
  #notes(group: NoteGroup): readonly PlacedNote[] {
    const source = this.#source(group);
    const notes: PlacedNote[] = [];
    for (const [of, quotes] of group.quotes) {
      const { segment, index, turn } = this.#survey.placed[of] as Placed;
      const carried = this.#carried.get(of);
      const at = this.#at(of, index);
      for (const run of joined(quotes)) {
        const { start, worth } = run;
        if (start === 0 && opensCall(group, of)) continue;
        const text = carried?.text ?? this.#quote(group, segment, run);
        const by = carried?.by ?? this.#speaker(segment);
        const own = { text, by, turn, at, worth: rounded(worth) };
        if (text !== '')
          notes.push({ of, start, note: source === undefined ? own : { ...own, source } });
      }
    }
    return notes;
  }

  /** What a host sends in the user's name is data, as a tool's text is: the user did not say it. */
  #speaker({ voice, text }: Segment): Speaker {
    if (voice !== VOICE.user) return speakerOf(voice);
    let said = this.#said.get(text);
    if (said === undefined) this.#said.set(text, (said = isRequest(text) ? 'user' : 'tool'));
    return said;
  }

  #quote(group: NoteGroup, { text, voice }: Segment, run: Run): string {
    const { start, end, below, gone, body: read = quoted(text.slice(start, end), voice) } = run;
    const left = withoutLinesOf({ group, below }, read);
    const whole = gone && left !== '' ? GONE + left.replaceAll('\n', `\n${GONE}`) : left;
    const body = voice === VOICE.tool ? withoutMany(whole, text, this.#listed) : whole;
    const shown = body.split('\n').findLast((line) => line.startsWith(DIFFED));
    const file = shown ?? (this.#isDiff(text, voice) ? changedFile(text, start) : undefined);
    if (body === '' || file === undefined || this.#diffed.get(text) === file) return body;
    this.#diffed.set(text, file);
    return shown === undefined ? `${file}\n${body}` : body;
  }

  #takenAway(of: number): readonly Range[] {
    const { segment } = this.#survey.placed[of] as Placed;
    if (segment.voice !== VOICE.args) return NO_RANGES;
    let ranges = this.#taken.get(of);
    if (ranges === undefined) this.#taken.set(of, (ranges = takenAway(segment.text)));
    return ranges;
  }

  #isDiff(text: string, voice: Voice): boolean {
    if (voice !== VOICE.tool) return false;
    let isDiff = this.#diffs.get(text);
    if (isDiff === undefined) {
      isDiff = text.startsWith(DIFF) || text.includes(`\n${DIFF}`);
      this.#diffs.set(text, isDiff);
    }
    return isDiff;
  }

  /** What the notes of a group come from: of a call as much as was chosen of its beginning. */
  #source(group: NoteGroup): string | undefined {
    if (group.call === undefined) return group.file?.path ?? group.source;
    const [opening] = joined(group.quotes.get(group.call.segment) ?? []);
    return opening?.start === 0 ? sourceOf(this.#survey, group.call, opening.end) : group.source;
  }

  /** A result stands where its call does. */
  #at(of: number, index: number): number {
    const { call } = this.#survey.placed[of] as Placed;
    return call === undefined ? index : (this.#survey.placed[call] as Placed).index;
  }
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

/** Ends the line of a call that failed. */
export const FAILED = ' → failed';

/** A call in one line, with how it ended where that was badly. */
function sourceOf(survey: AnchorStatistics, call: CallTrail, chars: number): string {
  const { tool, text } = (survey.placed[call.segment] as Placed).segment;
  const line = callLine(tool, text.slice(tool.length + 1), Math.max(HEADING_CHARS, chars));
  return hasFailed(survey, call) ? line + FAILED : line;
}

/** The lines of a call that say more than the heading above them. */
function withoutLinesOf({ group, below }: Pick<Quote, 'group' | 'below'>, body: string): string {
  const { file } = group as NoteGroup;
  if (!below || file === undefined) return body;
  const name = keyOfPath(file.path);
  return body
    .split('\n')
    .filter((line) => !line.includes(name))
    .join('\n');
}

const SMALL_NUMBER = /(?<![\w.])\d{1,3}(?![\w.])/g;

/** What passed is told by its first few. */
const PASSED = /^\W*(?:PASS|ok|✓|✔|√)(?=\W)/;

type Alike = Map<unknown, Map<string, number>>;

/** True for one of the first lines of a text that are alike but for numbers so small that nobody looks for them. */
function isAmongFirst(line: string, of: unknown, alike: Alike): boolean {
  const kind = line.replace(PASSED.test(line) ? /\S+/g : SMALL_NUMBER, '#');
  if (kind === line) return true;
  const counts = alike.get(of) ?? new Map<string, number>();
  alike.set(of, counts);
  const count = (counts.get(kind) ?? 0) + 1;
  counts.set(kind, count);
  return count <= MOST_ALIKE;
}

/** Lines without those of a listing that only go on counting. */
function withoutMany(body: string, of: unknown, alike: Alike): string {
  return body
    .split('\n')
    .filter((line) => isAmongFirst(line, of, alike))
    .join('\n');
}

const DIFF = 'diff --git ';
const DIFFED = '+++ ';

/** The line of a diff that names the file which a stretch of it changes. */
function changedFile(text: string, start: number): string | undefined {
  const at = text.lastIndexOf(`\n${DIFFED}`, start);
  const feed = text.indexOf('\n', at + 1);
  return at < 0 ? undefined : text.slice(at + 1, feed < 0 ? text.length : feed).trim();
}

interface Run {
  readonly start: number;
  end: number;
  /** How it reads; undefined where it is made of several. */
  body: string | undefined;
  worth: number;
  readonly gone: boolean;
  below: boolean;
}

/** The quotes that were taken, in order, neighbours as one. */
function joined(quotes: readonly Quote[]): readonly Run[] {
  const runs: Run[] = [];
  const taken = quotes.filter((quote) => quote.taken).toSorted((a, b) => a.start - b.start);
  for (const { start, end, body, worth, gone, below } of taken) {
    const last = runs.at(-1);
    if (last === undefined || start > last.end + 1 || gone !== last.gone)
      runs.push({ start, end, body, worth, gone, below });
    else {
      last.body = undefined;
      last.end = Math.max(last.end, end);
      last.worth = Math.max(last.worth, worth);
      last.below ||= below;
    }
  }
  return runs;
}

function opensCall(group: NoteGroup, of: number): boolean {
  return group.call?.segment === of;
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

/** Enough digits to keep an order, few enough to read. */
function rounded(worth: number): number {
  return Number(worth.toPrecision(3));
}

function nthLargest(values: Float64Array, n: number): number {
  return n >= values.length ? 0 : (values.toSorted()[values.length - n] ?? 0);
}
