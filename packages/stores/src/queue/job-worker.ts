import type { ThreadKey } from '@bobbin/core/internal';
import type { Job, JobTable } from './job-table.ts';

export interface WorkOptions {
  /** How many threads this process works on at once. Default: 2. */
  readonly concurrency?: number;
  /** How long a job stays with a process that says nothing more. Default: 30 000. */
  readonly leaseMs?: number;
  /** How often it looks for jobs that other processes have added. Default: 500. */
  readonly pollMs?: number;
}

/** Does the work. The signal is aborted if the job may have gone to another process. */
export type Compact = (key: ThreadKey, signal: AbortSignal) => Promise<unknown>;

export type Failed = (error: unknown, key?: ThreadKey) => void;

interface Running {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Works on jobs until it is stopped. No failure of the database ends it: it reports each, and tries again. */
export class JobWorker {
  readonly #table: JobTable;
  readonly #compact: Compact;
  readonly #failed: Failed;
  readonly #concurrency: number;
  readonly #leaseMs: number;
  readonly #pollMs: number;
  readonly #running = new Map<string, Running>();
  readonly #stopped = new AbortController();
  readonly #loops: Promise<unknown>;
  #wake: () => void = () => undefined;

  constructor(table: JobTable, compact: Compact, failed: Failed, options: WorkOptions) {
    this.#table = table;
    this.#compact = compact;
    this.#failed = failed;
    this.#concurrency = options.concurrency ?? 2;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#pollMs = options.pollMs ?? 500;
    this.#loops = Promise.all([this.#claimAgainAndAgain(), this.#renewAgainAndAgain()]);
  }

  /** Looks for jobs now. */
  wake(): void {
    this.#wake();
  }

  /** Takes no more jobs, and resolves when those under way are done. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#loops;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #claimAgainAndAgain(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const free = this.#concurrency - this.#running.size;
      const found = free > 0 ? await this.#claim(free) : 0;
      if (found === 0 || found === free) await this.#pause(this.#pollMs);
    }
  }

  async #claim(most: number): Promise<number> {
    try {
      const jobs = await this.#table.claim(most, this.#leaseMs);
      for (const job of jobs) this.#start(job);
      return jobs.length;
    } catch (error) {
      this.#failed(error);
      return 0;
    }
  }

  #start(job: Job): void {
    const controller = new AbortController();
    const done = this.#perform(job, controller.signal).finally(() => {
      this.#running.delete(job.token);
      this.#wake();
    });
    this.#running.set(job.token, { controller, done });
  }

  async #perform(job: Job, signal: AbortSignal): Promise<void> {
    let isDone = false;
    try {
      await this.#compact(job.key, signal);
      isDone = true;
    } catch (error) {
      this.#failed(error, job.key);
    }
    try {
      await (isDone ? this.#table.finish(job) : this.#table.putBack(job));
    } catch (error) {
      // Its lease ends by itself, and it is done once more.
      this.#failed(error, job.key);
    }
  }

  async #renewAgainAndAgain(): Promise<void> {
    let renewed = performance.now();
    for (;;) {
      await this.#pauseUntilStopped(this.#leaseMs / 3);
      if (this.#stopped.signal.aborted && this.#running.size === 0) return;
      const tokens = [...this.#running.keys()];
      try {
        const held =
          tokens.length === 0 ? new Set() : await this.#table.renew(tokens, this.#leaseMs);
        renewed = performance.now();
        this.#abort(tokens.filter((token) => !held.has(token)));
      } catch (error) {
        this.#failed(error);
        // When the lease has ended, another process may begin.
        if (performance.now() - renewed > (2 / 3) * this.#leaseMs) this.#abort(tokens);
      }
    }
  }

  #abort(tokens: readonly string[]): void {
    for (const token of tokens)
      this.#running.get(token)?.controller.abort(new Error('the lease of the job has ended'));
  }

  /** Waits for some time, or until there may be something to do. */
  #pause(ms: number): Promise<void> {
    if (this.#stopped.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Waits for some time; once it was stopped, until the last job is done. */
  async #pauseUntilStopped(ms: number): Promise<void> {
    const { signal } = this.#stopped;
    let timer: NodeJS.Timeout | undefined;
    const time = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    const wait = signal.aborted
      ? [...this.#running.values()].map(({ done }) => done)
      : [
          new Promise<void>((resolve) =>
            signal.addEventListener('abort', () => resolve(), { once: true }),
          ),
        ];
    await Promise.race([time, Promise.all(wait)]);
    clearTimeout(timer);
  }
}
