import {
  messageId,
  startsTurn,
  type Message,
  type MessageId,
  type ThreadId,
} from '../message/message.ts';

/** A message in its place: content and meta never change, nodes are never removed. */
export interface Node {
  readonly id: MessageId;
  readonly parent: MessageId | null;
  /** How many messages stand before it on its path. */
  readonly index: number;
  /** The turn it belongs to, from 1; 0 before the first user message. */
  readonly turn: number;
  readonly message: Message;
}

/**
 * The append-only tree of messages: the truth. Its head names the path that is being talked on.
 *
 * A thread may be resumed from its latest window (E12): then it holds the carried messages and the path from
 * `base` on, while the store keeps all that lies behind.
 */
export class Thread {
  readonly id: ThreadId;
  readonly #nodes = new Map<MessageId, Node>();
  #path: Node[] = [];
  #messages: Message[] = [];
  #base = 0;

  constructor(id: ThreadId) {
    this.id = id;
  }

  /** A thread whose path is known from `tail` on; `carried` are earlier messages that are still needed. */
  static resume(id: ThreadId, carried: readonly Node[], tail: readonly Node[]): Thread {
    const thread = new Thread(id);
    for (const node of [...carried, ...tail]) thread.#nodes.set(node.id, node);
    thread.#path = [...tail];
    thread.#messages = tail.map(({ message }) => message);
    thread.#base = tail[0]?.index ?? 0;
    return thread;
  }

  get head(): Node | undefined {
    return this.#path.at(-1);
  }

  /** How many messages the path to the head has, those before `base` included. */
  get length(): number {
    return this.#base + this.#path.length;
  }

  /** The index of the first message of the path that is held here. */
  get base(): number {
    return this.#base;
  }

  get(id: MessageId): Node | undefined {
    return this.#nodes.get(id);
  }

  /** The node at an index of the current path. */
  at(index: number): Node | undefined {
    return index < this.#base ? undefined : this.#path[index - this.#base];
  }

  /** The current path from an index on. */
  path(from: number = this.#base): readonly Node[] {
    return this.#path.slice(Math.max(0, from - this.#base));
  }

  /** The messages of the current path that are held here, kept up to date without a copy. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** True where a node lies on the path to the head. */
  onPath(node: { readonly id: MessageId; readonly index: number }): boolean {
    return this.at(node.index)?.id === node.id;
  }

  /** Appends behind the head. The same message at the same place gives the node that is there already. */
  append(message: Message): Node {
    const parent = this.head;
    const id = messageId(parent?.id ?? null, message);
    const known = this.#nodes.get(id);
    const node = known ?? place(id, parent, message);
    if (known === undefined) this.#nodes.set(id, node);
    this.#path.push(node);
    this.#messages.push(node.message);
    return node;
  }

  /** Moves the head to a message that is held here, so that the next append makes a fork. Null empties the path. */
  moveHead(id: MessageId | null): void {
    if (id === null) {
      this.#path = [];
      this.#messages = [];
      this.#base = 0;
      return;
    }
    const path: Node[] = [];
    let node = this.#nodes.get(id);
    if (node === undefined) throw new RangeError(`thread ${this.id} holds no message ${id}`);
    while (node !== undefined) {
      path.push(node);
      node =
        node.parent === null || node.index <= this.#base ? undefined : this.#nodes.get(node.parent);
    }
    this.#path = path.toReversed();
    this.#messages = this.#path.map(({ message }) => message);
    this.#base = this.#path[0]?.index ?? 0;
  }
}

function place(id: MessageId, parent: Node | undefined, message: Message): Node {
  const turn = (parent?.turn ?? 0) + (startsTurn(message) ? 1 : 0);
  return { id, parent: parent?.id ?? null, index: (parent?.index ?? -1) + 1, turn, message };
}
