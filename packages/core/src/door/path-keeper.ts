import type { Plan } from '../plan/plan.ts';
import type { Store, StoredWindow, ThreadKey } from '../ports.ts';
import type { Message } from '../thread/message.ts';
import { Thread, type Node } from '../thread/thread.ts';
import { unitAround } from '../thread/units.ts';

/** The path that a host talks on: as much of it in memory as is needed, all of it in the store. */
export class PathKeeper {
  readonly #store: Store;
  readonly #key: ThreadKey;
  #thread: Thread;

  constructor(store: Store, key: ThreadKey, stored: StoredWindow | undefined) {
    this.#store = store;
    this.#key = key;
    this.#thread =
      stored === undefined
        ? new Thread(key.thread)
        : Thread.resume(key.thread, stored.carried, stored.tail);
  }

  get thread(): Thread {
    return this.#thread;
  }

  /** Appends in memory and in the store; where the store fails, nothing was appended. */
  async append(messages: readonly Message[]): Promise<readonly Node[]> {
    const { head } = this.#thread;
    const nodes = messages.map((message) => this.#thread.append(message));
    await this.#store.append(this.#key, nodes).catch((error: unknown) => {
      this.#thread.moveHead(head?.id ?? null);
      throw error;
    });
    return nodes;
  }

  /** True where a plan was made on this path, not on another fork. */
  async holds(plan: Plan): Promise<boolean> {
    const { head } = this.#thread;
    if (plan.head === null || head === undefined) return true;
    const index = plan.threadVersion - 1;
    const known = this.#thread.at(index) ?? (await this.#store.path(this.#key, head.id, index))[0];
    return known?.id === plan.head;
  }

  /** The messages that cannot be shown without one of them. */
  async unitOf(node: Node): Promise<readonly Node[]> {
    if (node.index < this.#thread.base) await this.loadAll();
    return unitAround(this.#thread.path(), node);
  }

  /** Makes sure that all which a plan shows is in memory. */
  async load(plan: Plan): Promise<void> {
    const missing =
      plan.start < this.#thread.base ||
      plan.carried.some(({ id }) => this.#thread.get(id) === undefined);
    if (missing) await this.loadAll();
  }

  async loadAll(): Promise<void> {
    const { head, base } = this.#thread;
    if (head === undefined || base === 0) return;
    this.#thread = Thread.resume(this.#key.thread, [], await this.#store.path(this.#key, head.id));
  }
}
