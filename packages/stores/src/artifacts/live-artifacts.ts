import {
  planArtifacts,
  type ArtifactId,
  type Plan,
  type Store,
  type ThreadKey,
} from '@bobbin/core';
import { threadsOf } from '../threads-of.ts';

/** Every artifact that a live plan of a tenant points to: the newest plan of each thread, and that of each of its forks. */
export async function liveArtifacts(
  store: Store,
  tenant: string,
): Promise<ReadonlySet<ArtifactId>> {
  const live = new Set<ArtifactId>();
  for await (const { thread, version } of threadsOf(store, tenant)) {
    if (version === 0) continue;
    for await (const plan of livePlans(store, { tenant, thread }, version))
      for (const id of planArtifacts(plan)) live.add(id);
  }
  return live;
}

async function* livePlans(store: Store, key: ThreadKey, version: number): AsyncIterable<Plan> {
  const newest = await store.plan(key, version);
  if (newest !== undefined) yield newest.plan;
  const [, ...forks] = await store.heads(key);
  for (const head of forks) {
    const window = await store.window(key, head);
    if (window?.current !== undefined) yield window.current.plan;
  }
  const window = await store.window(key);
  if (window?.current !== undefined && window.current.version !== version)
    yield window.current.plan;
}
