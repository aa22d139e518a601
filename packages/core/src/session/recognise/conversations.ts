import { list as checkList } from '../../check/shape.ts';
import type { MessageId, ThreadId, Usage } from '../../message/message.ts';
import { Conversation, type Host, type ReportedUsage } from './conversation.ts';
import type { Fitted } from '../fitted.ts';
import type { ConversationsOptions, ListHint, Locate, StoredPlace } from './options.ts';
import { HostCopies, HostList } from './host-list.ts';
import {
  missesNoRequest,
  isCloser,
  isNextStep,
  isRelated,
  isTakenBack,
  type Match,
  type Overlap,
} from './match.ts';
import { openSession } from '../open-session.ts';
import { Session } from '../session.ts';
import type { CompactOptions, Refusal, SessionConfig } from '../config/session-config.ts';
import { randomName } from '../config/host.ts';

const MOST_OPEN = 1_000;

/** How a list matches a conversation that has no messages yet. */
const NOTHING_KNOWN = {
  given: 0,
  same: 0,
  length: 0,
  known: 0,
  continues: true,
  forkedAt: undefined,
  resent: [],
};

/** The beginning of the names of threads that the host did not name. */
const UNNAMED = 'conversation-';

/**
 * Decides which conversation a host's list of messages belongs to: the one with the longest known beginning. The least
 * recently used conversation is forgotten first. Two hosts may begin alike and must not see each other's messages, so a
 * list that forks from an unnamed conversation gets its own thread, with a copy of the part that both share. On a
 * thread that the host named it becomes a fork of that thread. So does a list whose host took back what it had added to
 * its last request.
 */
export class Conversations<Wire> {
  #config: SessionConfig<Wire>;
  readonly #tenant: string;
  readonly #thread: string | undefined;
  readonly #mostOpen: number;
  readonly #locate: Locate | undefined;
  readonly #host: Host<Wire>;
  readonly #ready: () => Promise<SessionConfig<Wire>>;
  /** The one that was used last is the first. */
  readonly #open: Conversation<Wire>[] = [];
  #queue: Promise<unknown> = Promise.resolve();

  constructor(config: SessionConfig<Wire>, options: ConversationsOptions<Wire>) {
    this.#config = config;
    this.#tenant = options.tenant;
    this.#thread = options.thread;
    this.#mostOpen = options.mostOpen ?? MOST_OPEN;
    this.#locate = options.locate;
    const { mark, habit = 'continues', owner = 'host' } = options;
    this.#host = { copies: new HostCopies(config.codec, owner), mark, habit };
    this.#ready = options.ready ?? (async () => config);
  }

