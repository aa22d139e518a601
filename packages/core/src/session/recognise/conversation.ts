import { lastIndex } from '../../check/list.ts';
import {
  callsOf,
  contentHash,
  messageId,
  resultsOf,
  type Message,
  type MessageId,
  type Usage,
} from '../../message/message.ts';
import type { PromptMessage, Prompt } from '../../render/prompt.ts';
import { unitStarts } from '../../thread/units.ts';
import { withMessages, type Fitted } from '../fitted.ts';
import { HostList, isCopyOf, type HostCopies } from './host-list.ts';
import type { Match, Overlap } from './match.ts';
import type { Session } from '../session.ts';
import type { CompactOptions, Refusal } from '../config/session-config.ts';

/** Adds the cache markers of a prompt to a host's messages; `beside` is what else the request contains. */
export type MarkCachePoints<Wire> = (
  messages: readonly Wire[],
  prompt: Prompt,
  beside: readonly object[],
) => readonly Wire[];

/** The usage that a provider reported for an answer, or what reads it from the answer when it is needed. */
export type ReportedUsage = Usage | undefined | (() => Usage | undefined);

/** What a host does after it was given a prompt: it may continue from that, or it always resends its own list. */
export type HostHabit = 'continues' | 'resends';

/** How a host keeps its messages. */
export interface Host<Wire> {
  readonly copies: HostCopies<Wire>;
  readonly mark: MarkCachePoints<Wire> | undefined;
  readonly habit: HostHabit;
}

/** The beginning of a list whose last message is a provider's compaction, and the length of the path that it represents. */
interface SwappedBeginning<Wire> {
  readonly copies: readonly Wire[];
  readonly length: number;
}

/** A prompt that the host was given. */
interface GivenPrompt<Wire> {
  readonly fitted: Fitted<Wire>;
  /** The length of the path at that time; undefined if the conversation has forked before that point since. */
  readonly length: number | undefined;
  /** Messages of the path after the prompt: a round that waits for results. */
  readonly waiting: readonly (MessageId | undefined)[];
}

const MOST_GIVEN = 4;
const NOTHING_GIVEN = { given: 0, length: 0 };

/**
 * A session and the list of messages that a host keeps of it. The host may resend everything, or continue from the
 * prompt that it was given, summary included. This class finds out which it is, so that a summary is never taken for
 * something that was said.
 */
export class Conversation<Wire> {
  readonly session: Session<Wire>;
  /** The name that the host gave, if it gave one. The name of the thread does not say that. */
  name: string | undefined;
  readonly #host: Host<Wire>;
  /** Copies of what the host sent, by the index of their first message on the path. */
  #seen: readonly (SeenMessage<Wire> | undefined)[] = [];
  /** The prompts that the host was given last, newest first, and one that it continues from for long. */
  #given: readonly GivenPrompt<Wire>[] = [];
  #held: GivenPrompt<Wire> | undefined;
  /** What the host's list begins with since it left out what a provider compacted. */
  #swapped: SwappedBeginning<Wire> | undefined;
  #reported: (() => Usage | undefined) | undefined;
  #beside: readonly object[] = [];
  /** How the list begins that a host of this habit sends again and again; undefined if it may begin in other ways. */
  #opening: string | undefined;

  constructor(session: Session<Wire>, host: Host<Wire>, name?: string) {
    this.session = session;
    this.#host = host;
    this.name = name;
  }

  /** True if a host means this conversation by a name, or one beside it: a host has several under one name. */
  isCalled(name: string): boolean {
    return this.name === name || this.session.key.thread === name;
  }

