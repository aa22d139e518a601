import type { ThreadId } from '@bobbin/core';
import { assertNames, type ArtifactId, type ErasureOptions } from '@bobbin/core/internal';
import type { Connection } from './connection.ts';
import { idsOf } from './thread-row.ts';

const PLANS_AT_ONCE = 1_000;

/** The artifacts that plans of a tenant point to. */
export async function* artifactsIn(
  connection: Connection,
  tenant: string,
): AsyncIterable<readonly ArtifactId[]> {
  assertNames(tenant);
  for (let [thread, version] = ['', -1]; ;) {
    const rows = (await connection.askAs(
      tenant,
      `SELECT thread, version, artifacts FROM bobbin.plans
       WHERE tenant = $1 AND (thread, version) > ($2, $3) ORDER BY thread, version LIMIT ${PLANS_AT_ONCE}`,
      tenant,
      thread,
      version,
    )) as readonly { thread: string; version: number; artifacts: string }[];
    yield rows.flatMap(({ artifacts }) => artifacts.match(/[0-9a-f]{32}/g) ?? []) as ArtifactId[];
    const last = rows.at(-1);
    if (last === undefined || rows.length < PLANS_AT_ONCE) return;
    ({ thread, version } = last);
  }
}

/** Erases thread by thread: each is one transaction. */
export async function eraseThreads(
  connection: Connection,
  tenant: string,
  threads: Iterable<ThreadId> | AsyncIterable<ThreadId>,
  { unchangedSince }: ErasureOptions,
): Promise<readonly ThreadId[]> {
  const erased: ThreadId[] = [];
  for await (const thread of threads) {
    const [row] = (await connection.ask(
      'SELECT bobbin.erase($1, $2, to_timestamp($3::float8 / 1000)) AS erased',
      ...idsOf({ tenant, thread }),
      unchangedSince ?? null,
    )) as readonly { erased: boolean }[];
    if (row?.erased === true) erased.push(thread);
  }
  return erased;
}
