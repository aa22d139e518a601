import { createHash } from 'node:crypto';
import type { Store } from '@bobbin/core';
import type { RecallIndex, ThreadKey } from '@bobbin/core/internal';

/** Chooses the store of a tenant; it must always choose the same one. */
export type Route = (tenant: string) => Store;

/**
 * One store of several: each tenant is in one of them, so that no call needs two. To move a tenant, copy it with
 * `copyStore`, then change the route.
 */
export function routingStore(stores: readonly Store[], route: Route = byHash(stores)): Store {
  const of = ({ tenant }: { readonly tenant: string }): Store => route(tenant);
  const recall: RecallIndex = {
    search: (key, ...rest) => of(key).search(key, ...rest),
    nearest: (key, ...rest) => of(key).nearest(key, ...rest),
    unembedded: (key, ...rest) => of(key).unembedded(key, ...rest),
    keepVectors: (key, ...rest) => of(key).keepVectors(key, ...rest),
  };
  return {
    ...recall,
    append: (key, ...rest) => of(key).append(key, ...rest),
    window: (key, ...rest) => of(key).window(key, ...rest),
    path: (key, ...rest) => of(key).path(key, ...rest),
    messages: (key, ids) => of(key).messages(key, ids),
    turns: (key, ...rest) => of(key).turns(key, ...rest),
    nodes: (key: ThreadKey) => of(key).nodes(key),
    heads: (key) => of(key).heads(key),
    threads: (tenant, ...rest) => route(tenant).threads(tenant, ...rest),
    async tenants() {
      const lists = await Promise.all(stores.map((store) => store.tenants()));
      return [...new Set(lists.flat())].toSorted();
    },
    plan: (key, ...rest) => of(key).plan(key, ...rest),
    commit: (key, ...rest) => of(key).commit(key, ...rest),
    record: (key, ...rest) => of(key).record(key, ...rest),
    events: (key, ...rest) => of(key).events(key, ...rest),
    searchTenant: (tenant, ...rest) => route(tenant).searchTenant(tenant, ...rest),
    artifacts: (tenant) => route(tenant).artifacts(tenant),
    delete: (what, ...rest) => of(what).delete(what, ...rest),
    async close() {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

/**
 * The store for which the hash of its number and the tenant is highest: with one store more, only the tenants move that
 * go to the new one (rendezvous hashing: Thaler and Ravishankar, 1998).
 */
function byHash(stores: readonly Store[]): Route {
  return (tenant) => {
    const weights = stores.map((_, i) =>
      createHash('sha256').update(`${i}\0${tenant}`).digest('hex'),
    );
    const best = weights.reduce((top, weight, i) => (weight > (weights[top] ?? '') ? i : top), 0);
    const store = stores[best];
    if (store === undefined) throw new RangeError('a routing store needs at least one store');
    return store;
  };
}
