import type { Store, ThreadId } from '@bobbin/core';
import type { ThreadEntry } from '@bobbin/core/internal';

const AT_ONCE = 200;

/** All threads of a tenant, by name. */
export async function* threadsOf(store: Store, tenant: string): AsyncIterable<ThreadEntry> {
  let page = await store.threads(tenant, AT_ONCE);
  while (page.length > 0) {
    yield* page;
    page = await store.threads(tenant, AT_ONCE, page.at(-1)?.thread);
  }
}

/** The names of all threads of a tenant. */
export async function* namesOf(store: Store, tenant: string): AsyncIterable<ThreadId> {
  for await (const { thread } of threadsOf(store, tenant)) yield thread;
}
