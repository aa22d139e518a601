import type { Store, StoredEvent, ThreadEntry, ThreadKey } from '@bobbin/core';
import { StoreError } from './store-error.ts';
import { threadsOf } from './threads-of.ts';
import { verifyStore, type ThreadProblem } from './verify-store.ts';

/** What was copied, and what a verification of every hash found wrong in the copy. */
export interface Copied {
  readonly threads: number;
  readonly messages: number;
  readonly plans: number;
  readonly problems: readonly ThreadProblem[];
}

/**
 * Copies all threads of some tenants, or of all, with every fork, plan and event. A copy that was broken off can be
 * repeated: what is there is not copied again. Vectors are not copied; an embedder makes them anew.
 */
export async function copyStore(
  from: Store,
  to: Store,
  tenants?: readonly string[],
): Promise<Copied> {
  const chosen = tenants ?? (await from.tenants());
  for (const tenant of chosen)
    for await (const entry of threadsOf(from, tenant)) await copyThread(from, to, tenant, entry);
  return verifyStore(to, chosen);
}

async function copyThread(
  from: Store,
  to: Store,
  tenant: string,
  { thread, head, length, version }: ThreadEntry,
): Promise<void> {
  const key = { tenant, thread };
  for await (const nodes of from.nodes(key)) await to.append(key, nodes);
  await to.append(key, await from.path(key, head, length - 1));
  const events = await from.events(key);
  let left = events.slice((await to.events(key)).length);
  const there = (await to.window(key))?.version ?? 0;
  await assertSamePlans(from, to, key, Math.min(there, version));
  for (let next = there + 1; next <= version; next++) {
    const plan = await from.plan(key, next);
    if (plan === undefined)
      throw new StoreError('damaged', `thread ${thread} of ${tenant} lacks plan ${next}`);
    const first = left.findIndex((event) => event.version === next);
    const before = first === -1 ? [] : left.slice(0, first);
    const own = left.filter((event) => event.version === next);
    await to.record(key, bare(before));
    if (!(await to.commit(key, plan.plan, next - 1, bare(own)))) throw changed(key);
    left = left.slice(before.length + own.length);
  }
  await to.record(key, bare(left));
}

async function assertSamePlans(
  from: Store,
  to: Store,
  key: ThreadKey,
  versions: number,
): Promise<void> {
  for (let version = 1; version <= versions; version++) {
    const [theirs, ours] = [await from.plan(key, version), await to.plan(key, version)];
    if (JSON.stringify(theirs) !== JSON.stringify(ours)) throw changed(key);
  }
}

function changed({ tenant, thread }: ThreadKey): StoreError {
  return new StoreError(
    'damaged',
    `thread ${thread} of ${tenant} has other plans where it is copied to: it went on there`,
  );
}

function bare(events: readonly StoredEvent[]): readonly StoredEvent['event'][] {
  return events.map(({ event }) => event);
}