  /** Appends what is new in a list to the conversation that the list belongs to. */
  async take(
    wire: readonly Wire[],
    { thread, usage, signal }: ListHint = {},
  ): Promise<HostRequest<Wire>> {
    checkList(wire, 'messages');
    return this.exclusively(async () => {
      signal?.throwIfAborted();
      const [found, match] = await this.#find(wire, thread);
      found.name ??= thread ?? this.#thread;
      const conversation =
        match.forkedAt === undefined ? found : await this.#forked(found, match, match.forkedAt);
      const head = await conversation.take(match, usage);
      const isFirst = match.fresh.length === conversation.session.length;
      return new HostRequest(this, this.#used(conversation), head, isFirst);
    });
  }

  /** The conversation that a list belongs to; nothing is appended. */
  of(wire: readonly Wire[], thread?: string): Promise<Conversation<Wire>> {
    return this.exclusively(async () => {
      const [found, { forkedAt }] = await this.#find(wire, thread);
      found.name ??= thread ?? this.#thread;
      return forkedAt === undefined ? found : this.fork(found, forkedAt);
    });
  }

  /** Appends what is new in a list that begins with a prompt of a conversation. */
  continue(conversation: Conversation<Wire>, wire: readonly Wire[], usage?: Usage): Promise<void> {
    return this.exclusively(async () => {
      const match = conversation.match(new HostList(wire, this.#host.copies));
      if (match.fresh.length === 0) return;
      const { forkedAt } = match;
      const continued =
        forkedAt === undefined ? conversation : await this.fork(conversation, forkedAt);
      await continued.take(match, usage);
      this.#used(continued);
    });
  }

  /** The conversation of a thread by name, as the store has it. */
  named(name: string): Promise<Conversation<Wire>> {
    return this.exclusively(async () => this.#used(await this.#named(name)));
  }

  /**
   * The conversation that is meant if a host names none.
   *
   * @throws RangeError if there are several, or none yet.
   */
  async only(): Promise<Conversation<Wire>> {
    if (this.#thread !== undefined) return this.named(this.#thread);
    const [first, ...others] = new Set(this.#open.map(({ session }) => session.key.thread));
    if (first !== undefined && others.length === 0) return this.named(first);
    const count =
      first === undefined ? 'is no conversation yet' : `are ${others.length + 1} conversations`;
    throw new RangeError(
      `there ${count}: pass the messages of the one that is meant, or the name of its thread`,
    );
  }

  /** A conversation on a named thread that ends at one of its messages. */
  endingAt(thread: string, head: MessageId): Promise<Conversation<Wire>> {
    return this.exclusively(async () =>
      this.#used(new Conversation(await this.#session(thread, head), this.#host, thread)),
    );
  }

  /** A fork of a conversation after one of its messages. */
  async fork(
    conversation: Conversation<Wire>,
    head: MessageId | undefined,
  ): Promise<Conversation<Wire>> {
    const { session } = conversation;
    if (conversation.name !== undefined) return this.#forkOnThread(conversation, head);
    const copy = this.#newSession();
    if (head !== undefined) await copy.copyFrom(session, head);
    return this.#used(conversation.forkedTo(copy));
  }

  async #forkOnThread(
    conversation: Conversation<Wire>,
    head: MessageId | undefined,
    answersLast: boolean = false,
  ): Promise<Conversation<Wire>> {
    const { session } = conversation;
    const fork = await this.#session(session.key.thread, head);
    if (head !== undefined) await fork.inherit(session, answersLast);
    return this.#used(conversation.forkedTo(fork));
  }

  /** The fork that a list continues. If its host has only taken back the end of its last request, it replaces that. */
  async #forked(
    found: Conversation<Wire>,
    match: Match<Wire>,
    head: MessageId,
  ): Promise<Conversation<Wire>> {
    if (!missesNoRequest(match.fresh)) return this.fork(found, head);
    const isReplaced = isTakenBack(found.session, match);
    const fork = await (isReplaced
      ? this.#forkOnThread(found, head, true)
      : this.fork(found, head));
    const at = isReplaced ? this.#open.indexOf(found) : -1;
    if (at >= 0) this.#open.splice(at, 1);
    fork.session.sharesCacheWith(found.session);
    return fork;
  }

  /** Runs a task while no conversation changes. */
  exclusively<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(this.#ready).then((config) => {
      this.#config = config;
      return task();
    });
    this.#queue = run.then(
      () => undefined,
      () => undefined,
    );
    return run;
  }

  async #find(wire: readonly Wire[], thread?: string): Promise<[Conversation<Wire>, Match<Wire>]> {
    const list = new HostList(wire, this.#host.copies);
    const isFirst = this.#open.length === 0;
    const known = isFirst ? undefined : this.#best(list, thread);
    if (known !== undefined && isNextStep(known[1])) return known;
    // The host may change its messages while the store is asked.
    list.copiesFrom(0);
    const stored = this.#locate && (await this.#stored(list, thread, known));
    const found =
      stored ?? known ?? (isFirst ? undefined : this.#compactedByProvider(list, thread));
    if (found !== undefined) return found;
    const name = thread ?? this.#thread;
    if (name !== undefined) return this.#resumed(list, name);
    const { messages: fresh, lengths } = list.decodedFrom(0, []);
    const conversation = new Conversation(this.#newSession(), this.#host);
    return [conversation, { ...NOTHING_KNOWN, list, fresh, lengths }];
  }

  /** The last place of a list that a process noted and that the store has: messages may be erased, or never stored. */
  async #located(
    ids: readonly MessageId[],
    thread: string | undefined,
  ): Promise<readonly [StoredPlace, Session<Wire>] | undefined> {
    const place = await this.#locate?.(ids, thread);
    if (place === undefined) return undefined;
    const session = await this.#session(place.thread, place.head).catch((error: unknown) => {
      if (error instanceof RangeError) return undefined;
      throw error;
    });
    if (session !== undefined) return [place, session];
    return this.#located(ids.slice(0, ids.lastIndexOf(place.head)), thread);
  }

