import { reversed, sorted } from '../check/list.ts';
import { textOf, type Message, type MessageId } from '../message/message.ts';
import { needs } from '../extract/anchors/rank.ts';
import { knownItem, Selection, type Group, type Item } from '../extract/quotes/select.ts';
import { scan, VOICE } from '../extract/anchors/scan.ts';
import { AnchorStatistics, type Placed } from '../extract/anchors/statistics.ts';
import { saysWhatFailed } from '../extract/story/commands.ts';
import { userWords } from '../extract/story/user-words.ts';
import type { Draft, Entry } from './draft.ts';
import { partText, wordEnd, wordStart, type Remainder } from '../render/excerpt.ts';
import type { Stretch } from '../plan/plan.ts';

/** What the anchors of a draft's messages are worth, and where each message's texts are. */
interface Values {
  readonly statistics: AnchorStatistics;
  readonly need: Float64Array;
  readonly places: ReadonlyMap<MessageId, readonly number[]>;
}

const known = new WeakMap<Draft, Values>();

function valuesOf(draft: Draft): Values {
  let values = known.get(draft);
  if (values === undefined) {
    const statistics = new AnchorStatistics();
    const places = new Map<MessageId, readonly number[]>();
    for (const { node } of sorted(draft.entries, (a, b) => a.node.index - b.node.index))
      places.set(node.id, statistics.add(node));
    values = { statistics, need: needs(statistics), places };
    known.set(draft, values);
  }
  return values;
}

/** A part of a message that may be cut: where its text is in the statistics, and from which character on. */
interface CutPart {
  readonly of: number;
  readonly base: number;
  readonly text: string;
}

/** Text parts are counted as one text, results each as its own. */
function cutParts(
  message: Message,
  places: readonly number[],
  statistics: AnchorStatistics,
): readonly (CutPart | undefined)[] {
  const said = places.find((of) => isSaid(statistics.placed[of] as Placed));
  const results = places.filter((of) => {
    const { segment } = statistics.placed[of] as Placed;
    return segment.voice === VOICE.tool && segment.callId !== undefined;
  });
  const calls = places.filter(
    (of) => (statistics.placed[of] as Placed).segment.voice === VOICE.args,
  );
  let base = 0;
  return message.parts.map((part): CutPart | undefined => {
    if (part.kind === 'call') {
      const of = calls.shift();
      // A call is counted with the name of its tool before its arguments.
      return of === undefined ? undefined : { of, base: part.tool.length + 1, text: part.args };
    }
    const text = partText(part);
    if (part.kind === 'result') {
      const of = results.shift();
      return of === undefined ? undefined : { of, base: 0, text };
    }
    if (part.kind !== 'text' || said === undefined) return undefined;
    const own = { of: said, base, text };
    base += text.length + 1;
    return own;
  });
}

function isSaid({ segment }: Placed): boolean {
  return segment.callId === undefined;
}

/** The share of an excerpt that is kept for its first and its last lines, regardless of their worth. */
const HEAD = 0.25;
const TAIL = 0.15;
/** A visible mark, and the line feeds around it. */
const GAP_CHARS = 4;

/** The stretches of each part of an entry that show most of what will be needed, in so many characters each. */
export function chosenExcerpt(draft: Draft, entry: Entry, chars: number): Remainder {
  const isSaying = textOf(entry.message) !== '';
  const kept = entry.message.parts.map((part, i): readonly Stretch[] => {
    const isSurveyed = part.kind === 'result' || (part.kind === 'text' && isSaying);
    if (!isSurveyed || chars <= 0) return [];
    const { length } = partText(part);
    return length <= chars ? [[0, length]] : chosenRanges(draft, entry, i, chars);
  });
  return { kept, argsChars: chars };
}

