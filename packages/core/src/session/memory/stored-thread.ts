import { reversed } from '../../check/list.ts';
import type { CompactionEvent } from '../../events.ts';
import { planArtifacts, type Plan } from '../../plan/plan.ts';
import type {
  Appended,
  Found,
  FoundInThread,
  MessageVector,
  StoredEvent,
  StoredPlan,
  StoredWindow,
  ThreadEntry,
  ThreadKey,
} from '../../ports.ts';
import { LexicalIndex, rankTexts, type Posting } from '../../recall/lexical-index.ts';
import { nearestVectors } from '../../recall/similarity.ts';
import { searchText, wordsOf } from '../../recall/words.ts';
import {
  startsTurn,
  type ArtifactId,
  type MessageId,
  type ThreadId,
} from '../../message/message.ts';
import type { Node } from '../../thread/thread.ts';

/**
 * One thread with its plans, events and recall index, in memory: all that a store answers of it. The memory store
 * holds nothing else; a store that keeps a log replays it into one.
 */
export class StoredThread {
  readonly id: ThreadId;
  /** When it was last written to. */
  changedAt = 0;
  readonly #nodes = new Map<MessageId, Node>();
  readonly #plans: Plan[] = [];
  readonly #events: StoredEvent[] = [];
  readonly #compacted = new Map<MessageId, Node>();
  readonly #index = new LexicalIndex<MessageId>();
  readonly #unindexed: Node[] = [];
  readonly #vectors = new Map<string, Map<MessageId, readonly number[]>>();
  #head: MessageId | undefined;

  constructor(id: ThreadId) {
    this.id = id;
  }

  get version(): number {
    return this.#plans.length;
  }

  get head(): MessageId | undefined {
    return this.#head;
  }

  has(id: MessageId): boolean {
    return this.#nodes.has(id);
  }

  get(id: MessageId): Node | undefined {
    return this.#nodes.get(id);
  }

  /** Why some nodes may not be appended to a thread that was expected to have another head; undefined if they may. */
  conflict(
    nodes: readonly Node[],
    expected: MessageId | null | undefined,
  ): (Appended & { kind: 'conflict' }) | undefined {
    const head = this.#head ?? null;
    const isExpected =
      expected === undefined ||
      expected === head ||
      ownNodes(nodes, expected).some(({ id }) => id === head);
    return isExpected ? undefined : { kind: 'conflict', head };
  }