  /** The same conversation on a session whose path is a beginning of this one's: the host knows the same prompts. */
  forkedTo(session: Session<Wire>): Conversation<Wire> {
    const fork = new Conversation(session, this.#host, this.name);
    session.takeForms(this.session);
    const shared = (given: GivenPrompt<Wire>): GivenPrompt<Wire> =>
      given.length !== undefined && given.length > session.length
        ? { ...given, length: undefined }
        : given;
    fork.#seen = this.#seen.slice(0, session.length);
    fork.#given = this.#given.map(shared);
    fork.#held = this.#held === undefined ? undefined : shared(this.#held);
    return fork;
  }

  /**
   * Compares a list with what the host sent last, and with the prompts that it was given. What knows more of the list
   * counts; of two that know as much, the one with the shorter path: the host has taken the rest back.
   */
  overlap(list: HostList<Wire>): Overlap {
    const swapped = this.#sinceSwap(list);
    if (swapped !== undefined) return swapped;
    const resent = this.#sameFrom(list, NOTHING_GIVEN);
    if (this.#host.habit === 'resends') return resent;
    if (resent.length === this.session.length && resent.same > 0) return resent;
    let longest = NOTHING_GIVEN;
    for (const given of this.#prompts) {
      const found = this.#continuedFrom(list, given);
      if (found !== undefined && found.given > longest.given) longest = found;
    }
    if (longest.given <= resent.same) return resent;
    const continued = this.#sameFrom(list, longest);
    const [own, prompted] = [this.alike(list, resent), this.alike(list, continued)];
    if (own.known === prompted.known) return own.length < prompted.length ? resent : continued;
    return own.known > prompted.known ? resent : continued;
  }

  /** How much of a list is known, also in another form than it was sent in before, and the path that it represents. */
  alike(list: HostList<Wire>, overlap: Overlap): { known: number; length: number } {
    const given = overlap.given + overlap.same;
    const { same, length } = this.#sameFrom(list, { ...overlap, given }, (copy, at) =>
      this.#host.copies.isAlike(copy, list.copyAt(at)),
    );
    return { known: given + same, length };
  }

  /** False if a list begins with another text than the host's last list: most conversations do. */
  mayShare(list: HostList<Wire>): boolean {
    return this.#opening === undefined || this.#opening === list.opening;
  }

  /** False if the path is known to begin with another message. */
  mayBeginWith(id: MessageId | undefined): boolean {
    const first = this.session.at(0);
    return first === undefined || first.id === id;
  }

  /**
   * How a list continues the conversation in which a provider's compaction replaces everything before it. The
   * compaction is on the path already, or it is new and the host named the thread. Undefined if the list has none, or
   * another one.
   */
  matchAfterProviderCompaction(list: HostList<Wire>, isNamed: boolean): Match<Wire> | undefined {
    const at = list.compactionAt();
    if (at < 0) return undefined;
    const { messages, lengths } = list.decodedFrom(0, []);
    const given = wirePosition(lengths, at);
    const content = contentHash(messages[at] as Message);
    const path = this.session.messages;
    const known = lastIndex(path, (message) => contentHash(message) === content);
    if (known < 0 && !isNamed) return undefined;
    const base = this.session.length - path.length;
    const length = known < 0 ? this.session.length : base + known + 1;
    this.#swapped = {
      copies: list.copiesFrom(0).slice(0, given + 1),
      length: known < 0 ? length + 1 : length,
    };
    return this.match(list, { given: known < 0 ? given : given + 1, same: 0, length });
  }