/** The draft is surveyed only if a part has to be cut. */
function chosenRanges(
  draft: Draft,
  { message, node }: Entry,
  place: number,
  chars: number,
): readonly Stretch[] {
  const values = valuesOf(draft);
  const part = cutParts(message, values.places.get(node.id) ?? [], values.statistics)[place];
  if (part === undefined) return [];
  if (message.role === 'user') {
    const isLoaded = userWords(part.text) === '';
    return isLoaded
      ? endsOf(part.text, Math.min(chars, LOADED_CHARS), 0)
      : endsOf(part.text, chars * USER_HEAD, chars * (1 - USER_HEAD));
  }
  const chooser = new StretchChooser(values, chars);
  if (NUMBERED.test(part.text)) {
    chooser.add(part, 0, 0);
    return connected(part.text, chooser.chosen(false)[0] ?? [], chars);
  }
  chooser.add(part, chars * HEAD, chars * TAIL);
  const own = part.text.slice(0, reminderStart(part.text));
  return connectedMiddle(own, chooser.chosen(true)[0] ?? [], chars);
}

/** The beginning of a line is looked for so far before a stretch. */
const LONGEST_LINE_CHARS = 400;

/** What a person wrote is shown from its beginning, with its end; a document that a host loaded by its first lines. */
const USER_HEAD = 0.8;
const LOADED_CHARS = 200;

/** A shorter part of a file says less than its name. */
const LEAST_BLOCK_CHARS = 200;

/** The block of whole lines of a file, in so many characters, that holds most of some stretches. */
function connected(text: string, stretches: readonly Stretch[], chars: number): readonly Stretch[] {
  if (chars < LEAST_BLOCK_CHARS) return [];
  const own = text.slice(0, reminderStart(text));
  return [blockOf(own, [[0, 0], ...stretches], chars)];
}

/**
 * The first and the last lines of a text, and one block between: where something failed, or where most of some stretches
 * are. Single lines between gaps say little, and so do pieces of a single line.
 */
function connectedMiddle(
  text: string,
  stretches: readonly Stretch[],
  chars: number,
): readonly Stretch[] {
  if (chars <= 0 || stretches.length === 0) return [];
  if (!text.trimEnd().includes('\n'))
    return endsOf(text, chars * (1 - LINE_TAIL), chars * LINE_TAIL);
  const failures = failureLines(text);
  const [head, tail] = failures.length > 0 ? [FAILED_ENDS, FAILED_ENDS] : [HEAD, TAIL];
  const ends = endsOf(text, chars * head, chars * tail);
  const [from, to] = [ends[0]?.[1] ?? 0, ends[1]?.[0] ?? text.length];
  const wanted = failures.length > 0 ? failures : chars < SMALL_CHARS ? [] : stretches;
  const between = wanted.filter(([start, end]) => start >= from && end <= to);
  if (between.length === 0) return endsOf(text, chars * (1 - SMALL_TAIL), chars * SMALL_TAIL);
  return joined([...ends, blockOf(text, between, chars * (1 - head - tail))]);
}

/** An excerpt below this size has no place for a block between its ends. */
const SMALL_CHARS = 1_200;
const SMALL_TAIL = 0.3;
const LINE_TAIL = 0.1;
/** What failed says more than how the output begins and ends. */
const FAILED_ENDS = 0.1;
const MOST_FAILURES = 40;
/** A longer line is read to here. */
const LONGEST_FAILURE_CHARS = 260;

/** Where the first lines are that say what failed, each with the line before it. */
function failureLines(text: string): readonly Stretch[] {
  const lines: Stretch[] = [];
  let before = 0;
  for (let from = 0; from < text.length && lines.length < MOST_FAILURES;) {
    const feed = text.indexOf('\n', from);
    const to = feed < 0 ? text.length : feed;
    if (saysWhatFailed(text.slice(from, Math.min(to, from + LONGEST_FAILURE_CHARS))))
      lines.push([before, to]);
    before = from;
    from = to + 1;
  }
  return lines;
}

/** The block of whole lines, in so many characters, that begins with one of some stretches and holds most of them. */
function blockOf(text: string, stretches: readonly Stretch[], mostChars: number): Stretch {
  const chars = Math.floor(mostChars);
  const ordered = sorted(stretches, (a, b) => a[0] - b[0]);
  let [from, most, held, next] = [0, -1, 0, 0];
  for (const [i, [start, end]] of ordered.entries()) {
    const before = text.slice(Math.max(0, start - LONGEST_LINE_CHARS), start);
    const begin = start - before.length + before.lastIndexOf('\n') + 1;
    for (; next < ordered.length; next++) {
      const [nextStart, nextEnd] = ordered[next] as Stretch;
      if (nextEnd > begin + chars) break;
      held += nextEnd - nextStart;
    }
    if (held > most) [from, most] = [begin, held];
    if (next > i) held -= end - start;
    next = Math.max(next, i + 1);
  }
  const feed = text.lastIndexOf('\n', from + chars);
  // A long line is cut, not left out.
  const end = feed > from + chars / 2 ? feed : wordEnd(text, from + chars);
  return [from, text.length <= from + chars ? text.length : end];
}

