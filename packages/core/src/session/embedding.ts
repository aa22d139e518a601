import { errorText } from '../check/error-text.ts';
import type { Embedder, Store, ThreadKey } from '../ports.ts';
import { embedCompacted } from '../recall/recall.ts';

/** Gives vectors to what was compacted, one batch after another. No prompt waits: recall finds it by its words meanwhile. */
export class Embedding {
  #last: Promise<unknown> = Promise.resolve();

  start(
    embedder: Embedder,
    store: Store,
    key: ThreadKey,
    onFailure: (reason: string) => void,
  ): void {
    const work = this.#last.then(() => embedCompacted(store, key, embedder));
    this.#last = work.catch((error: unknown) => onFailure(errorText(error)));
  }
}
