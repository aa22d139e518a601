import type { Store } from '@bobbin/core';
import type { Appended, AppendOptions, Node, ThreadKey } from '@bobbin/core/internal';

/** For how long messages are gathered for one transaction, unless something reads their thread. */
const GATHER_MS = 2;

/** Messages of one thread that are written together. */
export class PendingWrite {
  readonly key: ThreadKey;
  /** Resolves when the messages are durable; rejects if they cannot be stored. */
  readonly durable: Promise<void>;
  #nodes: readonly Node[];
  readonly #hurry: () => void;
  #stage: 'gathered' | 'under way' | 'durable' | 'failed' = 'gathered';
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(key: ThreadKey, nodes: readonly Node[], hurry: () => void) {
    this.key = key;
    this.#nodes = nodes;
    this.#hurry = hurry;
    this.durable = new Promise((resolve, reject) => {
      [this.#resolve, this.#reject] = [resolve, reject];
    });
    this.durable.catch(() => undefined);
  }

  get isDurable(): boolean {
    return this.#stage === 'durable';
  }

  /** Has the messages written now, and waits for that. */
  demand(): Promise<void> {
    if (this.#stage === 'gathered') this.#hurry();
    return this.durable;
  }

  /** False if it is too late to add something. */
  add(nodes: readonly Node[]): boolean {
    if (this.#stage !== 'gathered') return false;
    this.#nodes = [...this.#nodes, ...nodes];
    return true;
  }

  async write(store: Store): Promise<void> {
    this.#stage = 'under way';
    try {
      await store.append(this.key, this.#nodes);
      this.#stage = 'durable';
      this.#resolve();
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    this.#stage = 'failed';
    this.#reject(error);
  }
}

/** A store that does not make a session wait for its appends. */
export interface PipelinedStore {
  readonly store: Store;
  /** What was appended to a thread and is not durable yet. */
  readonly pending: (key: ThreadKey) => PendingWrite | undefined;
}

/**
 * A store whose appends return at once, so that requests that come together are written in one transaction, after a
 * moment. Everything that reads a thread's messages, commits a plan or erases something waits for them.
 */
export function pipelined(store: Store): PipelinedStore {
  /** The newest write of each thread. */
  const writes = new Map<string, PendingWrite>();
  let gathered: PendingWrite[] = [];
  let timer: NodeJS.Timeout | undefined;

  function gather(write: PendingWrite): void {
    gathered.push(write);
    timer ??= setTimeout(flush, GATHER_MS);
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const ready = gathered;
    gathered = [];
    for (const write of ready) void write.write(store).then(() => forget(write));
  }

  function forget(write: PendingWrite): void {
    const name = nameOf(write.key);
    if (writes.get(name) === write) writes.delete(name);
  }

  async function settled(key: ThreadKey): Promise<void> {
    await writes.get(nameOf(key))?.demand();
  }

  async function allSettled(): Promise<void> {
    while (writes.size > 0)
      await Promise.allSettled([...writes.values()].map((write) => write.demand()));
  }

  function append(
    key: ThreadKey,
    nodes: readonly Node[],
    options: AppendOptions = {},
  ): Promise<Appended> {
    // Whether a head is the expected one is known only when it is written.
    if (options.expectedHead !== undefined)
      return settled(key).then(() => store.append(key, nodes, options));
    const name = nameOf(key);
    const before = writes.get(name);
    if (before?.add(nodes) === true) return APPENDED;
    const write = new PendingWrite(key, nodes, flush);
    writes.set(name, write);
    // What follows a write that is under way is written after it.
    if (before === undefined) gather(write);
    else
      before.durable.then(
        () => gather(write),
        (error: unknown) => {
          write.fail(error);
          forget(write);
        },
      );
    return APPENDED;
  }

  const after = async <T>(key: ThreadKey, work: () => Promise<T>): Promise<T> => {
    await settled(key);
    return work();
  };
  const waiting: Store = {
    append,
    window: (key, ...rest) => after(key, () => store.window(key, ...rest)),
    path: (key, ...rest) => after(key, () => store.path(key, ...rest)),
    messages: (key, ids) => after(key, () => store.messages(key, ids)),
    turns: (key, head) => after(key, () => store.turns(key, head)),
    async *nodes(key) {
      await settled(key);
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
    async delete(what, ...rest) {
      await allSettled();
      return store.delete(what, ...rest);
    },
    async close() {
      await allSettled();
      await store.close();
    },
  };
  return { store: waiting, pending: (key) => writes.get(nameOf(key)) };
}

const APPENDED: Promise<Appended> = Promise.resolve({ kind: 'appended' });

function nameOf({ tenant, thread }: ThreadKey): string {
  return `${tenant}\n${thread}`;
}