  some(ids: readonly MessageId[]): readonly Node[] {
    return ids.flatMap((id) => this.#nodes.get(id) ?? []);
  }

  append(nodes: readonly Node[]): void {
    const missing = outsideParents(nodes).find((parent) => !this.#nodes.has(parent));
    if (missing !== undefined) throw new RangeError(noParent(this.id, missing));
    for (const node of nodes) if (!this.#nodes.has(node.id)) this.#nodes.set(node.id, node);
    this.#head = nodes.at(-1)?.id ?? this.#head;
  }

  window(head: MessageId | undefined = this.#head): StoredWindow | undefined {
    if (head === undefined || !this.#nodes.has(head)) return undefined;
    const current = this.#applicable(head);
    return {
      carried: (current?.plan.carried ?? []).flatMap(({ id }) => this.#nodes.get(id) ?? []),
      tail: this.path(head, current?.plan.start),
      current,
      version: this.version,
    };
  }

  path(head: MessageId, from: number = 0): readonly Node[] {
    const nodes: Node[] = [];
    let node = this.#nodes.get(head);
    while (node !== undefined && node.index >= from) {
      nodes.push(node);
      node = node.parent === null ? undefined : this.#nodes.get(node.parent);
    }
    return reversed(nodes);
  }

  turns(head: MessageId): readonly Node[] {
    return this.path(head).filter(({ message }) => startsTurn(message));
  }

  nodes(): readonly Node[] {
    return [...this.#nodes.values()];
  }

  heads(): readonly MessageId[] {
    const parents = new Set([...this.#nodes.values()].map(({ parent }) => parent));
    const ends = [...this.#nodes.keys()].filter((id) => !parents.has(id) && id !== this.#head);
    return this.#head === undefined ? [] : [this.#head, ...reversed(ends)];
  }

  entry(): ThreadEntry | undefined {
    const head = this.#head === undefined ? undefined : this.#nodes.get(this.#head);
    if (head === undefined) return undefined;
    return {
      thread: this.id,
      head: head.id,
      length: head.index + 1,
      version: this.version,
      changedAt: this.changedAt,
    };
  }

  plan(version: number): StoredPlan | undefined {
    const plan = this.#plans[version - 1];
    return plan === undefined ? undefined : { plan, version };
  }

  /** Every artifact that a plan points to. */
  artifacts(): readonly ArtifactId[] {
    return [...new Set(this.#plans.flatMap(planArtifacts))];
  }

  commit(plan: Plan, expectedVersion: number, events: readonly CompactionEvent[]): boolean {
    if (this.version !== expectedVersion) return false;
    this.#plans.push(plan);
    this.record(events, this.version);
    for (const id of plan.records.flatMap(({ span }) => span.ids)) {
      const node = this.#nodes.get(id);
      if (node === undefined || this.#compacted.has(id)) continue;
      this.#compacted.set(id, node);
      this.#unindexed.push(node);
    }
    return true;
  }

  record(events: readonly CompactionEvent[], version: number = 0): void {
    for (const event of events)
      this.#events.push({ sequence: this.#events.length + 1, version, event });
  }

  events(after: number = 0): readonly StoredEvent[] {
    return this.#events.slice(after);
  }

  /** The words of what was compacted. They are indexed when they are first asked for: many threads are never searched. */
  index(): LexicalIndex<MessageId> {
    for (const { id, message } of this.#unindexed.splice(0))
      this.#index.add(id, wordsOf(searchText(message)));
    return this.#index;
  }

  search(words: readonly string[], most: number, head?: MessageId): readonly Found[] {
    return this.#found(this.index().search(words), most, head);
  }

  nearest(
    embedder: string,
    vector: readonly number[],
    most: number,
    head?: MessageId,
  ): readonly Found[] {
    return this.#found(nearestVectors(this.#vectors.get(embedder) ?? [], vector), most, head);
  }

  unembedded(embedder: string, most: number): readonly Node[] {
    const embedded = this.#vectors.get(embedder);
    const missing: Node[] = [];
    for (const [id, node] of this.#compacted) {
      if (missing.length === most) break;
      if (embedded?.has(id) !== true) missing.push(node);
    }
    return missing;
  }

  keepVectors(embedder: string, vectors: readonly MessageVector[]): void {
    const kept = this.#vectors.get(embedder) ?? new Map<MessageId, readonly number[]>();
    this.#vectors.set(embedder, kept);
    for (const { id, vector } of vectors) if (this.#compacted.has(id)) kept.set(id, vector);
  }

  #found(
    scored: readonly { id: MessageId; score: number }[],
    most: number,
    head: MessageId | undefined,
  ): readonly Found[] {
    const ancestor = head === undefined ? undefined : this.#ancestors(head);
    const found: Found[] = [];
    for (const { id, score } of scored) {
      if (found.length === most) break;
      const node = this.#compacted.get(id);
      if (node === undefined || (ancestor !== undefined && ancestor(node.index) !== node)) continue;
      found.push({ node, score });
    }
    return found;
  }

  /** The newest plan that was made on the path to a head: a fork before a compaction does not know it. */
  #applicable(head: MessageId): StoredPlan | undefined {
    const ancestor = this.#ancestors(head);
    for (let version = this.version; version > 0; version--) {
      const plan = this.#plans[version - 1] as Plan;
      const madeAt = plan.head === null ? undefined : this.#nodes.get(plan.head);
      if (plan.head === null) return { plan, version };
      if (madeAt !== undefined && ancestor(madeAt.index) === madeAt) return { plan, version };
    }
    return undefined;
  }

  /** The node at an index on the path to a head, which is walked once and no further than it is asked for. */
  #ancestors(head: MessageId): (index: number) => Node | undefined {
    const walked: Node[] = [];
    const first = this.#nodes.get(head);
    return (index) => {
      if (first === undefined || index > first.index) return undefined;
      for (let node = walked.at(-1) ?? first; node.index > index;) {
        node = this.#nodes.get(node.parent as MessageId) as Node;
        walked.push(node);
      }
      return index === first.index ? first : walked[first.index - index - 1];
    };
  }
}

/** What an append adds after the head that it expects: if the head is one of these, the append came before. */
export function ownNodes(
  nodes: readonly Node[],
  expectedHead: MessageId | null | undefined,
): readonly Node[] {
  return nodes.slice(nodes.findIndex(({ id }) => id === expectedHead) + 1);
}

/** The parents that must be in a thread before some nodes can be appended to it. */
export function outsideParents(nodes: readonly Node[]): readonly MessageId[] {
  const [first] = nodes;
  if (nodes.every(({ parent }, i) => i === 0 || parent === nodes[i - 1]?.id))
    return first === undefined || first.parent === null ? [] : [first.parent];
  const within = new Set<MessageId>();
  const outside = new Set<MessageId>();
  for (const { id, parent } of nodes) {
    if (parent !== null && !within.has(parent)) outside.add(parent);
    within.add(id);
  }
  return [...outside];
}

export function noParent(thread: ThreadId, parent: MessageId): string {
  return `thread ${thread} has no message ${parent}: parents are appended first`;
}

/** Finds messages by words in several threads, ranked as one collection. */
export function searchThreads(
  threads: readonly StoredThread[],
  words: readonly string[],
  most: number,
): readonly FoundInThread[] {
  const indexes = threads.map((stored) => stored.index());
  const postings = words.map((word): Posting<string> =>
    indexes.flatMap((index, i) =>
      index.posting(word).map(([id, count, length]) => [`${i} ${id}`, count, length] as const),
    ),
  );
  const sizes = {
    texts: indexes.reduce((sum, index) => sum + index.sizes.texts, 0),
    words: indexes.reduce((sum, index) => sum + index.sizes.words, 0),
  };
  return rankTexts(postings, sizes)
    .slice(0, most)
    .flatMap(({ id: place, score }) => {
      const [i, id] = place.split(' ') as [string, MessageId];
      const stored = threads[Number(i)];
      const node = stored?.get(id);
      return stored === undefined || node === undefined ? [] : [{ thread: stored.id, node, score }];
    });
}

/**
 * Tenants and threads may have any name that every store can distinguish from any other: half a surrogate pair becomes
 * the same character as any other half in UTF-8, and PostgreSQL keeps no NUL.
 *
 * @throws RangeError for any other name.
 */
export function assertNames(...names: readonly string[]): void {
  for (const name of names)
    if (/[\p{Surrogate}\0]/u.test(name))
      throw new RangeError(
        `${JSON.stringify(name)} cannot name a tenant or a thread: half a surrogate pair and NUL are no text`,
      );
}

/**
 * The key that a host means. A store keeps any name; an empty one from a host is a mistake that would mix up strangers'
 * threads.
 *
 * @throws RangeError if the tenant or the thread is no name, or an empty one.
 */
export function keyNamed(tenant: string, thread: string): ThreadKey {
  for (const [what, name] of Object.entries({ tenant, thread }))
    if (typeof name !== 'string' || name === '')
      throw new RangeError(
        `the name of a ${what} must be a string that is not empty, not ${JSON.stringify(name)}`,
      );
  assertNames(tenant, thread);
  return { tenant, thread: thread as ThreadId };
}
