// Functions that later versions of the language have and ES2022 lacks.

/** The index of the last matching item, or -1. */
export function lastIndex<Item>(
  items: readonly Item[],
  isMeant: (item: Item, index: number) => boolean,
): number {
  for (let i = items.length - 1; i >= 0; i--) if (isMeant(items[i] as Item, i)) return i;
  return -1;
}

/** The last matching item. */
export function lastOf<Item, Kind extends Item>(
  items: readonly Item[],
  isMeant: (item: Item) => item is Kind,
): Kind | undefined;
export function lastOf<Item>(
  items: readonly Item[],
  isMeant: (item: Item) => boolean,
): Item | undefined;
export function lastOf<Item>(
  items: readonly Item[],
  isMeant: (item: Item) => boolean,
): Item | undefined {
  return items[lastIndex(items, isMeant)];
}

/** A copy in the opposite order. */
export function reversed<Item>(items: readonly Item[]): Item[] {
  const copy: Item[] = [];
  for (let i = items.length - 1; i >= 0; i--) copy.push(items[i] as Item);
  return copy;
}

/** A sorted copy. */
export function sorted<Item>(
  items: Iterable<Item>,
  compare?: (a: Item, b: Item) => number,
): Item[] {
  // oxlint-disable-next-line unicorn/no-array-sort -- nobody else has the copy
  return [...items].sort(compare);
}

/** Items by a key, in the order in which the keys come up. */
export function groupedBy<Item, Key>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