  /** The conversation as other processes stored it, if they know more of the list than this one does. */
  async #stored(
    list: HostList<Wire>,
    thread: string | undefined,
    known: readonly [Conversation<Wire>, Match<Wire>] | undefined,
  ): Promise<[Conversation<Wire>, Match<Wire>] | undefined> {
    const [place, session] = (await this.#located(list.ids(), thread)) ?? [];
    if (place === undefined || session === undefined) return undefined;
    if (known !== undefined && session.length <= known[1].known) return undefined;
    const conversation = new Conversation(session, this.#host, place.name);
    if (place.sentAt !== undefined) session.sentElsewhere(place.sentAt);
    conversation.report(place.usage);
    const match = conversation.match(list);
    if (!isRelated(session, match)) return undefined;
    const isFork = place.name === undefined && (await this.#goesOnOtherwise(place, list));
    return [conversation, isFork ? { ...match, forkedAt: place.head } : match];
  }

  /** True if a thread goes on after one of its messages, and not as a list does. */
  async #goesOnOtherwise({ thread, head }: StoredPlace, list: HostList<Wire>): Promise<boolean> {
    const key = { tenant: this.#tenant, thread: thread as ThreadId };
    const { store } = this.#config;
    if ((await store.heads(key)).includes(head)) return false;
    const ids = list.ids();
    const next = ids[ids.lastIndexOf(head) + 1];
    return next === undefined || (await store.messages(key, [next])).length === 0;
  }

  /** The conversation that recognises most of a list. */
  #best(list: HostList<Wire>, thread?: string): [Conversation<Wire>, Match<Wire>] | undefined {
    let best: [Conversation<Wire>, Match<Wire>] | undefined;
    for (const [conversation, overlap] of this.#closest(list, thread)) {
      const match = conversation.match(list, overlap);
      if (!isRelated(conversation.session, match)) continue;
      if (best === undefined || isCloser(match, best[1])) best = [conversation, match];
    }
    return best;
  }

  /** The conversations with the longest overlap, or those that may share the list's first message if there is none. */
  #closest(
    list: HostList<Wire>,
    thread: string | undefined,
  ): readonly (readonly [Conversation<Wire>, Overlap])[] {
    const overlaps: (readonly [Conversation<Wire>, Overlap])[] = [];
    let most = 0;
    for (const conversation of this.#open) {
      if (!conversation.mayShare(list)) continue;
      if (thread !== undefined && !conversation.isCalled(thread)) continue;
      const overlap = conversation.overlap(list);
      most = Math.max(most, overlap.given + overlap.same);
      overlaps.push([conversation, overlap]);
    }
    if (most === 0)
      return overlaps.filter(([conversation]) => conversation.mayBeginWith(list.firstId()));
    if (overlaps.length === 1) return overlaps;
    const alike = overlaps.map(([conversation, overlap]) => conversation.alike(list, overlap));
    most = Math.max(...alike.map(({ known }) => known));
    return overlaps.filter((_, i) => alike[i]?.known === most);
  }

  /** The conversation whose beginning the host has left out since a provider compacted it. */
  #compactedByProvider(
    list: HostList<Wire>,
    thread?: string,
  ): [Conversation<Wire>, Match<Wire>] | undefined {
    if (list.compactionAt() < 0) return undefined;
    for (const conversation of this.#open) {
      if (thread !== undefined && !conversation.isCalled(thread)) continue;
      const { key } = conversation.session;
      const match = conversation.matchAfterProviderCompaction(
        list,
        key.thread === (thread ?? this.#thread),
      );
      if (match !== undefined) return [conversation, match];
    }
    return undefined;
  }

  /** The conversation of a named thread, which is new to this process; the store may know it. */
  async #resumed(list: HostList<Wire>, thread: string): Promise<[Conversation<Wire>, Match<Wire>]> {
    const conversation = await this.#named(thread);
    const match = conversation.match(list);
    if (isRelated(conversation.session, match)) return [conversation, match];
    const swapped = conversation.matchAfterProviderCompaction(list, true);
    if (swapped !== undefined) return [conversation, swapped];
    const beside = await this.#named(`${thread}-${list.firstId() ?? 'empty'}`, thread);
    return [beside, beside.match(list)];
  }

  async #named(thread: string, name: string = thread): Promise<Conversation<Wire>> {
    const known = this.#open.find(({ session }) => session.key.thread === thread);
    return known ?? new Conversation(await this.#session(thread), this.#host, name);
  }

  /** A session that no store knows. Its name sorts by time: a store then writes what belongs together in one place. */
  #newSession(): Session<Wire> {
    const thread = `${UNNAMED}${this.#config.clock.now().toString(36)}-${randomName()}` as ThreadId;
    return new Session({ tenant: this.#tenant, thread }, this.#config);
  }

  #session(name: string, head?: MessageId): Promise<Session<Wire>> {
    return openSession(this.#config, this.#tenant, name, head);
  }

  #used(conversation: Conversation<Wire>): Conversation<Wire> {
    const at = this.#open.indexOf(conversation);
    if (at >= 0) this.#open.splice(at, 1);
    else if (this.#open.length >= this.#mostOpen) this.#open.pop();
    this.#open.unshift(conversation);
    return conversation;
  }
}

