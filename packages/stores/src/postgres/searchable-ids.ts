import type { ThreadKey } from '@bobbin/core/internal';

/** What of a thread was searchable after a commit of this process. */
export interface SearchableIds {
  readonly version: number;
  /** How many messages: a thread that is erased and begun again hardly has both the same version and the same count. */
  readonly count: number;
  readonly ids: ReadonlySet<string>;
}

/** Ids are 32 characters: some megabytes. */
const MOST_IDS = 50_000;

/** Remembers which messages are searchable, of the threads that were committed last, so that a commit asks for new ones alone. */
export class SearchableMemory {
  readonly #threads = new Map<string, SearchableIds>();
  #total = 0;

  get(key: ThreadKey, version: number): SearchableIds | undefined {
    const known = this.#threads.get(nameOf(key));
    return known?.version === version ? known : undefined;
  }

  set(key: ThreadKey, known: SearchableIds): void {
    this.delete(key);
    this.#threads.set(nameOf(key), known);
    this.#total += known.ids.size;
    for (const [name, oldest] of this.#threads) {
      if (this.#total <= MOST_IDS) return;
      this.#threads.delete(name);
      this.#total -= oldest.ids.size;
    }
  }

  delete(key: ThreadKey): void {
    const name = nameOf(key);
    this.#total -= this.#threads.get(name)?.ids.size ?? 0;
    this.#threads.delete(name);
  }
}

/** NUL is in no name. */
function nameOf({ tenant, thread }: ThreadKey): string {
  return `${tenant}\0${thread}`;
}
