import { setTimeout as sleep } from 'node:timers/promises';
import type { ThreadId } from '@bobbin/core';
import type { Connection } from './connection.ts';
import type { ThreadNews } from './notices.ts';

const POLL_MS = 500;
/** A thread's time is that of the beginning of a transaction: one that is committed later is still found. */
const OVERLAP_MS = 60_000;

interface Row {
  readonly thread: ThreadId;
  readonly events: number;
  /** In milliseconds, as text: the driver reads large numbers so. */
  readonly time: string;
}

/**
 * Looks for new events of a tenant's threads again and again: what LISTEN would hear, for a database that is reached
 * through a pooler. A look reads the row of each of the tenant's threads.
 */
export async function pollThreads(
  connection: Connection,
  tenant: string,
  listener: (news: ThreadNews) => void,
): Promise<() => Promise<void>> {
  const known = new Map<ThreadId, number>();
  let newest = 0;
  const look = async (report: (thread: ThreadId, events: number) => void): Promise<void> => {
    for (const { thread, events, time } of await changedSince(connection, tenant, newest)) {
      newest = Math.max(newest, Number(time));
      if ((known.get(thread) ?? 0) < events) report(thread, events);
      known.set(thread, events);
    }
  };
  await look(() => undefined);
  const stopped = new AbortController();
  const looking = (async () => {
    let isHeard = true;
    for (;;) {
      await sleep(POLL_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) return;
      try {
        await look((thread, sequence) => listener({ kind: 'events', thread, sequence }));
        if (!isHeard) listener({ kind: 'missed' });
        isHeard = true;
      } catch {
        isHeard = false;
      }
    }
  })();
  return async () => {
    stopped.abort();
    await looking;
  };
}

async function changedSince(
  connection: Connection,
  tenant: string,
  time: number,
): Promise<readonly Row[]> {
  return (await connection.askAs(
    tenant,
    `SELECT thread, events, (extract(epoch FROM changed_at) * 1000)::bigint AS time FROM bobbin.threads
     WHERE tenant = $1 AND changed_at >= to_timestamp($2::float8 / 1000)`,
    tenant,
    Math.max(0, time - OVERLAP_MS),
  )) as readonly Row[];
}
