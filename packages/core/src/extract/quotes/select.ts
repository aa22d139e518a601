import { ENOUGH_WORDS } from './quote.ts';

/** Lines that share a heading: the first one that is quoted pays for it. */
export interface Group {
  readonly headingChars: number;
  /** The anchors that the heading shows, and how well its words explain them. */
  readonly ids: readonly number[];
  readonly clarity: number;
  readonly items: Item[];
  open: boolean;
}

/** Something that could be shown for the sake of the anchors in it. */
export interface Item {
  readonly group: Group;
  /** What it is worth to a reader for each character, in addition to its anchors. */
  readonly merit: number;
  chars: number;
  ids: readonly number[];
  /** How well its words explain each anchor, 0 to 1; undefined until the item is looked at closely. */
  clarities: readonly number[] | undefined;
  /** Looks closely: the true length, and how well each anchor is explained. */
  readonly settle: (item: Item) => void;
  taken: boolean;
  /** What it was worth per character when it was taken. */
  worth: number;
}

/** How well so many words of a line explain an anchor in it. */
export function clarityOf(words: number): number {
  return words >= ENOUGH_WORDS ? 1 : 0.2 + 0.2 * Math.max(0, words);
}

/** Enough digits to keep an order, few enough to read. */
export function rounded(worth: number): number {
  return Number(worth.toPrecision(3));
}

/** Every line costs a mark and a line feed; very short ones are not worth more for being short. */
const LINE_CHARS = 2;
const SHORTEST_CHARS = 12;
const LEAST_WORTH = 1e-7;
const NO_SPACE = 24;

interface Offer {
  readonly item: Item;
  readonly worth: number;
}

/**
 * Chooses items within a space so that together they show as much as possible of what will be needed: the most need per
 * character first. What an item adds only shrinks while others are taken, so it is looked at again when its turn comes.
 */
export class Selection {
  readonly need: Float64Array;
  /** How well each anchor is shown already. */
  readonly shown: Float64Array;
  spaceChars: number;
  readonly #heap: Offer[] = [];
  readonly #leastWorth: number;

  constructor(need: Float64Array, spaceChars: number, leastWorth: number = LEAST_WORTH) {
    this.#leastWorth = leastWorth;
    this.need = need;
    this.shown = new Float64Array(need.length);
    this.spaceChars = spaceChars;
  }

  get exhausted(): boolean {
    return this.#heap.length === 0;
  }

  show(id: number): void {
    this.shown[id] = 1;
  }

  offer(item: Item): void {
    const worth = this.#worth(item);
    if (worth > this.#leastWorth) push(this.#heap, { item, worth });
  }

  /** Takes the best items until the space is used up. */
  spend(): void {
    const tooLong: Offer[] = [];
    for (let offer = pop(this.#heap); offer !== undefined; offer = pop(this.#heap)) {
      const { item } = offer;
      if (item.taken) continue;
      if (item.clarities === undefined && this.#worth(item) >= offer.worth) item.settle(item);
      const worth = this.#worth(item);
      if (worth < offer.worth) {
        if (worth > this.#leastWorth) push(this.#heap, { item, worth });
        continue;
      }
      if (this.#chars(item) > this.spaceChars) {
        tooLong.push(offer);
        if (this.spaceChars < NO_SPACE) break;
      } else this.take(item, worth);
    }
    for (const offer of tooLong) push(this.#heap, offer);
  }

  take(item: Item, worth: number): void {
    const { group, ids, clarities } = item;
    this.spaceChars -= this.#chars(item);
    item.taken = true;
    item.worth = worth;
    ids.forEach((id, k) => {
      const clarity = clarities?.[k] ?? 1;
      if (clarity > (this.shown[id] as number)) this.shown[id] = clarity;
    });
    if (group.open) return;
    group.open = true;
    for (const id of group.ids) this.shown[id] = Math.max(this.shown[id] as number, group.clarity);
    for (const other of group.items) if (!other.taken) this.offer(other);
  }

  #chars({ chars, group }: Item): number {
    return chars + (group.open ? 0 : group.headingChars);
  }

  #worth(item: Item): number {
    const { ids, clarities, group, merit, chars } = item;
    let value = merit * chars;
    for (let k = 0; k < ids.length; k++) {
      const id = ids[k] as number;
      const more =
        (clarities === undefined ? 1 : (clarities[k] as number)) - (this.shown[id] as number);
      if (more > 0) value += (this.need[id] as number) * more;
    }
    if (!group.open)
      for (const id of group.ids)
        value +=
          (this.need[id] as number) * Math.max(0, group.clarity - (this.shown[id] as number));
    return value / (this.#chars(item) + LINE_CHARS + SHORTEST_CHARS);
  }
}

function push(heap: Offer[], offer: Offer): void {
  let i = heap.push(offer) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if ((heap[parent] as Offer).worth >= offer.worth) break;
    heap[i] = heap[parent] as Offer;
    i = parent;
  }
  heap[i] = offer;
}

function pop(heap: Offer[]): Offer | undefined {
  const [top] = heap;
  const last = heap.pop();
  if (top === undefined || last === undefined || heap.length === 0) return top;
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    const right = heap[child + 1];
    if (right !== undefined && right.worth > (heap[child] as Offer).worth) child++;
    if (last.worth >= (heap[child] as Offer).worth) break;
    heap[i] = heap[child] as Offer;
    i = child;
  }
  heap[i] = last;
  return top;
}
