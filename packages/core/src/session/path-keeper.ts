import type { Plan } from '../plan/plan.ts';
import type { Store, StoredWindow, ThreadKey } from '../ports.ts';
import { callsOf, type CallPart, type Message, type MessageId } from '../message/message.ts';
import { Thread, type Node } from '../thread/thread.ts';
import { unitAround } from '../thread/units.ts';

/** How far before a result its call is looked for, in messages. */
const CALL_REACH = 64;

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

  /** A message with the calls or results that cannot be shown without it. */
  async unitOf(id: MessageId): Promise<readonly Node[]> {
    const [node] = await this.nodes([id]);
    if (node === undefined)
      throw new RangeError(`thread ${this.#key.thread} holds no message ${id}`);
    if (node.index < this.#thread.base) await this.loadAll();
    return unitAround(this.#thread.path(), node);
  }

  /** Those of some messages that lie on the path. */
  async nodes(ids: readonly MessageId[]): Promise<readonly Node[]> {
    if (ids.some((id) => this.#thread.get(id) === undefined)) await this.loadAll();
    return ids.flatMap((id) => this.#thread.get(id) ?? []);
  }

  /** The call that a result answers: it stands close before it. */
  callOf({ index }: Node, callId: string): CallPart | undefined {
    for (let i = index - 1; i >= index - CALL_REACH; i--) {
      const message = this.#thread.at(i)?.message;
      const call = message && callsOf(message).find((each) => each.callId === callId);
      if (call !== undefined) return call;
    }
    return undefined;
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
