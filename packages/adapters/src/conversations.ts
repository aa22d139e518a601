import {
  createBobbin,
  memoryArtifacts,
  memoryStore,
  type ArtifactStore,
  type Bobbin,
  type BobbinOptions,
  type MessageId,
  type Store,
  type Usage,
} from '@bobbin/core';
import { messageId } from '@bobbin/core/internal';
import { Conversation, type HostFormat, type Match } from './conversation.ts';
import { HostList } from './host-list.ts';
import { Taken } from './taken.ts';

const MOST_CONVERSATIONS = 1_000;

/** What every adapter takes: Bobbin's own options, and the name of the thread where a session is to be resumed. */
export interface AdapterOptions<Wire> extends Omit<BobbinOptions<Wire>, 'codec'> {
  readonly thread?: string;
}

/** The beginning of the names of threads that no host named. */
const UNNAMED = 'conversation-';

/**
 * The conversations of a host. One that it does not name is known by what was said, as long as this process remembers
 * it: the least recently used is forgotten first. Who begins alike may be a stranger, so a list that turns off from an
 * unnamed conversation gets a thread of its own, with a copy of what both share; on a thread that the host named it
 * becomes a fork.
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
    const { thread, store = memoryStore(), artifacts = memoryArtifacts(), ...rest } = options;
    this.store = store;
    this.artifacts = artifacts;
    this.#format = format;
    this.#name = thread;
    this.#bobbin = createBobbin({ ...rest, codec: format.codec, store, artifacts });
  }

  /**
   * The conversation of a list of messages, with all that is new in the list appended to it. A host that names its
   * threads names this one.
   */
  take(wire: readonly Wire[], usage?: Usage, thread?: string): Promise<Taken<Wire>> {
    return this.exclusively(async () => {
      const [conversation, match] = await this.#find(wire, thread);
      return new Taken(this, await this.#append(conversation, match, usage));
    });
  }

  /** The conversation that a list of messages belongs to. */
  of(wire: readonly Wire[], thread?: string): Promise<Conversation<Wire>> {
    return this.exclusively(async () => this.#at(...(await this.#find(wire, thread))));
  }

  /** Appends what is new in a list that begins with a prompt of a conversation. */
  goOn(conversation: Conversation<Wire>, wire: readonly Wire[], usage?: Usage): Promise<void> {
    return this.exclusively(async () => {
      const match = conversation.match(new HostList(wire, this.#format.codec));
      if (match.fresh.length > 0) await this.#append(conversation, match, usage);
    });
  }

  /** The conversation of a thread by name, as the store has it. */
  named(name: string): Promise<Conversation<Wire>> {
    return this.exclusively(async () => this.#used(await this.#named(name)));
  }

  /** A conversation on a thread that turns off behind one of its messages. */
  forked(thread: string, head: MessageId): Promise<Conversation<Wire>> {
    return this.exclusively(async () =>
      this.#used(new Conversation(await this.#bobbin.thread(thread, head), this.#format)),
    );
  }

  /** What turns off from a conversation behind one of its messages. */
  async turnOff(
    conversation: Conversation<Wire>,
    head: MessageId | undefined,
  ): Promise<Conversation<Wire>> {
    const { key } = conversation.handle;
    if (!key.thread.startsWith(UNNAMED))
      return this.#used(conversation.turned(await this.#bobbin.thread(key.thread, head)));
    const handle = await this.#bobbin.thread(unnamed());
    if (head !== undefined) {
      const shared = await this.store.path(key, head);
      const { current } = (await this.store.window(key, head)) ?? {};
      await handle.appendDecoded(shared.map(({ message }) => message));
      if (current !== undefined) await handle.takeOver(current.plan, shared.length);
    }
    return this.#used(conversation.turned(handle));
  }

  /** What is done here sees no conversation in the middle of a change. */
  exclusively<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(task);
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async #find(wire: readonly Wire[], thread?: string): Promise<[Conversation<Wire>, Match<Wire>]> {
    const list = new HostList(wire, this.#format.codec);
    return this.#best(list, thread) ?? (await this.#begun(list, thread));
  }

  async #append(
    conversation: Conversation<Wire>,
    match: Match<Wire>,
    usage: Usage | undefined,
  ): Promise<Conversation<Wire>> {
    const there = await this.#at(conversation, match);
    await there.take(match, usage);
    return this.#used(there);
  }

  /** The conversation where a list goes on from it: itself, or what turns off where the list does. */
  async #at(
    conversation: Conversation<Wire>,
    { goesOn, last }: Match<Wire>,
  ): Promise<Conversation<Wire>> {
    return goesOn || last === null ? conversation : this.turnOff(conversation, last);
  }

  /** The conversation that knows the most of a list. */
  #best(list: HostList<Wire>, thread?: string): [Conversation<Wire>, Match<Wire>] | undefined {
    const glances = this.#open
      .filter(({ handle }) => thread === undefined || handle.key.thread === thread)
      .map((conversation) => ({ conversation, glance: conversation.glance(list.wire) }));
    const most = Math.max(...glances.map(({ glance }) => glance.standing + glance.same));
    let best: [Conversation<Wire>, Match<Wire>] | undefined;
    for (const { conversation, glance } of glances) {
      if (glance.standing + glance.same < most) continue;
      const match = conversation.match(list, glance);
      if (!concerns(conversation, match)) continue;
      if (best === undefined || isNearer(match, best[1])) best = [conversation, match];
    }
    return best;
  }

  /** A conversation that is new to this process; where it has a name, the store may know it. */
  async #begun(
    list: HostList<Wire>,
    thread: string | undefined = this.#name,
  ): Promise<[Conversation<Wire>, Match<Wire>]> {
    if (thread !== undefined) {
      const conversation = await this.#named(thread);
      const match = conversation.match(list);
      if (concerns(conversation, match)) return [conversation, match];
    }
    const [first] = list.behind(0, []);
    const beginning = first === undefined ? 'empty' : messageId(null, first);
    const name = thread === undefined ? unnamed() : `${thread}-${beginning}`;
    const conversation = await this.#named(name);
    return [conversation, conversation.match(list)];
  }

  async #named(name: string): Promise<Conversation<Wire>> {
    const known = this.#open.find(({ handle }) => handle.key.thread === name);
    return known ?? new Conversation(await this.#bobbin.thread(name), this.#format);
  }

  #used(conversation: Conversation<Wire>): Conversation<Wire> {
    const others = this.#open.filter((other) => other !== conversation);
    this.#open = [conversation, ...others].slice(0, MOST_CONVERSATIONS);
    return conversation;
  }
}

function unnamed(): string {
  return `${UNNAMED}${crypto.randomUUID()}`;
}

function concerns<Wire extends object>(
  { handle }: Conversation<Wire>,
  { known }: Match<Wire>,
): boolean {
  return known > 0 || handle.length === 0;
}

function isNearer<Wire>(match: Match<Wire>, best: Match<Wire>): boolean {
  return match.known > best.known || (match.known === best.known && match.goesOn && !best.goesOn);
}
