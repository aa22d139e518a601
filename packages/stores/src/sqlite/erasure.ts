import type { ThreadId } from '@bobbin/core';
import {
  assertNames,
  type ArtifactId,
  type ErasureOptions,
  type ThreadKey,
} from '@bobbin/core/internal';
import type { Database } from './database.ts';
import type { RecallTable } from './recall-table.ts';
import { idsOf } from './thread-row.ts';

const PLANS_AT_ONCE = 1_000;

/** The artifacts that plans of a tenant point to. */
export async function* artifactsIn(
  database: Database,
  tenant: string,
): AsyncIterable<readonly ArtifactId[]> {
  assertNames(tenant);
  for (let [thread, version] = ['', -1]; ;) {
    const rows = database.all(
      `SELECT thread, version, artifacts FROM plans
       WHERE tenant = ? AND (thread, version) > (?, ?) ORDER BY thread, version LIMIT ${PLANS_AT_ONCE}`,
      tenant,
      thread,
      version,
    ) as readonly { thread: string; version: number; artifacts: string }[];
    yield rows.flatMap(({ artifacts }) => JSON.parse(artifacts) as ArtifactId[]);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PLANS_AT_ONCE) return;
    ({ thread, version } = last);
  }
}

/** Deleted text is overwritten in the file, and goes from the index of words and from the log. */
export async function eraseThreads(
  database: Database,
  recall: RecallTable,
  tenant: string,
  threads: Iterable<ThreadId> | AsyncIterable<ThreadId>,
  { unchangedSince = Number.MAX_SAFE_INTEGER }: ErasureOptions,
): Promise<readonly ThreadId[]> {
  const erased: ThreadId[] = [];
  for await (const thread of threads)
    if (await eraseThread(database, recall, { tenant, thread }, unchangedSince))
      erased.push(thread);
  await recall.purge();
  await database.emptyLog();
  return erased;
}

function eraseThread(
  database: Database,
  recall: RecallTable,
  key: ThreadKey,
  unchangedSince: number,
): Promise<boolean> {
  return database.atomically(() => {
    const erased = database.run(
      'DELETE FROM threads WHERE tenant = ? AND thread = ? AND changed_at <= ?',
      ...idsOf(key),
      Math.floor(unchangedSince),
    );
    if (erased === 0) return false;
    recall.remove(key);
    for (const table of ['messages', 'plans', 'events', 'compacted', 'vectors'])
      database.run(`DELETE FROM ${table} WHERE tenant = ? AND thread = ?`, ...idsOf(key));
    return true;
  });
}
