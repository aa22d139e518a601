import type { ThreadKey } from '@bobbin/core/internal';
import { Connection } from '../postgres/connection.ts';
import { JobTable } from './job-table.ts';
import { JobWorker, type Compact, type Failed, type WorkOptions } from './job-worker.ts';

/** Compactions to be done in the background, kept in the same database as the threads. */
export interface CompactionQueue {
  /** Asks for a thread to be compacted soon. Asked again before it began, it is done once. */
  add(key: ThreadKey): Promise<void>;
  /**
   * Does what was asked for, by any process, until it is stopped: one job of a thread at a time. What fails is tried
   * again later, and each failure is reported with its thread; one without a thread is the queue's own. What a process
   * that ended had begun is done by another one when its lease is over.
   */
  work(compact: Compact, failed: Failed, options?: WorkOptions): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** How long a connection may be silent while something is asked. Default: 15 000. */
  readonly timeoutMs?: number;
  /** For how long a call is tried again while the database takes no connection. Default: 15 000. */
  readonly retryMs?: number;
}

const CONNECTIONS = 3;

/** The role must own the queue's table (schema `bobbin_jobs`), or be allowed to make it. */
export async function compactionQueue(
  url: string,
  { timeoutMs = 15_000, retryMs = 15_000 }: QueueOptions = {},
): Promise<CompactionQueue> {
  const connection = await Connection.open(url, { connections: CONNECTIONS, timeoutMs, retryMs });
  const table = new JobTable(connection);
  const workers = new Set<JobWorker>();
  try {
    await table.create();
  } catch (error) {
    await connection.sql.end({ timeout: 0 });
    throw error;
  }
  return {
    async add(key) {
      await table.add(key);
      for (const worker of workers) worker.wake();
    },
    async work(compact, failed, options = {}) {
      const worker = new JobWorker(table, compact, failed, options);
      workers.add(worker);
      return async () => {
        workers.delete(worker);
        await worker.stop();
      };
    },
    async close() {
      await Promise.all([...workers].map((worker) => worker.stop()));
      await connection.close();
    },
  };
}
