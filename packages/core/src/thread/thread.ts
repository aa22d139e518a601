import { reversed } from '../check/list.ts';
import {
  callsOf,
  type Message,
  type MessageId,
  messageId,
  resultsOf,
  startsTurn,
  type ThreadId,
} from '../message/message.ts';

/** A message in its place: content and meta never change, nodes are never removed. */
export interface Node {
  readonly id: MessageId;
  readonly parent: MessageId | null;
  /** How many messages precede it on its path. */
  readonly index: number;
  /** The turn it belongs to, from 1; 0 before the first user message. */
  readonly turn: number;
  readonly message: Message;
}

/** The messages a prompt is made of: earlier ones that are carried, and the path from the plan's start on. */
export interface Window {
  readonly carried: readonly Node[];
  readonly tail: readonly Node[];
}

/** What a plan says about its window. */
interface Shown {
  readonly start: number;
  readonly carried: readonly { readonly id: MessageId }[];
}

/**
 * The append-only tree of messages: the truth. Its head names the path of the conversation.
 *
 * A thread may be resumed from its latest window, or release what is compacted: then it has the carried messages and
 * the path from `base` on, while the store keeps everything before that.
 */
export class Thread {
  readonly id: ThreadId;
  #nodes = new Map<MessageId, Node>();
  /** Threads that extend one another share these lists; each has the first `#count` of their entries. */
  #path: Node[] = [];
  #messages: Message[] = [];
  #count = 0;
  #base = 0;
  /** The ids of released messages: the path directly before `#base`. */
  #released: readonly MessageId[] = [];
  #unanswered: readonly Message[] = [];

  constructor(id: ThreadId) {
    this.id = id;
  }

  /** A thread whose path is known from `tail` on; `carried` are earlier messages that are still needed. */
  static resume(id: ThreadId, carried: readonly Node[], tail: readonly Node[]): Thread {
    const thread = new Thread(id);
    for (const node of carried) thread.#nodes.set(node.id, node);
    thread.#setPath(tail);
    return thread;
  }

  get head(): Node | undefined {
    return this.#count === 0 ? undefined : this.#path[this.#count - 1];
  }

  /** How many messages the path to the head has, those before `base` included. */
  get length(): number {
    return this.#base + this.#count;
  }

  /** The index of the first message of the path that is in memory. */
  get base(): number {
    return this.#base;
  }

  get(id: MessageId): Node | undefined {
    return this.#nodes.get(id);
  }

  /** The node at an index of the current path. */
  at(index: number): Node | undefined {
    return index < this.#base || index >= this.length ? undefined : this.#path[index - this.#base];
  }

  /** The id at an index of the current path, also of a released message. */
  idAt(index: number): MessageId | undefined {
    return this.at(index)?.id ?? this.#released[index - this.#base + this.#released.length];
  }

  /** The current path from an index on. */
  path(from: number = this.#base): readonly Node[] {
    return this.#path.slice(Math.max(0, from - this.#base), this.#count);
  }

