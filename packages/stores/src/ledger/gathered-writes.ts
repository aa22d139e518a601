import { LockedError, type Database } from '../sqlite/database.ts';

/** For how long changes are gathered for one transaction. */
const GATHER_MS = 40;
/** What waits for a lock is in memory: so much at most, and what comes then is refused. */
const MOST_WAITING = 10_000;

/** A change that waits for the next transaction. */
interface Write {
  readonly run: () => void;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** Changes that are written together. While another process has the lock, they wait, and nothing else does. */
export class GatheredWrites {
  readonly #database: Database;
  readonly #onTaken: () => void;
  #waiting: Write[] = [];
  /** The transaction that will take what waits. */
  #transaction: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  /** `onTaken` is called when a transaction takes what waits. */
  constructor(database: Database, onTaken: () => void) {
    this.#database = database;
    this.#onTaken = onTaken;
  }

  /** True if nothing more may wait. */
  get isFull(): boolean {
    return this.#waiting.length >= MOST_WAITING;
  }

  /** Makes a change in one transaction with all that is asked for within a few milliseconds. */
  add(run: () => void): Promise<void> {
    if (this.isFull) return Promise.reject(new LockedError(this.#database.path));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ run, done: resolve, failed: reject });
    this.#flushSoon();
    return promise;
  }

  /** Has what waits written now. It resolves when that is done, or when the lock has not come free for a long time. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length > 0) await (this.#transaction ??= this.#write());
  }

  /** Writes what waits; if the lock does not come free, it is refused. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.flush();
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS);
  }

  async #write(): Promise<void> {
    let taken: readonly Write[] = [];
    try {
      const settles = await this.#database.atomically(() => {
        taken = this.#take();
        return taken.map((write) => this.#written(write));
      });
      for (const settle of settles) settle();
    } catch (error) {
      if (error instanceof LockedError && !this.#isClosing) {
        this.#transaction = undefined;
        return this.#flushSoon();
      }
      for (const { failed } of taken.length > 0 ? taken : this.#take()) failed(error);
    }
  }

  #take(): readonly Write[] {
    const taken = this.#waiting;
    this.#waiting = [];
    this.#transaction = undefined;
    this.#onTaken();
    return taken;
  }

  /** Makes one change of a transaction. If it is refused, the others stay. */
  #written({ run, done, failed }: Write): () => void {
    try {
      run();
      return done;
    } catch (error) {
      // Some failures end the whole transaction.
      if (!this.#database.isTransaction) throw error;
      return () => failed(error);
    }
  }
}
