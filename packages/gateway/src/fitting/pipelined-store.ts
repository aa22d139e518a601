import type { Store } from '@bobbin/core';
import type { Appended, AppendOptions, Node, ThreadKey } from '@bobbin/core/internal';

/** A store that does not make a session wait for its appends. */
export interface PipelinedStore {
  readonly store: Store;
  /** Resolves when all that was appended to a thread so far is durable; rejects if some of it is not. */
  written(key: ThreadKey): Promise<void>;
}

/**
 * A store whose appends return at once, so that requests that come together are written in one transaction. The caller
 * must wait for `written` before it acts on what was appended. Everything that reads a thread's messages, or commits a
 * plan, waits for them.
 */
export function pipelined(store: Store): PipelinedStore {
  const writes = new Map<string, Promise<void>>();
  const forget = (name: string, write: Promise<void>): void => {
    if (writes.get(name) === write) writes.delete(name);
  };

  async function written(key: ThreadKey): Promise<void> {
    const name = nameOf(key);
    const write = writes.get(name);
    if (write === undefined) return;
    try {
      await write;
    } catch (error) {
      forget(name, write);
      throw error;
    }
  }

  function append(
    key: ThreadKey,
    nodes: readonly Node[],
    options: AppendOptions = {},
  ): Promise<Appended> {
    // Whether a head is the expected one is known only when it is written.
    if (options.expectedHead !== undefined)
      return written(key).then(() => store.append(key, nodes, options));
    const name = nameOf(key);
    const before = writes.get(name);
    const begun =
      before === undefined
        ? store.append(key, nodes, options)
        : before.then(() => store.append(key, nodes, options));
    const write = begun.then(() => undefined);
    writes.set(name, write);
    // One that failed is kept until somebody learns of it.
    write.then(
      () => forget(name, write),
      () => undefined,
    );
    return Promise.resolve({ kind: 'appended' });
  }

  const after = async <T>(key: ThreadKey, work: () => Promise<T>): Promise<T> => {
    await written(key);
    return work();
  };
  const waiting: Store = {
    append,
    window: (key, ...rest) => after(key, () => store.window(key, ...rest)),
    path: (key, ...rest) => after(key, () => store.path(key, ...rest)),
    messages: (key, ids) => after(key, () => store.messages(key, ids)),
    turns: (key, head) => after(key, () => store.turns(key, head)),
    async *nodes(key) {
      await written(key);
      yield* store.nodes(key);
    },
    heads: (key) => after(key, () => store.heads(key)),
    // A plan is committed after the messages that it is made for.
    plan: (key, version) => store.plan(key, version),
    commit: (key, ...rest) => after(key, () => store.commit(key, ...rest)),
    record: (key, events) => after(key, () => store.record(key, events)),
    events: (key, ...rest) => after(key, () => store.events(key, ...rest)),
    search: (key, ...rest) => after(key, () => store.search(key, ...rest)),
    nearest: (key, ...rest) => after(key, () => store.nearest(key, ...rest)),
    unembedded: (key, ...rest) => after(key, () => store.unembedded(key, ...rest)),
    keepVectors: (key, ...rest) => after(key, () => store.keepVectors(key, ...rest)),
    threads: (tenant, ...rest) => store.threads(tenant, ...rest),
    tenants: () => store.tenants(),
    searchTenant: (tenant, ...rest) => store.searchTenant(tenant, ...rest),
    artifacts: (tenant) => store.artifacts(tenant),
    delete: (what, ...rest) => store.delete(what, ...rest),
    close: () => store.close(),
  };
  return { store: waiting, written };
}

function nameOf({ tenant, thread }: ThreadKey): string {
  return `${tenant}\n${thread}`;
}