/** An entry that is cut together with others. */
export interface CutEntry {
  readonly entry: Entry;
  /** How much of the head and of the tail of each part stays regardless of its worth. */
  readonly headChars: number;
  readonly tailChars: number;
}

export interface TogetherOptions {
  readonly spaceChars: number;
  /** Results up to this long stay whole. */
  readonly wholeChars: number;
  readonly argsChars: number;
  /** Whether long arguments are cut to a length when they are shown, or their lines compete with those of results. */
  readonly args: 'by-length' | 'by-worth';
  /** Uses all the space, also for what is not worth naming. */
  readonly fills: boolean;
  /** Leaves out lines that are worth less per character, although there is space. */
  readonly leastWorth?: number;
}

/** Cuts several entries at once to fit one space: what is needed most stays, in whichever entry it is. */
export function excerptsTogether(
  draft: Draft,
  cut: readonly CutEntry[],
  shown: readonly Message[],
  options: TogetherOptions,
): ReadonlyMap<MessageId, Remainder> {
  const values = valuesOf(draft);
  const chooser = new StretchChooser(values, options.spaceChars, options.leastWorth);
  for (const message of shown)
    for (const { mentions } of scan(message, values.statistics.reader))
      for (const { anchor } of mentions) chooser.show(anchor.key);
  const partsOf = cut.map(({ entry, headChars, tailChars }) =>
    cutParts(entry.message, values.places.get(entry.node.id) ?? [], values.statistics).map(
      (part) => {
        if (part === undefined) return undefined;
        const { voice } = (values.statistics.placed[part.of] as Placed).segment;
        const isCall = voice === VOICE.args;
        if (isCall && options.args === 'by-length') return undefined;
        const whole = isCall ? options.argsChars : options.wholeChars;
        const isResult = !isSaid(values.statistics.placed[part.of] as Placed);
        if (!isResult || part.text.length <= whole) return [[0, part.text.length] as const];
        const isBlock = options.leastWorth === undefined && NUMBERED.test(part.text);
        return isCall || isBlock
          ? chooser.add(part, 0, 0)
          : chooser.add(part, headChars, tailChars);
      },
    ),
  );
  const chosen = chooser.chosen(options.fills);
  const blocks = options.leastWorth === undefined ? chooser.blocks(chosen) : chosen;
  return new Map(
    cut.map(({ entry }, i) => {
      const kept = (partsOf[i] ?? []).map((part) =>
        part === undefined ? [] : typeof part === 'number' ? (blocks[part] ?? []) : part,
      );
      return [entry.node.id, { kept, argsChars: options.argsChars }];
    }),
  );
}

interface Line extends Item {
  readonly part: number;
  readonly stretch: Stretch;
}

class StretchChooser {
  readonly #values: Values;
  readonly #selection: Selection;
  readonly #parts: { readonly text: string; readonly stretches: Stretch[] }[] = [];
  readonly #lines: Line[] = [];

  constructor(values: Values, spaceChars: number, leastWorth?: number) {
    this.#values = values;
    this.#selection = new Selection(values.need, spaceChars, leastWorth);
  }

  show(key: string): void {
    const id = this.#values.statistics.idOf(key);
    if (id !== undefined) this.#selection.show(id);
  }

  /** Adds a part; the answer is its place in `chosen`. */
  add({ of, base, text: whole }: CutPart, headChars: number, tailChars: number): number {
    const part = this.#parts.length;
    const text = whole.slice(0, reminderStart(whole));
    const always = endsOf(text, headChars, tailChars);
    this.#parts.push({ text, stretches: [...always] });
    const { segment, ids } = this.#values.statistics.placed[of] as Placed;
    const group: Group = { headingChars: 0, ids: [], items: [], open: true };
    for (const [start, end] of always) this.#selection.spaceChars -= end - start + GAP_CHARS;
    for (const piece of segment.pieces) {
      const [start, end] = [piece.start - base, piece.end - base];
      if (start < 0 || end > text.length) continue;
      const shown = always.some(([from, to]) => start >= from && end <= to);
      const own = piece.mentions.map((at) => ids[at] as number);
      if (shown) for (const id of own) this.#selection.show(id);
      else {
        const item = knownItem(group, end - start + GAP_CHARS, own);
        this.#lines.push({ ...item, part, stretch: [start, end] });
      }
    }
    return part;
  }

