import { sorted } from '../../check/list.ts';
import type { Note, Speaker } from '../../plan/summary.ts';
import type { Redact } from '../../summary/redact.ts';
import { callLine } from '../anchors/call-line.ts';
import type { FileAccess } from '../anchors/files.ts';
import { VOICE, type Piece, type Voice } from '../anchors/scan.ts';
import type { AnchorStatistics, Placed } from '../anchors/statistics.ts';
import { bestPieces } from './best-pieces.ts';
import { EditBlocks, GAP, TRIVIAL_CHARS, type EditBlock } from './edit-blocks.ts';
import type { SeenChanges } from '../diffs/seen-changes.ts';
import { rangeAt, type AddedRun, type FileDiff } from '../diffs/unified-diff.ts';
import { flat, quoted, tells } from './quote.ts';
import { knownItem, rounded, type Group, type Item, type Selection } from './select.ts';

const HEADING_CHARS = 180;
/** The marks of a line in the summary, and of a heading, `[m123] `. */
const MARK_CHARS = 3;
const NUMBER_CHARS = 8;
const SHORTEST_LINE = 6;
/** Less space holds no block of an edit. */
const LEAST_EDIT_CHARS = 40;
/** Longer blocks would take the space of several others. */
const LONGEST_OFFERED_CHARS = 1_500;
/** Of blocks, the newest are offered, as many as fill the space this often. */
const OFFERED_SHARE = 4;
/** What a block says to a reader for each character, in addition to its anchors. */
const EDIT_MERIT = 0.003;
const TEST_MERIT = EDIT_MERIT / 2;

/** A stretch of a text that could be quoted. */
interface Line extends Item {
  readonly group: LineGroup;
  readonly of: number;
  readonly piece: Piece;
  body: string;
}

/** A line that an earlier summary quotes. */
interface CarriedLine extends Item {
  readonly note: Note;
}

/** The lines about one file, or from one call. */
interface LineGroup extends Group {
  readonly file: FileAccess | undefined;
  readonly source: string | undefined;
  /** The text of the call. */
  readonly of: number | undefined;
}

/** Chooses lines of calls, results and system messages because of the exact strings in them. */
export class ExactLines {
  readonly #statistics: AnchorStatistics;
  readonly #seenChanges: SeenChanges;
  readonly #selection: Selection;
  readonly #groups = new Map<string, LineGroup>();
  readonly #lines: Line[] = [];
  readonly #carried: CarriedLine[] = [];
  readonly #seen = new Set<string>();
  readonly #fileNotes: ReadonlyMap<string, string>;
  readonly #blocks: EditBlocks;
  readonly #taken = new Set<EditBlock>();

  /** `fileNotes` is what the summary says of each changed file, by its path. */
  constructor(
    statistics: AnchorStatistics,
    seen: SeenChanges,
    selection: Selection,
    fileNotes: ReadonlyMap<string, string>,
  ) {
    this.#fileNotes = fileNotes;
    this.#statistics = statistics;
    this.#seenChanges = seen;
    this.#selection = selection;
    this.#blocks = new EditBlocks(statistics);
  }

