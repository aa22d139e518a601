import type { Store } from '@bobbin/core';
import { planArtifacts, type ArtifactId } from '@bobbin/core/internal';
import { threadsOf } from '../threads-of.ts';

/**
 * Every artifact that a plan of a tenant points to. Past plans count: a compaction can be undone, and any past prompt
 * rendered again.
 * @throws StoreError where a plan cannot be read: what it points to is not known.
 */
export async function liveArtifacts(
  store: Store,
  tenant: string,
): Promise<ReadonlySet<ArtifactId>> {
  const live = new Set<ArtifactId>();
  for await (const { thread, version } of threadsOf(store, tenant)) {
    const key = { tenant, thread };
    // What cannot be read is listed without its plans.
    if (version === 0) await store.window(key);
    for (let each = 1; each <= version; each++) {
      const stored = await store.plan(key, each);
      if (stored !== undefined) for (const id of planArtifacts(stored.plan)) live.add(id);
    }
  }
  return live;
}