  /** The same stretches as blocks: one of a file that was read, one between the ends of any other text. */
  blocks(chosen: readonly (readonly Stretch[])[]): readonly (readonly Stretch[])[] {
    return chosen.map((stretches, i) => {
      const { text } = this.#parts[i] as { readonly text: string };
      return NUMBERED.test(text)
        ? connected(text, stretches, charsOf(stretches))
        : connectedMiddle(text, stretches, charsOf(stretches));
    });
  }

  chosen(fills: boolean): readonly (readonly Stretch[])[] {
    for (const line of this.#lines) this.#selection.offer(line);
    this.#selection.spend();
    for (const { taken, part, stretch } of this.#lines)
      if (taken) this.#parts[part]?.stretches.push(stretch);
    let left = fills ? this.#selection.spaceChars : 0;
    const chosen = reversed(this.#parts).map(({ text, stretches }) => {
      const own = joined(stretches);
      const more = Math.min(left, text.length - charsOf(own));
      if (more < LEAST_MORE_CHARS) return own;
      left -= more;
      return widened(own, text, more);
    });
    return reversed(chosen);
  }
}

const REMINDER = 'system-reminder>';

/** Where a reminder begins that a host appended to a result, otherwise the end: it is not the result's last line. */
function reminderStart(text: string): number {
  const end = text.trimEnd();
  if (!end.endsWith(`</${REMINDER}`)) return text.length;
  const at = end.lastIndexOf(`<${REMINDER}`);
  return at < 0 ? text.length : text.slice(0, at).trimEnd().length;
}

/** The first and the last lines of a text that fit; a long first line is cut. */
function endsOf(text: string, headChars: number, tailChars: number): readonly Stretch[] {
  const head = lineEnd(text, Math.floor(headChars));
  const tail = lineStart(text, text.length - Math.floor(tailChars));
  if (tail <= head) return [[0, text.length]];
  return tail < text.length
    ? [
        [0, head],
        [tail, text.length],
      ]
    : [[0, head]];
}

/** A file as tools show it, with a number before each line. */
const NUMBERED = /^\s{0,40}\d{1,7}\s{0,8}(?:→|\t|\|)/;

function lineEnd(text: string, at: number): number {
  const feed = text.lastIndexOf('\n', at);
  return feed > at * 0.5 ? feed : wordEnd(text, Math.min(text.length, at));
}

const LONGEST_SEARCH = 200;

function lineStart(text: string, at: number): number {
  const feed = text.indexOf('\n', at);
  return feed < 0 || feed > at + LONGEST_SEARCH ? wordStart(text, at) : feed + 1;
}

/** Less is not worth the while. */
const LEAST_MORE_CHARS = 40;

function charsOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, [start, end]) => sum + end - start, 0);
}

/** The space that is left goes to the first and the last lines: if nothing is worth naming, they say most. */
function widened(stretches: readonly Stretch[], text: string, chars: number): readonly Stretch[] {
  const { length } = text;
  const head = stretches[0]?.[0] === 0 ? stretches[0][1] : 0;
  const last = stretches.at(-1);
  const tail = last?.[1] === length ? last[0] : length;
  const more = Math.ceil((chars * 2) / 3);
  return joined([
    [0, wordEnd(text, Math.min(length, head + more))],
    ...stretches,
    [wordStart(text, Math.max(0, tail - (chars - more))), length],
  ]);
}

/** Stretches in order; those that touch, or have only a line feed between, become one. */
function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  const runs: [number, number][] = [];
  for (const [start, end] of sorted(stretches, (a, b) => a[0] - b[0])) {
    const last = runs.at(-1);
    if (last !== undefined && start <= last[1] + 1) last[1] = Math.max(last[1], end);
    else if (end > start) runs.push([start, end]);
  }
  return runs;
}
