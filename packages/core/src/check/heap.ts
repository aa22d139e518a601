/** A queue that gives the entry of the greatest value first. */
export class Heap<T extends { readonly value: number }> {
  readonly #entries: T[] = [];

  /** The greatest value; 0 if there is no entry. */
  get top(): number {
    return this.#entries[0]?.value ?? 0;
  }

  push(entry: T): void {
    const entries = this.#entries;
    let at = entries.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((entries[parent] as T).value >= entry.value) break;
      entries[at] = entries[parent] as T;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): T | undefined {
    const entries = this.#entries;
    const [top] = entries;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      const right = entries[child + 1];
      if (right !== undefined && right.value > (entries[child] as T).value) child++;
      if (last.value >= (entries[child] as T).value) break;
      entries[at] = entries[child] as T;
      at = child;
    }
    entries[at] = last;
    return top;
  }
}
