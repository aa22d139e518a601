import type { ArtifactStore, Store, ThreadId } from '@bobbin/core';
import { summariesBeside, type Erasure, type SummaryCache } from '@bobbin/core/internal';

/**
 * Erases some threads, or all that a tenant has, with their artifacts and cached summaries, and names the threads that
 * were there.
 */
export async function erase(
  store: Store,
  artifacts: ArtifactStore | undefined,
  what: Erasure,
  summaries?: SummaryCache,
): Promise<readonly ThreadId[]> {
  // The threads last: broken off, they are still there to be erased again.
  await artifacts?.delete(what);
  await forgetSummaries(store, what, summaries);
  return store.delete(what);
}

export interface Retention {
  /** How long a thread is kept after something was last written to it. */
  readonly maxAgeMs: number;
  readonly now: number;
}

/**
 * Erases the threads of a tenant that nothing was written to for a time, with their artifacts and cached summaries, and
 * names them. A thread that is written to meanwhile stays. Broken off after the threads, it leaves their artifacts to a
 * sweep that asks which threads are there.
 */
export async function eraseOld(
  store: Store,
  artifacts: ArtifactStore | undefined,
  tenant: string,
  { maxAgeMs, now }: Retention,
  summaries?: SummaryCache,
): Promise<readonly ThreadId[]> {
  const threads = await store.delete({ tenant }, { unchangedSince: now - maxAgeMs });
  if (threads.length === 0) return threads;
  await artifacts?.delete({ tenant, threads });
  await forgetSummaries(store, { tenant, threads }, summaries);
  return threads;
}

/** Erases from the host's cache and from the one of those who use the store without a cache of their own. */
async function forgetSummaries(
  store: Store,
  what: Erasure,
  summaries: SummaryCache | undefined,
): Promise<void> {
  await summariesBeside(store).delete(what);
  await summaries?.delete(what);
}
