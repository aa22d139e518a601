import { errorText } from '../check/error-text.ts';
import type { ThreadKey } from '../ports.ts';
import { embedCompacted } from '../recall/recall.ts';
import type { SessionConfig } from './config/session-config.ts';

/** Gives vectors to what was compacted, one batch after another. No prompt waits: recall finds it by its words meanwhile. */
export class Embedding {
  #last: Promise<unknown> = Promise.resolve();

  start(
    { embedder, store }: SessionConfig<unknown>,
    key: ThreadKey,
    onFailure: (reason: string) => void,
  ): void {
    if (embedder === undefined) return;
    const work = this.#last.then(() => embedCompacted(store, key, embedder));
    this.#last = work.catch((error: unknown) => onFailure(errorText(error)));
  }
}
