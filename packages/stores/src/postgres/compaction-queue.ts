import { Logger, makeWorkerUtils, run, type WorkerUtils } from 'graphile-worker';
import type { ThreadId } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { causeText, StoreError } from '../store-error.ts';

const TASK = 'bobbin-compact';
const silent = new Logger(() => () => undefined);

/** Compactions to be done in the background, kept in the same database as the threads. */
export interface CompactionQueue {
  /** Asks for a thread to be compacted soon. Asked again before it began, it is done once. */
  add(key: ThreadKey): Promise<void>;
  /**
   * Does what was asked for, by any process, until it is stopped. What fails is tried again later, and each failure is
   * told with its thread; one without a thread is the queue's own.
   */
  work(
    compact: (key: ThreadKey) => Promise<unknown>,
    failed: (error: unknown, key?: ThreadKey) => void,
    options?: { readonly concurrency?: number },
  ): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The role must own the queue's tables (schema `graphile_worker`), or be allowed to make them. */
export async function compactionQueue(url: string): Promise<CompactionQueue> {
  const jobs = await opened(url);
  return {
    async add({ tenant, thread }) {
      await jobs.addJob(TASK, { tenant, thread }, { jobKey: JSON.stringify([tenant, thread]) });
    },
    async work(compact, failed, { concurrency = 2 } = {}) {
      const task = async (payload: unknown): Promise<void> => {
        await compact(keyOf(payload)).catch((error: unknown) => {
          failed(error, keyOf(payload));
          throw error;
        });
      };
      const runner = await run({
        connectionString: url,
        concurrency,
        logger: silent,
        noHandleSignals: true,
        taskList: { [TASK]: task },
      });
      for (const event of [
        'worker:getJob:error',
        'worker:fatalError',
        'pool:listen:error',
      ] as const)
        runner.events.on(event, ({ error }) => failed(error));
      return () => runner.stop();
    },
    close: async () => jobs.release(),
  };
}

async function opened(url: string): Promise<WorkerUtils> {
  try {
    const jobs = await makeWorkerUtils({ connectionString: url, logger: silent });
    await jobs.migrate();
    return jobs;
  } catch (error) {
    throw new StoreError(
      'unavailable',
      `postgres: the queue cannot be opened: ${causeText(error)}. Its role must own the schema graphile_worker, or have CREATE on the database to make it`,
      error,
    );
  }
}

function keyOf(payload: unknown): ThreadKey {
  const { tenant, thread } = payload as { tenant: string; thread: ThreadId };
  return { tenant, thread };
}