  #sinceSwap(list: HostList<Wire>): Overlap | undefined {
    const { copies = [], length = 0 } = this.#swapped ?? {};
    if (copies.length === 0 || list.wire.length < copies.length || length > this.session.length)
      return undefined;
    const isSwapped = copies.every((copy, i) => isCopyOf(copy, list.wire[i]));
    return isSwapped ? this.#sameFrom(list, { given: copies.length, length }) : undefined;
  }

  match(list: HostList<Wire>, overlap: Overlap = this.overlap(list)): Match<Wire> {
    const { given, same, length } = overlap;
    const { messages, lengths } = list.decodedFrom(given + same, this.session.earlier);
    const shared = this.sharedFrom(length, messages);
    const continues = length + shared === this.session.length;
    return {
      ...overlap,
      list,
      known: given + same + shared,
      continues,
      forkedAt: continues ? undefined : this.session.idAt(length + shared - 1),
      resent: messages.slice(0, shared),
      fresh: messages.slice(shared),
      lengths,
    };
  }

  /**
   * Appends what is new, and returns the last message of the list. `usage` is what the provider reported for the last
   * assistant message of the list.
   */
  async take(
    match: Match<Wire>,
    usage: Usage | undefined = this.#reported?.(),
  ): Promise<MessageId | undefined> {
    const { list, given, same, length, resent, fresh, lengths } = match;
    this.#reported = undefined;
    this.#opening =
      this.#host.habit === 'resends' && this.#swapped === undefined ? list.opening : undefined;
    if (same > 0) this.#handOver(match);
    if (resent.length > 0) this.session.refresh(resent, length);
    const messages = usage === undefined ? fresh : withUsage(fresh, usage);
    const sent = list.copiesFrom(given + same);
    if (messages.length > 0) await this.session.appendDecoded(messages, sent);
    const seen = this.#seen.slice(0, length);
    while (seen.length < length) seen.push(undefined);
    for (const [i, copy] of sent.entries()) {
      const count = lengths[i] ?? 1;
      if (count === 0) continue;
      seen.push({ copy, count });
      for (let more = 1; more < count; more++) seen.push(undefined);
    }
    this.#seen = seen;
    return this.session.head;
  }

  /** Notes the host's newest objects for messages that equal what it sent last: a prompt hands those out. */
  #handOver({ list, given, same, length }: Match<Wire>): void {
    const resent = this.#seen.slice(0, length).filter((seen) => seen !== undefined);
    for (const [i, { copy }] of resent.slice(resent.length - same).entries())
      this.#host.copies.rehost(copy, list.wire[given + i] as Wire);
  }

  /** Appends messages that a host adds by themselves, with the usage that was reported for an answer among them. */
  async add(wire: readonly Wire[]): Promise<void> {
    const { copies, messages } = this.#decoded(wire);
    const isAnswered = messages.some(({ role }) => role === 'assistant');
    const usage = this.#reported?.();
    if (isAnswered) this.#reported = undefined;
    await this.session.appendDecoded(withUsage(messages, usage), copies);
  }

  /** Notes the usage that a provider reported for an answer; the host's next list contains that answer. */
  report(usage: ReportedUsage): void {
    this.#reported = typeof usage === 'function' ? usage : () => usage;
  }

  /** Remembers the prompt that was given last until another is held: the host continues from it for long. */
  hold(): void {
    [this.#held] = this.#given;
  }

  /** How many of a host's messages are on the path from an index on. */
  sharedMessages(index: number, wire: readonly Wire[]): number {
    return this.sharedFrom(index, this.#decoded(wire).messages);
  }

  #decoded(wire: readonly Wire[]): { copies: readonly Wire[]; messages: readonly Message[] } {
    const list = new HostList(wire, this.#host.copies);
    const { messages } = list.decodedFrom(0, this.session.earlier);
    return { copies: list.copiesFrom(0), messages };
  }

  /** The prompt for what was taken. `beside` is what else the request contains. */
  async prompt(options?: CompactOptions, beside: readonly object[] = []): Promise<Fitted<Wire>> {
    this.#beside = beside;
    const prompting = this.session.prompt(options);
    const { length } = this.session;
    return this.#give(await prompting, length);
  }

  /** Compacts at any pressure. */
  async compact(options?: CompactOptions): Promise<Fitted<Wire>> {
    const { length } = this.session;
    return this.#give(await this.session.compact(options), length);
  }

  /** The prompt to retry with after a provider refused the last one as too long. */
  async refused({ requestTokens, limitTokens }: Refusal): Promise<Fitted<Wire>> {
    const { length } = this.session;
    const sizes = {
      ...(requestTokens === undefined ? {} : { requestTokens }),
      ...(limitTokens === undefined ? {} : { limitTokens }),
    };
    return this.#give(await this.session.refused(sizes), length);
  }

  /**
   * The messages that a host continues with for long: the prompt, followed by a round that waits for results or an
   * approval, which no model can be asked with.
   */
  async active(): Promise<readonly Wire[]> {
    const { length } = this.session;
    const { messages } = this.#give(await this.session.prompt(), length, this.#waiting());
    this.hold();
    return messages;
  }

  get #prompts(): readonly GivenPrompt<Wire>[] {
    return this.#held === undefined ? this.#given : [...this.#given, this.#held];
  }

  #give(fitted: Fitted<Wire>, length: number, waiting: readonly Message[] = []): Fitted<Wire> {
    const ids = waiting.map((_, i) => this.session.at(length - waiting.length + i)?.id);
    const own = withMessages(fitted, () => [
      ...(this.#host.mark?.(fitted.messages, fitted.prompt, this.#beside) ?? fitted.messages),
      ...this.#host.copies.codec.encode(waiting),
    ]);
    if (this.#host.habit === 'continues')
      this.#given = [{ fitted: own, length, waiting: ids }, ...this.#given].slice(0, MOST_GIVEN);
    return withMessages(fitted, () => own.messages.map((wire) => this.#host.copies.handOut(wire)));
  }

  /** The last round, if it waits for results. */
  #waiting(): readonly Message[] {
    const { messages } = this.session;
    const last = messages.slice(unitStarts(messages).at(-1));
    const answered = new Set(last.flatMap(resultsOf).map(({ callId }) => callId));
    return last.flatMap(callsOf).every(({ callId }) => answered.has(callId)) ? [] : last;
  }

  /** How much of a given prompt a list starts with, and the length of the path that this represents. */
  #continuedFrom(
    list: HostList<Wire>,
    { fitted, length, waiting }: GivenPrompt<Wire>,
  ): Omit<Overlap, 'same'> | undefined {
    const { messages, plan } = fitted;
    const most = Math.min(list.wire.length, messages.length);
    let equal = 0;
    const { copies } = this.#host;
    while (equal < most && copies.isAlike(messages[equal] as Wire, list.copyAt(equal))) equal += 1;
    if (length !== undefined && equal > 0 && equal === messages.length)
      return { given: equal, length };
    const sources = [...fitted.prompt.messages.map(sourceId), ...waiting];
    if (sources.length !== messages.length) return undefined;
    for (let given = equal; given > 0; given--) {
      const index = this.#indexOf(sources[given - 1], plan.start);
      if (index !== undefined) return { given, length: index + 1 };
    }
    return undefined;
  }

  #indexOf(id: MessageId | undefined, start: number): number | undefined {
    if (id === undefined) return undefined;
    for (let i = this.session.length - 1; i >= start; i--)
      if (this.session.at(i)?.id === id) return i;
    return undefined;
  }

  #sameFrom(
    list: HostList<Wire>,
    { given, length: from }: Omit<Overlap, 'same'>,
    isSame = (copy: Wire, at: number): boolean => isCopyOf(copy, list.comparedAt(at)),
  ): Overlap {
    let [same, length] = [0, from];
    for (; given + same < list.wire.length; same++) {
      const seen = this.#seen[length];
      if (seen === undefined || !isSame(seen.copy, given + same)) break;
      length += seen.count;
    }
    return { given, same, length };
  }

  /** How many messages are on the path from an index on. Ids are chained: equal ids have equal pasts. */
  sharedFrom(index: number, messages: readonly Message[]): number {
    let parent = this.session.idAt(index - 1) ?? null;
    let shared = 0;
    for (const [i, message] of messages.entries()) {
      if (index + i >= this.session.length) break;
      parent = messageId(parent, message);
      const known = this.session.idAt(index + i);
      // Messages before the window of a resumed thread are equal if the first message of the window is.
      if (known !== undefined && known !== parent) break;
      if (known !== undefined) shared = i + 1;
    }
    return shared;
  }
}

/** A copy of what a host sent, and how many messages of the path it became. */
interface SeenMessage<Wire> {
  readonly copy: Wire;
  readonly count: number;
}

/** The position in a host's list of one of the messages that it became. */
function wirePosition(lengths: readonly number[], message: number): number {
  let position = 0;
  for (let count = lengths[0] ?? 1; count <= message; count += lengths[position] ?? 1) position++;
  return position;
}

/** The message of the path that one of a prompt shows. */
function sourceId({ source }: PromptMessage): MessageId | undefined {
  return source.kind === 'kept' || source.kind === 'changed' ? source.id : undefined;
}

function withUsage(messages: readonly Message[], usage: Usage | undefined): readonly Message[] {
  const last = lastIndex(messages, ({ role }) => role === 'assistant');
  if (usage === undefined || last < 0) return messages;
  return messages.map((message, i) =>
    i === last ? { ...message, meta: { ...message.meta, usage } } : message,
  );
}
