import { Heap } from '../../check/heap.ts';

/** Lines that share a heading: the first one that is quoted pays for it. */
export interface Group {
  readonly headingChars: number;
  /** The anchors that the heading shows. */
  readonly ids: readonly number[];
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
  /** Makes the text of an item when its turn comes: its true length and anchors. Absent if these are known. */
  settle?: ((item: Item) => void) | undefined;
  taken: boolean;
  /** What it was worth per character when it was taken. */
  worth: number;
}

/** An item whose length and anchors are known. */
export function knownItem(group: Group, chars: number, ids: readonly number[], merit = 0): Item {
  return { group, merit, chars, ids, taken: false, worth: 0 };
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
  readonly value: number;
}

/**
 * Chooses items within a space so that together they show as much as possible of what will be needed: the most need per
 * character first. What an item adds only shrinks while others are taken, so it is looked at again when its turn comes.
 */
export class Selection {
  readonly need: Float64Array;
  /** 1 for each anchor that is shown already. */
  readonly shown: Uint8Array;
  spaceChars: number;
  readonly #offers = new Heap<Offer>();
  readonly #leastWorth: number;

  constructor(need: Float64Array, spaceChars: number, leastWorth: number = LEAST_WORTH) {
    this.#leastWorth = leastWorth;
    this.need = need;
    this.shown = new Uint8Array(need.length);
    this.spaceChars = spaceChars;
  }

  show(id: number): void {
    this.shown[id] = 1;
  }

  offer(item: Item): void {
    const value = this.#worth(item);
    if (value > this.#leastWorth) this.#offers.push({ item, value });
  }

  /** Takes the best items until the space is used up. */
  spend(): void {
    const tooLong: Offer[] = [];
    const offers = this.#offers;
    for (let offer = offers.pop(); offer !== undefined; offer = offers.pop()) {
      const { item, value } = offer;
      if (item.taken) continue;
      if (item.settle !== undefined && this.#worth(item) >= value) {
        item.settle(item);
        item.settle = undefined;
      }
      const worth = this.#worth(item);
      if (worth < value) this.offer(item);
      else if (this.#chars(item) <= this.spaceChars) this.take(item, worth);
      else {
        tooLong.push(offer);
        if (this.spaceChars < NO_SPACE) break;
      }
    }
    for (const offer of tooLong) offers.push(offer);
  }

  take(item: Item, worth: number): void {
    const { group, ids } = item;
    this.spaceChars -= this.#chars(item);
    item.taken = true;
    item.worth = worth;
    for (const id of ids) this.show(id);
    if (group.open) return;
    group.open = true;
    for (const id of group.ids) this.show(id);
    for (const other of group.items) if (!other.taken) this.offer(other);
  }

  #chars({ chars, group }: Item): number {
    return chars + (group.open ? 0 : group.headingChars);
  }

  #worth(item: Item): number {
    const { ids, group, merit, chars } = item;
    let value = merit * chars + this.#lacking(ids);
    if (!group.open) value += this.#lacking(group.ids);
    return value / (this.#chars(item) + LINE_CHARS + SHORTEST_CHARS);
  }

  /** The need of those anchors that are not shown yet. */
  #lacking(ids: readonly number[]): number {
    let need = 0;
    for (const id of ids) if (this.shown[id] === 0) need += this.need[id] as number;
    return need;
  }
}