  /** Takes a line that an earlier summary quotes, as far as it still holds. */
  carry(note: Note): void {
    const { source, at, by } = note;
    const isOfFile = by === 'assistant' && source !== undefined;
    const text = isOfFile ? this.#blocks.withoutRemovedLines(source, note.text) : note.text;
    if (text === '') return;
    const group = this.#group(`carried ${source ?? ''} ${at ?? ''}`, {
      ...(source === undefined ? {} : { source }),
      headingChars: (source?.length ?? 0) + NUMBER_CHARS,
    });
    const ids = this.#statistics.idsIn(text);
    const item = { ...knownItem(group, text.length + MARK_CHARS, ids), note: { ...note, text } };
    group.items.push(item);
    this.#carried.push(item);
    this.#seen.add(text);
  }

  /** Marks lines of files that the prompt shows elsewhere. */
  markShown(text: string): void {
    for (const line of text.split('\n')) this.#seen.add(flat(line));
  }

  /**
   * What edits put into files and is still there, as blocks within a number of characters: tests last, the newest first.
   */
  takeEdits(spaceChars: number, isShown: (of: number) => boolean, redact: Redact): void {
    let left = Math.min(spaceChars, this.#selection.spaceChars);
    const shown = this.#openBlocks(isShown);
    for (const block of sorted(shown, (a, b) => Number(isOfTest(a)) - Number(isOfTest(b)))) {
      if (left < LEAST_EDIT_CHARS) return;
      const most = shown.length === 1 ? left : left * ONE_EDIT_SHARE;
      const text = firstLines(this.#blocks.text(block, redact, this.#isShownLine), most);
      if (text === '' || !this.#isNews(block, text)) continue;
      this.#taken.add(block);
      const item = this.#blockItem(block, text, 0);
      left -= item.chars;
      this.#selection.take(item, 1);
      this.markShown(text);
    }
  }

  /** Offers the other blocks of edits. Unlike lines, they say something to a reader besides their anchors. */
  offerEdits(isShown: (of: number) => boolean, redact: Redact): void {
    let left = this.#selection.spaceChars * OFFERED_SHARE;
    for (const block of this.#openBlocks(isShown)) {
      if (left < 0) return;
      const text = this.#blocks.text(block, redact, this.#isShownLine);
      if (text === '' || shownChars(text) > LONGEST_OFFERED_CHARS) continue;
      left -= shownChars(text);
      const item = this.#blockItem(block, text, isOfTest(block) ? TEST_MERIT : EDIT_MERIT);
      item.settle = () => {
        // What newer blocks show is never taken.
        if (!this.#isNews(block, text)) item.chars = Number.POSITIVE_INFINITY;
        else this.markShown(text);
      };
      this.#selection.offer(item);
    }
  }

  readonly #isShownLine = (line: string): boolean =>
    flat(line).length > TRIVIAL_CHARS && this.#seen.has(flat(line));

  #openBlocks(isShown: (of: number) => boolean): readonly EditBlock[] {
    return this.#blocks.blocks.filter((block) => isShown(block.of) && !this.#taken.has(block));
  }

  /** True if most lines of an edit are not shown by a newer one, nor beside the name of the file. */
  #isNews({ file }: EditBlock, text: string): boolean {
    const note = this.#fileNotes.get(file.path) ?? '';
    const lines = text.split('\n').map(flat);
    const long = lines.filter((line) => line.length > TRIVIAL_CHARS);
    const telling = long.length > 0 ? long : lines;
    const [first = ''] = telling;
    if (telling.length === 1 && saysChangeOf(note, first)) return false;
    const news = telling.filter((line) => !this.#seen.has(line) && !note.includes(line));
    return news.length * 2 > telling.length;
  }

  /** A block as a candidate: it becomes a note if it is taken. */
  #blockItem({ file, of }: EditBlock, text: string, merit: number): CarriedLine {
    const { index, turn } = this.#statistics.placed[of] as Placed;
    const group = this.#group(`file ${file.path}`, { file, headingChars: 0 });
    const note = { text, by: 'assistant', turn, at: index, source: file.path } as const;
    const item = knownItem(group, shownChars(text), this.#statistics.idsIn(text), merit);
    const candidate = { ...item, note };
    this.#carried.push(candidate);
    return candidate;
  }

  /** Offers lines of the texts that may be quoted. Offered again, a line is shown once. */
  offer(mayQuote: (of: number) => boolean): void {
    const isQuotable = (of: number, at?: number): boolean =>
      at === undefined ? mayQuote(of) && !this.#isOutdated(of) : this.#isQuotableAt(of, at);
    const needed = bestPieces(this.#statistics, this.#selection, isQuotable);
    for (const { of, piece } of needed) this.#add(of, piece);
    for (const group of this.#groups.values())
      for (const item of group.items) this.#selection.offer(item);
  }

  /** The chosen lines as notes, in the order of the conversation; neighbours are one note. */
  chosen(): readonly Note[] {
    const carried = this.#carried
      .filter(({ taken }) => taken)
      .map(({ note, worth }) => ({ ...note, worth: rounded(worth) }));
    const own = joined(this.#lines).map(({ line, text, worth }): Note => {
      const { segment, index, turn, call } = this.#statistics.placed[line.of] as Placed;
      const at = call === undefined ? index : (this.#statistics.placed[call] as Placed).index;
      const source = line.group.file?.path ?? line.group.source;
      const note = { text, by: SPEAKERS[segment.voice], turn, at, worth: rounded(worth) };
      return source === undefined ? note : { ...note, source };
    });
    return [...carried, ...own];
  }

  /** A diff is quoted by its added lines, under their file. Edits are shown as blocks, not by their lines. */
  #isQuotableAt(of: number, at: number): boolean {
    const diff = this.#seenChanges.diffOf(of);
    if (diff === undefined) return !this.#isOfEditedFile(of, at);
    return rangeAt(diff.added, at) !== undefined || rangeAt(diff.rest, at) !== undefined;
  }

  /** True for a line that a search found in a file before the file was changed. */
  #isOfEditedFile(of: number, at: number): boolean {
    const { segment, index } = this.#statistics.placed[of] as Placed;
    const path = FOUND_IN.exec(segment.text.slice(at, at + FOUND_CHARS))?.[1];
    const file = path === undefined ? undefined : this.#statistics.files.find(path);
    return file !== undefined && index < file.editedAt;
  }

  /** True for what was read of a file before it was changed, and for calls that only keep a task list. */
  #isOutdated(of: number): boolean {
    const { segment, file, index } = this.#statistics.placed[of] as Placed;
    if (KEEPS_TASKS.test(segment.tool)) return true;
    return segment.voice === VOICE.tool && file !== undefined && index < file.editedAt;
  }

  #add(of: number, piece: Piece): void {
    const { ids } = this.#statistics.placed[of] as Placed;
    const run = this.#addedRun(of, piece.start);
    const group = run === undefined ? this.#groupOf(of) : this.#groupOfChange(run[2]);
    const line: Line = {
      group,
      of,
      piece,
      body: '',
      merit: 0,
      chars: Math.max(8, piece.end - piece.start - 6),
      ids: piece.mentions.map((at) => ids[at] as number),
      settle: this.#settle,
      taken: false,
      worth: 0,
    };
    group.items.push(line);
    this.#lines.push(line);
  }

  /** The text of a line is made when its turn comes: its length, and how well each anchor is explained by its words. */
  readonly #settle = (item: Item): void => {
    const line = item as Line;
    const { segment } = this.#statistics.placed[line.of] as Placed;
    const { anchors } = this.#statistics;
    const { start, end } = line.piece;
    // The name of the tool comes before the arguments.
    const isOpening = start === 0 && segment.voice === VOICE.args;
    const body = quoted(
      segment.text.slice(isOpening ? segment.tool.length + 1 : start, end),
      segment.voice,
    );
    line.body = body;
    const isNew =
      body.length >= SHORTEST_LINE &&
      tells(body.replace(NUMBERED, '')) &&
      !this.#seen.has(body) &&
      !this.#isHeading(line, body);
    this.#seen.add(body);
    // What says nothing new is never taken.
    line.chars = isNew ? body.length + MARK_CHARS * 2 : Number.POSITIVE_INFINITY;
    line.ids = line.ids.filter((id) => body.includes(anchors[id]?.key ?? ''));
  };

  /** True if the heading of the group shows the same words. */
  #isHeading({ group, piece, of }: Line, body: string): boolean {
    const { source, of: call, file } = group;
    if (file !== undefined) return file.path.includes(body);
    if (source === undefined) return false;
    return (
      (piece.start === 0 && of === call && body.length <= HEADING_CHARS) || source.includes(body)
    );
  }

  #addedRun(of: number, at: number): AddedRun | undefined {
    return rangeAt(this.#seenChanges.diffOf(of)?.added ?? [], at);
  }

  #groupOfChange({ path }: FileDiff): LineGroup {
    const file = this.#statistics.files.find(path);
    return file !== undefined && file.edits > 0
      ? this.#group(`file ${file.path}`, { file, headingChars: 0 })
      : this.#group(`seen ${path}`, { source: path, headingChars: SEEN_CHARS });
  }

  #groupOf(of: number): LineGroup {
    const { segment, file, call, index } = this.#statistics.placed[of] as Placed;
    // The heading of a changed file is there anyway.
    if (file !== undefined)
      return this.#group(`file ${file.path}`, {
        file,
        headingChars: file.edits > 0 ? 0 : 12 + Math.min(60, file.path.length),
      });
    const asked = segment.voice === VOICE.args ? of : call;
    if (asked === undefined) return this.#group(`message ${index}`, { headingChars: NUMBER_CHARS });
    const { tool, text } = (this.#statistics.placed[asked] as Placed).segment;
    const source = callLine(tool, text.slice(tool.length + 1), HEADING_CHARS);
    return this.#group(`call ${asked}`, {
      source,
      of: asked,
      headingChars: source.length + NUMBER_CHARS + 4,
    });
  }

  #group(
    key: string,
    own: Pick<LineGroup, 'headingChars'> & Partial<Pick<LineGroup, 'file' | 'source' | 'of'>>,
  ): LineGroup {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const { file, source, of, headingChars } = own;
    const ids = source === undefined ? [] : this.#statistics.idsIn(source);
    const group = { file, source, of, headingChars, ids, items: [], open: false };
    this.#groups.set(key, group);
    return group;
  }
}

