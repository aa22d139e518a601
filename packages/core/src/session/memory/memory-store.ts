import { sorted } from '../../check/list.ts';
import type { Clock, Store, ThreadKey } from '../../ports.ts';
import { systemClock } from '../config/host.ts';
import { assertNames, searchThreads, StoredThread } from './stored-thread.ts';

/**
 * Keeps threads and plans in the memory of this process. It is the default, and the tests compare every other store
 * with it.
 */
export function memoryStore({ clock = systemClock }: { readonly clock?: Clock } = {}): Store {
  const tenants = new Map<string, Map<string, StoredThread>>();
  const find = ({ tenant, thread }: ThreadKey): StoredThread | undefined => {
    assertNames(tenant, thread);
    return tenants.get(tenant)?.get(thread);
  };
  const ofTenant = (tenant: string): readonly StoredThread[] => {
    assertNames(tenant);
    return sorted([...(tenants.get(tenant)?.values() ?? [])], (a, b) => (a.id < b.id ? -1 : 1));
  };
  return {
    async append(key, nodes, { expectedHead } = {}) {
      if (nodes.length === 0) return { kind: 'appended' };
      const stored = find(key) ?? new StoredThread(key.thread);
      const conflict =
        expectedHead === undefined ? undefined : stored.conflict(nodes, expectedHead);
      if (conflict !== undefined) return conflict;
      stored.append(nodes);
      stored.changedAt = clock.now();
      const threads = tenants.get(key.tenant) ?? new Map<string, StoredThread>();
      tenants.set(key.tenant, threads.set(key.thread, stored));
      return { kind: 'appended' };
    },
    window: async (key, head) => find(key)?.window(head),
    path: async (key, head, from) => find(key)?.path(head, from) ?? [],
    messages: async (key, ids) => find(key)?.some(ids) ?? [],
    turns: async (key, head) => find(key)?.turns(head) ?? [],
    async *nodes(key) {
      yield find(key)?.nodes() ?? [];
    },
    heads: async (key) => find(key)?.heads() ?? [],
    threads: async (tenant, most, after) =>
      ofTenant(tenant)
        .filter(({ id }) => after === undefined || id > after)
        .slice(0, most)
        .flatMap((stored) => stored.entry() ?? []),
    tenants: async () => sorted([...tenants.keys()]),
    plan: async (key, version) => find(key)?.plan(version),
    async commit(key, plan, expectedVersion, events) {
      const stored = find(key);
      const won = stored?.commit(plan, expectedVersion, events) ?? false;
      if (stored !== undefined && won) stored.changedAt = clock.now();
      return won;
    },
    async record(key, events) {
      const stored = find(key);
      if (stored === undefined) return;
      stored.changedAt = clock.now();
      stored.record(events);
    },
    events: async (key, after) => find(key)?.events(after) ?? [],
    search: async (key, words, most, head) => find(key)?.search(words, most, head) ?? [],
    nearest: async (key, embedder, vector, most, head) =>
      find(key)?.nearest(embedder, vector, most, head) ?? [],
    searchTenant: async (tenant, words, most) => searchThreads(ofTenant(tenant), words, most),
    async *artifacts(tenant) {
      for (const stored of ofTenant(tenant)) yield stored.artifacts();
    },
    async delete({ tenant, threads: named }, { unchangedSince = Infinity } = {}) {
      const erased = ofTenant(tenant)
        .filter(({ id, changedAt }) => named?.includes(id) !== false && changedAt <= unchangedSince)
        .map(({ id }) => id);
      for (const thread of erased) tenants.get(tenant)?.delete(thread);
      if (tenants.get(tenant)?.size === 0) tenants.delete(tenant);
      return erased;
    },
    unembedded: async (key, embedder, most) => find(key)?.unembedded(embedder, most) ?? [],
    keepVectors: async (key, embedder, vectors) => find(key)?.keepVectors(embedder, vectors),
    close: async () => undefined,
  };
}
