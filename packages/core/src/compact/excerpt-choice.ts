import { reversed, sorted } from '../check/list.ts';
import { textOf, type Message, type MessageId } from '../message/message.ts';
import { needs } from '../extract/anchors/rank.ts';
import { knownItem, Selection, type Group, type Item } from '../extract/quotes/select.ts';
import { scan, VOICE } from '../extract/anchors/scan.ts';
import { AnchorStatistics, type Placed } from '../extract/anchors/statistics.ts';
import { userWords } from '../extract/story/user-words.ts';
import type { Draft, Entry } from './draft.ts';
import { citedLines, citedStretches, type CitedLines } from './cited-lines.ts';
import {
  appendedStart,
  charsOf,
  connected,
  endsAndMiddle,
  endsOf,
  HEAD,
  joined,
  LEAST_MORE_CHARS,
  NUMBERED,
  TAIL,
  widened,
} from './excerpt-blocks.ts';
import { partText, type Remainder } from '../render/excerpt.ts';
import type { Stretch } from '../plan/plan.ts';
import { handOverStretches, isHandedOver } from '../summary/hand-over.ts';

/** What the anchors of a draft's messages are worth, and where each message's texts are. */
interface Values {
  readonly statistics: AnchorStatistics;
  readonly need: Float64Array;
  readonly places: ReadonlyMap<MessageId, readonly number[]>;
  readonly cited: CitedLines;
}

const known = new WeakMap<Draft, Values>();

function valuesOf(draft: Draft): Values {
  let values = known.get(draft);
  if (values === undefined) {
    const statistics = new AnchorStatistics();
    const places = new Map<MessageId, readonly number[]>();
    const nodes = sorted(draft.entries, (a, b) => a.node.index - b.node.index).map(
      ({ node }) => node,
    );
    for (const node of nodes) places.set(node.id, statistics.add(node));
    const cited = citedLines(nodes.map(({ message }) => message));
    values = { statistics, need: needs(statistics), places, cited };
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

/** True for the result of an edit that shows the edited lines again after its first line. */
function repeatsEdit({ segment, changes }: Placed, text: string): boolean {
  const feed = text.indexOf('\n');
  return changes && segment.voice === VOICE.tool && feed > 0 && NUMBERED.test(text.slice(feed + 1));
}

/** The share of an excerpt that comes before a line that newer messages name. */
const BEFORE_CITED = 0.5;
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
    if (isLoaded) return endsOf(part.text, Math.min(chars, LOADED_CHARS), 0);
    const since = (draft.entries.at(-1)?.node.index ?? 0) - node.index;
    const handed = isHandedOver(part.text)
      ? handOverStretches(part.text, chars, since > MOST_SINCE)
      : [];
    return handed.length > 0
      ? handed
      : endsOf(part.text, chars * USER_HEAD, chars * (1 - USER_HEAD));
  }
  if (repeatsEdit(values.statistics.placed[part.of] as Placed, part.text))
    return endsOf(part.text, part.text.indexOf('\n'), 0);
  const chooser = new StretchChooser(values, chars);
  const own = part.text.slice(0, appendedStart(part.text));
  if (NUMBERED.test(own)) {
    chooser.add(part, 0, 0);
    return chooser.connectedBlocks(chooser.chosen(false), chars)[0] ?? [];
  }
  chooser.add(part, chars * HEAD, chars * TAIL);
  return endsAndMiddle(own, chooser.chosen(true)[0] ?? [], chars);
}

/** What a person wrote is shown from its beginning, with its end; a document that a host loaded by its first lines. */
const USER_HEAD = 0.8;
const LOADED_CHARS = 200;
/** After so many messages, what was being done at a hand-over is done. */
const MOST_SINCE = 20;

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
        if (repeatsEdit(values.statistics.placed[part.of] as Placed, part.text))
          return endsOf(part.text, part.text.indexOf('\n'), 0);
        const isBlock = options.leastWorth === undefined && NUMBERED.test(part.text);
        return isCall || isBlock
          ? chooser.add(part, 0, 0)
          : chooser.add(part, headChars, tailChars);
      },
    ),
  );
  const chosen = chooser.chosen(options.fills);
  const blocks = options.leastWorth === undefined ? chooser.connectedBlocks(chosen) : chosen;
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

/** A part with the stretches that are shown regardless of their worth. */
interface ShownPart {
  readonly text: string;
  readonly stretches: Stretch[];
  /** The file that it shows. */
  readonly path: string | undefined;
}

class StretchChooser {
  readonly #values: Values;
  readonly #selection: Selection;
  readonly #parts: ShownPart[] = [];
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
    const text = whole.slice(0, appendedStart(whole));
    const always = endsOf(text, headChars, tailChars);
    const { segment, ids, file } = this.#values.statistics.placed[of] as Placed;
    this.#parts.push({ text, stretches: [...always], path: file?.path });
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

  /**
   * Connected blocks, as long as some stretches: one of a file that was read, around the lines that newer messages name if
   * it has some; of any other text its ends and one between.
   */
  connectedBlocks(
    chosen: readonly (readonly Stretch[])[],
    mostChars?: number,
  ): readonly (readonly Stretch[])[] {
    return chosen.map((stretches, i) => {
      const { text, path = '' } = this.#parts[i] as ShownPart;
      const chars = mostChars ?? charsOf(stretches);
      if (!NUMBERED.test(text)) return endsAndMiddle(text, stretches, chars);
      const before = Math.floor(chars * BEFORE_CITED);
      const cited = citedStretches(this.#values.cited, path, text, before);
      return connected(text, cited.length > 0 ? cited : stretches, chars);
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
