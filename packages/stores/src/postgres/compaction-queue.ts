import { Logger, makeWorkerUtils, run, type WorkerUtils } from 'graphile-worker';
import type { ThreadId, ThreadKey } from '@bobbin/core';

const TASK = 'bobbin-compact';
const silent = new Logger(() => () => undefined);

/** Compactions to be done in the background, kept in the same database as the threads. */
export interface CompactionQueue {
  /** Asks for a thread to be compacted soon. Asked again before it began, it is done once. */
  add(key: ThreadKey): Promise<void>;
  /** Does what was asked for, by any process, until it is stopped; what fails is tried again later. */
  work(
    compact: (key: ThreadKey) => Promise<unknown>,
    options?: { readonly concurrency?: number },
  ): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function compactionQueue(url: string): Promise<CompactionQueue> {
  const jobs: WorkerUtils = await makeWorkerUtils({ connectionString: url, logger: silent });
  await jobs.migrate();
  return {
    async add({ tenant, thread }) {
      await jobs.addJob(TASK, { tenant, thread }, { jobKey: JSON.stringify([tenant, thread]) });
    },
    async work(compact, { concurrency = 2 } = {}) {
      const runner = await run({
        connectionString: url,
        concurrency,
        logger: silent,
        noHandleSignals: true,
        taskList: { [TASK]: async (payload) => void (await compact(keyOf(payload))) },
      });
      return () => runner.stop();
    },
    close: async () => jobs.release(),
  };
}

function keyOf(payload: unknown): ThreadKey {
  const { tenant, thread } = payload as { tenant: string; thread: ThreadId };
  return { tenant, thread };
}
