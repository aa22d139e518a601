import type { Store } from '@bobbin/core';
import type { ArtifactId } from '@bobbin/core/internal';

/**
 * Every artifact that a plan of a tenant points to. Past plans count: a compaction can be undone, and any past prompt
 * rendered again. The store reads the ids in parts, and no plan.
 * @throws StoreError if a thread cannot be read: what it points to is not known.
 */
export async function liveArtifacts(
  store: Store,
  tenant: string,
): Promise<ReadonlySet<ArtifactId>> {
  const live = new Set<ArtifactId>();
  for await (const ids of store.artifacts(tenant)) for (const id of ids) live.add(id);
  return live;
}
