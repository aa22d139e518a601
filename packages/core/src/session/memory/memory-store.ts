import type { Store, ThreadKey } from '../../ports.ts';
import { StoredThread } from './stored-thread.ts';
import { assertKey } from './thread-name.ts';

/** Keeps threads and plans in this process: the default, and the model that every other store is compared with. */
export function memoryStore(): Store {
  const threads = new Map<string, { tenant: string; stored: StoredThread }>();
  const find = (key: ThreadKey): StoredThread | undefined => threads.get(nameOf(key))?.stored;
  return {
    async append(key, nodes) {
      if (nodes.length === 0) return;
      const stored = find(key) ?? new StoredThread(key.thread);
      stored.append(nodes);
      threads.set(nameOf(key), { tenant: key.tenant, stored });
    },
    window: async (key, head) => find(key)?.window(head),
    path: async (key, head, from) => find(key)?.path(head, from) ?? [],
    turns: async (key, head) => find(key)?.turns(head) ?? [],
    async *nodes(key) {
      yield find(key)?.nodes() ?? [];
    },
    heads: async (key) => find(key)?.heads() ?? [],
    threads: async (tenant, most, after) =>
      [...threads.values()]
        .filter((each) => each.tenant === tenant && (after === undefined || each.stored.id > after))
        .map(({ stored }) => stored)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, most)
        .flatMap((stored) => stored.entry() ?? []),
    tenants: async () => [...new Set([...threads.values()].map(({ tenant }) => tenant))].toSorted(),
    plan: async (key, version) => find(key)?.plan(version),
    commit: async (key, plan, expectedVersion, events) =>
      find(key)?.commit(plan, expectedVersion, events) ?? false,
    record: async (key, events) => find(key)?.record(events),
    events: async (key, after) => find(key)?.events(after) ?? [],
    search: async (key, words, most, head) => find(key)?.search(words, most, head) ?? [],
    nearest: async (key, embedder, vector, most, head) =>
      find(key)?.nearest(embedder, vector, most, head) ?? [],
    unembedded: async (key, embedder, most) => find(key)?.unembedded(embedder, most) ?? [],
    keepVectors: async (key, embedder, vectors) => find(key)?.keepVectors(embedder, vectors),
    close: async () => undefined,
  };
}

function nameOf(key: ThreadKey): string {
  assertKey(key);
  return JSON.stringify([key.tenant, key.thread]);
}
