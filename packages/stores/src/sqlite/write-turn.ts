/** For how long writes may follow each other before other work of the process has its turn. */
const TURN_MS = 10;

/**
 * When a writer may write. What several callers ask for in one turn of the event loop goes together. SQLite answers at
 * once, so a caller that writes again and again must leave time for other work of the process.
 */
export class WriteTurn {
  #isOpen = false;
  #until = 0;

  /** True if other work of the process should have its turn. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Resolves at once for a caller that writes again in an open turn, which saves a turn of the event loop. */
  begin(): Promise<void> {
    if (this.#isOpen && !this.isOver) return Promise.resolve();
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#isOpen = true;
        this.#until = performance.now() + TURN_MS;
        resolve();
      });
      // It runs when nothing is left to do that needs no event loop.
      setImmediate(() => this.end());
    });
  }

  /** To be called if several callers write: what they ask for next goes together again. */
  end(): void {
    this.#isOpen = false;
  }
}
