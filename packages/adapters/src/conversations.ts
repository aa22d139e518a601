import {
  createBobbin,
  memoryArtifacts,
  memoryStore,
  messageId,
  type ArtifactStore,
  type Bobbin,
  type BobbinOptions,
  type MessageId,
  type Store,
  type Usage,
} from '@bobbin/core';
import { Conversation, type HostFormat, type Match } from './conversation.ts';

const MOST_CONVERSATIONS = 64;

/** What every adapter takes: Bobbin's own options, and the name of the thread where a session is to be resumed. */
export interface AdapterOptions<Wire> extends Omit<BobbinOptions<Wire>, 'codec'> {
  readonly thread?: string;
}

/**
 * The conversations of a host that names none of them: each is known by how it begins, the least recently used is
 * forgotten first. One that turns off from another becomes a fork of the same thread.
 */
export class Conversations<Wire extends object> {
  readonly store: Store;
  readonly artifacts: ArtifactStore;
  readonly #bobbin: Bobbin<Wire>;
  readonly #format: HostFormat<Wire>;
  readonly #name: string | undefined;
  #open: readonly Conversation<Wire>[] = [];
  #queue: Promise<unknown> = Promise.resolve();

  constructor(format: HostFormat<Wire>, options: AdapterOptions<Wire>) {
    const { store = memoryStore(), artifacts = memoryArtifacts() } = options;
    this.store = store;
    this.artifacts = artifacts;
    this.#format = format;
    this.#name = options.thread;
    this.#bobbin = createBobbin({ ...options, codec: format.codec, store, artifacts });
  }

  /** The conversation that was used last. */
  get latest(): Conversation<Wire> | undefined {
    return this.#open[0];
  }

  /**
   * The conversation of a list of messages, with all that is new in the list appended to it. A host that names its
   * threads names this one.
   */
  take(wire: readonly Wire[], usage?: Usage, thread?: string): Promise<Conversation<Wire>> {
    return this.#exclusively(async () => {
      const [conversation, match] = await this.#find(wire, thread);
      await conversation.take(match, usage);
      return conversation;
    });
  }

  /** The conversation that a list of messages belongs to. */
  of(wire: readonly Wire[], thread?: string): Promise<Conversation<Wire>> {
    return this.#exclusively(async () => (await this.#find(wire, thread))[0]);
  }

  /** The conversation of a thread by name, as the store has it. */
  async named(name: string): Promise<Conversation<Wire>> {
    const known = this.#open.find(({ handle }) => handle.key.thread === name);
    return this.#used(known ?? new Conversation(await this.#bobbin.thread(name), this.#format));
  }

  /** A conversation on a thread that turns off behind one of its messages. */
  async forked(thread: string, head: MessageId): Promise<Conversation<Wire>> {
    return this.#used(new Conversation(await this.#bobbin.thread(thread, head), this.#format));
  }

  async #find(wire: readonly Wire[], thread?: string): Promise<[Conversation<Wire>, Match<Wire>]> {
    const [best, match] = this.#best(wire, thread) ?? (await this.#begun(wire, thread));
    if (match.goesOn || match.last === null) return [this.#used(best), match];
    const fork = await this.forked(best.handle.key.thread, match.last);
    return [fork, fork.match(wire)];
  }

  /** The conversation that knows the most of a list. */
  #best(wire: readonly Wire[], thread?: string): [Conversation<Wire>, Match<Wire>] | undefined {
    let best: [Conversation<Wire>, Match<Wire>] | undefined;
    for (const conversation of this.#open) {
      if (thread !== undefined && conversation.handle.key.thread !== thread) continue;
      const match = conversation.match(wire);
      if (!concerns(conversation, match)) continue;
      if (best === undefined || match.known > best[1].known) best = [conversation, match];
    }
    return best;
  }

  /** A conversation that is new to this process; the store may know it. */
  async #begun(
    wire: readonly Wire[],
    thread: string | undefined = this.#name,
  ): Promise<[Conversation<Wire>, Match<Wire>]> {
    if (thread !== undefined) {
      const conversation = await this.named(thread);
      const match = conversation.match(wire);
      if (concerns(conversation, match)) return [conversation, match];
    }
    const first = this.#format.codec.decode(wire.slice(0, 1))[0];
    const beginning = first === undefined ? 'empty' : messageId(null, first);
    const conversation = await this.named(`${thread ?? 'conversation'}-${beginning}`);
    return [conversation, conversation.match(wire)];
  }

  #exclusively<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(task);
    this.#queue = run.catch(() => undefined);
    return run;
  }

  #used(conversation: Conversation<Wire>): Conversation<Wire> {
    const others = this.#open.filter((other) => other !== conversation);
    this.#open = [conversation, ...others].slice(0, MOST_CONVERSATIONS);
    return conversation;
  }
}

function concerns<Wire extends object>(
  { handle }: Conversation<Wire>,
  { known }: Match<Wire>,
): boolean {
  return known > 0 || handle.length === 0;
}