  /** What a plan shows, up to the head or up to an earlier length of the path. */
  window({ start, carried }: Shown, length: number = this.length): Window {
    const from = Math.max(start, this.#base) - this.#base;
    const to = Math.max(from, Math.min(length - this.#base, this.#count));
    return {
      carried: carried.flatMap(({ id }) => this.#nodes.get(id) ?? []),
      tail: this.#path.slice(from, to),
    };
  }

  /** The messages of the current path that are in memory. The newest thread returns them without a copy. */
  get messages(): readonly Message[] {
    return this.#messages.length === this.#count
      ? this.#messages
      : this.#messages.slice(0, this.#count);
  }

  /** Released messages with calls that no result answered: a late result is read with them. */
  get unanswered(): readonly Message[] {
    return this.#unanswered;
  }

  /** True if a node is on the path to the head. */
  onPath(node: { readonly id: MessageId; readonly index: number }): boolean {
    return this.at(node.index)?.id === node.id;
  }

  /** The nodes that messages would become after the head. A message that is there already has its node. */
  nodesFor(messages: readonly Message[], after: Node | undefined = this.head): readonly Node[] {
    let parent = after;
    return messages.map((message) => {
      const before = parent?.id ?? null;
      const index = (parent?.index ?? -1) + 1;
      const turn = (parent?.turn ?? 0) + (startsTurn(message) ? 1 : 0);
      const id = messageId(before, message);
      parent = this.#nodes.get(id) ?? { id, parent: before, index, turn, message };
      return parent;
    });
  }

  /** Appends a message after the head. */
  append(message: Message): Node {
    const [node] = this.nodesFor([message]) as [Node];
    const grown = this.extended([node]);
    this.#path = grown.#path;
    this.#messages = grown.#messages;
    this.#count = grown.#count;
    return node;
  }

  /** A thread with nodes appended; this one stays as it is. Both share their lists, so it costs what is new. */
  extended(nodes: readonly Node[]): Thread {
    const thread = new Thread(this.id);
    // Another thread has extended this one: its entries are not shared.
    const isForked = this.#path.length > this.#count;
    thread.#nodes = this.#nodes;
    thread.#path = isForked ? this.#path.slice(0, this.#count) : this.#path;
    thread.#messages = isForked ? this.#messages.slice(0, this.#count) : this.#messages;
    thread.#count = this.#count + nodes.length;
    thread.#base = this.#count === 0 ? (nodes[0]?.index ?? 0) : this.#base;
    thread.#released = this.#released;
    thread.#unanswered = this.#unanswered;
    for (const node of nodes) {
      thread.#nodes.set(node.id, node);
      thread.#path.push(node);
      thread.#messages.push(node.message);
    }
    return thread;
  }

  /** A thread that also has some earlier messages of its path in memory. */
  carrying(nodes: readonly Node[]): Thread {
    const thread = this.extended([]);
    for (const node of nodes) thread.#nodes.set(node.id, node);
    return thread;
  }

  /** A thread without the messages before an index, except for some; the head stays, and so does every id. */
  released(before: number, carried: readonly Node[]): Thread {
    const end = Math.min(before, this.length - 1) - this.#base;
    const gone = this.#path.slice(0, end);
    const thread = Thread.resume(this.id, carried, this.#path.slice(end, this.#count));
    thread.#released = [...this.#released, ...gone.map(({ id }) => id)];
    thread.#unanswered = unansweredIn([...this.#unanswered, ...this.#messages.slice(0, end)]);
    return thread;
  }

  /** Moves the head to a message that is in memory, so that the next append makes a fork. Null empties the path. */
  moveHead(id: MessageId | null): void {
    const path: Node[] = [];
    let node = id === null ? undefined : this.#nodes.get(id);
    if (id !== null && node === undefined)
      throw new RangeError(`thread ${this.id} has no message ${id}`);
    while (node !== undefined) {
      path.push(node);
      node =
        node.parent === null || node.index <= this.#base ? undefined : this.#nodes.get(node.parent);
    }
    this.#setPath(reversed(path));
  }

  #setPath(path: readonly Node[]): void {
    for (const node of path) this.#nodes.set(node.id, node);
    this.#path = [...path];
    this.#messages = path.map(({ message }) => message);
    this.#count = path.length;
    this.#base = path[0]?.index ?? 0;
    this.#released = [];
    this.#unanswered = [];
  }
}

function unansweredIn(messages: readonly Message[]): readonly Message[] {
  const answered = new Set(messages.flatMap(resultsOf).map(({ callId }) => callId));
  return messages.filter((message) => callsOf(message).some(({ callId }) => !answered.has(callId)));
}

/** Messages named one by one, in thread order, never empty: it needs no thread to be resolved. */
export interface Span {
  readonly ids: readonly [MessageId, ...MessageId[]];
  readonly firstTurn: number;
  readonly lastTurn: number;
}

/** The span of some nodes of one path, or undefined if there are none. */
export function spanOf(nodes: readonly [Node, ...Node[]]): Span;
export function spanOf(nodes: readonly Node[]): Span | undefined;
export function spanOf(nodes: readonly Node[]): Span | undefined {
  const [first, ...rest] = nodes;
  if (first === undefined) return undefined;
  for (let i = 1; i < nodes.length; i++) {
    if ((nodes[i] as Node).index <= (nodes[i - 1] as Node).index) {
      throw new RangeError(
        `a span must be in thread order: ${nodes[i]?.id} comes after its successor`,
      );
    }
  }
  const last = rest.at(-1) ?? first;
  return {
    ids: [first.id, ...rest.map((node) => node.id)],
    firstTurn: first.turn,
    lastTurn: last.turn,
  };
}