/**
 * A conversation as it was when one request of a host took it. Other hosts that said the same until then may continue
 * meanwhile: what is asked here never shows their messages.
 */
export class HostRequest<Wire> {
  readonly #conversations: Conversations<Wire>;
  /** The last message of the list; its id identifies the whole history before it. */
  readonly head: MessageId | undefined;
  /** True if the conversation began with this request: nobody else has worked on it. */
  readonly isFirst: boolean;
  #conversation: Conversation<Wire>;

  constructor(
    conversations: Conversations<Wire>,
    conversation: Conversation<Wire>,
    head: MessageId | undefined,
    isFirst: boolean,
  ) {
    this.#conversations = conversations;
    this.#conversation = conversation;
    this.head = head;
    this.isFirst = isFirst;
  }

  get conversation(): Conversation<Wire> {
    return this.#conversation;
  }

  get session(): Session<Wire> {
    return this.#conversation.session;
  }

  /** The prompt for the list. `beside` is what else the request contains. */
  prompt(options?: CompactOptions, beside?: readonly object[]): Promise<Fitted<Wire>> {
    return this.#atHead((conversation) => conversation.prompt(options, beside));
  }

  /** The prompt to retry with after a provider refused the last one as too long. */
  refused(refusal: Refusal): Promise<Fitted<Wire>> {
    return this.#atHead((conversation) => conversation.refused(refusal));
  }

  /** Notes the usage that a provider reported for an answer; the host's next list contains that answer. */
  report(usage: ReportedUsage): void {
    this.#conversation.report(usage);
  }

  /** Takes a list that begins with a prompt of this conversation. */
  async continue(wire: readonly Wire[], usage: Usage | undefined): Promise<void> {
    await this.#conversations.continue(this.#conversation, wire, usage);
  }

  /** Starts a task at the end of the list, before anyone else appends; others need not wait until it is done. */
  async #atHead<T>(task: (conversation: Conversation<Wire>) => Promise<T>): Promise<T> {
    const [started] = await this.#conversations.exclusively(async () => {
      if (this.#conversation.session.head !== this.head)
        this.#conversation = await this.#conversations.fork(this.#conversation, this.head);
      return [task(this.#conversation)] as const;
    });
    return started;
  }
}