/** True if a note says what was put into a line: "`old → new`". */
const saysChangeOf = (note: string, line: string): boolean =>
  [...note.matchAll(PUT_IN)].some(
    ([, now = '']) => now.length > TRIVIAL_CHARS && line.includes(now),
  );
const PUT_IN = / → ([^`”]+)[`”]/g;

/** A test says less about the work than what it tests. */
const TEST_FILE = /(?:^|[/._-])(?:tests?|specs?|e2e)(?:[/._-]|$)/i;

const isOfTest = ({ file }: EditBlock): boolean => TEST_FILE.test(file.path);

/** What a block takes with the marks of its lines. */
const shownChars = (text: string): number => text.length + MARK_CHARS * 2 * text.split('\n').length;

/** A text, or as many of its first lines as fit; empty if these are few. */
function firstLines(text: string, mostChars: number): string {
  if (shownChars(text) <= mostChars) return text;
  let left = mostChars - MARK_CHARS * 3;
  const lines = text.split('\n');
  const end = lines.findIndex((line) => (left -= shownChars(line) + 1) < 0);
  return end < LEAST_LINES ? '' : [...lines.slice(0, end), GAP].join('\n');
}

/** How much of the space that is left one edit may take. */
const ONE_EDIT_SHARE = 0.6;
/** Fewer lines of a longer block say little. */
const LEAST_LINES = 8;

/** A change that was looked at is listed anyway: lines under it would separate it from its neighbours. */
const SEEN_CHARS = 12;

/** The file before a line that a search found. */
const FOUND_IN = /^\s*(\S{1,300}\.\w{1,8})[:-]\d+[:-]/;
const FOUND_CHARS = 320;

const KEEPS_TASKS =
  /(?:^|[._])(?:todo|task)_?(?:s|write|read|list|create|update|get)?$|update_plan/i;

/** The number of a line, which says nothing by itself. */
const NUMBERED = /^\d+ /;

interface Run {
  /** The first of its lines. */
  readonly line: Line;
  end: number;
  text: string;
  worth: number;
}

/** The lines that were taken, in order, neighbours as one: the number of the first counts on. */
function joined(lines: readonly Line[]): readonly Run[] {
  const runs: Run[] = [];
  const taken = lines.filter((line) => line.taken);
  for (const line of sorted(taken, (a, b) => a.of - b.of || a.piece.start - b.piece.start)) {
    const { of, group, piece, body, worth } = line;
    const last = runs.at(-1);
    const follows =
      last?.line.of === of && last.line.group === group && piece.start <= last.end + 1;
    if (last === undefined || !follows) runs.push({ line, end: piece.end, text: body, worth });
    else {
      last.end = piece.end;
      last.text += `\n${body.replace(NUMBERED, '')}`;
      last.worth = Math.max(last.worth, worth);
    }
  }
  return runs;
}

const SPEAKERS: Readonly<Record<Voice, Speaker>> = {
  [VOICE.user]: 'user',
  [VOICE.text]: 'assistant',
  [VOICE.args]: 'assistant',
  [VOICE.tool]: 'tool',
  [VOICE.system]: 'system',
};
