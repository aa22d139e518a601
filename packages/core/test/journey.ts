import assert from 'node:assert/strict';
import {
  createBobbin,
  memoryStore,
  type Bobbin,
  type Fitted,
  type Message,
  type MessageId,
  type Plan,
  type Store,
  type Summarizer,
  type Session,
  type ThreadId,
} from '@bobbin/core';
import { contentHash, type PromptMessage, singlePrompt, Thread } from '@bobbin/core/internal';
import { DISK_FULL, RoughStore } from './rough-store.ts';
import {
  expectValid,
  playOutcome,
  randomCase,
  randomConversation,
  seededRandom,
  withoutReminders,
  type Random,
  type RandomCase,
  type SentPrompt,
  type SummarizerOutcome,
} from '@bobbin/testing';

/** What a journey went through. */
export interface Travelled {
  readonly prompts: number;
  readonly compactions: number;
}

/** Every so many journeys go through a store that fails, on which others write. */
const ROUGH = 8;

/**
 * Drives Bobbin through a random case: messages come in batches, a prompt is asked for between, hosts compact, pin,
 * undo, come back in another process, resend everything or turn off onto a fork. Every prompt must be valid, also where
 * the store fails or another writer is faster.
 */
export async function travel(
  seed: number,
  messages: number = Number.POSITIVE_INFINITY,
): Promise<Travelled> {
  const whole = randomCase(seed);
  const given = { ...whole, messages: whole.messages.slice(0, messages) };
  const random = seededRandom(seed ^ 0x5bd1_e995);
  const journey = random.chance(0.3)
    ? new FitJourney(given, random)
    : new ThreadJourney(given, random);
  await journey.travel();
  return journey;
}

abstract class Journey implements Travelled {
  readonly case: RandomCase;
  readonly random: Random;
  readonly rough: RoughStore | undefined;
  readonly store: Store;
  /** A host's summarizer, or none: then every prompt is the same each time it is asked for. */
  readonly summarizer: Summarizer | undefined;
  sent: SentPrompt[] = [];
  prompts = 0;
  compactions = 0;
  now = 1_700_000_000_000;

  constructor(given: RandomCase, random: Random) {
    this.case = given;
    this.random = random;
    if (given.seed % ROUGH === 0)
      this.rough = new RoughStore(seededRandom(given.seed ^ 0x2545_f491), (inner) =>
        this.meet(inner),
      );
    this.store = this.rough?.store ?? memoryStore();
    this.summarizer = random.chance(0.15) ? moody(random) : undefined;
  }

  abstract travel(): Promise<void>;

  /** What another writer does before a plan or an event is kept. */
  async meet(_inner: Store): Promise<void> {}

  bobbin(store: Store = this.store): Bobbin {
    const { policy, budget, rules, counter, tools, cacheLimits } = this.case;
    return createBobbin({
      preset: policy,
      budget,
      rules,
      counter,
      tools,
      cacheLimits,
      store,
      ...(this.summarizer === undefined ? {} : { summarizer: this.summarizer }),
      clock: { now: () => this.now },
    });
  }

  async check(
    thread: Thread,
    fitted: Fitted<Message>,
    lineage: readonly Plan[],
    counter: RandomCase['counter'],
    tried: readonly Plan[] = this.rough?.tried ?? [],
  ): Promise<void> {
    const { seed, rules, cacheLimits, budget, policy } = this.case;
    this.prompts++;
    if (fitted.compacted) this.compactions++;
    // A plan that could not be committed is based on the newest one that is stored.
    const before = this.rough === undefined ? fitted.version - 1 : fitted.version;
    const own = await this.plans(fitted.plan.thread, before);
    expectValid(thread, fitted.plan, fitted.prompt, {
      rules,
      counter,
      cacheLimits,
      budget,
      limitTokens: fitted.limitTokens,
      reserveTokens: budget.rehydrationTokens,
      fits: fitted.fits,
      ...(policy.ladder === singlePrompt.ladder ? { largePinsShare: 0.5 } : {}),
      earlier: [...lineage, ...own, ...tried].filter((plan) => plan !== fitted.plan),
      sent: this.sent,
      seed,
    });
    this.rough?.tried.push(fitted.plan);
    this.sent.push({
      length: thread.length,
      messages: fitted.prompt.messages,
      plan: fitted.plan,
    });
  }

  /** The plans of a thread up to a version, oldest first. */
  async plans(thread: ThreadId, upTo: number): Promise<readonly Plan[]> {
    const found: Plan[] = [];
    for (let version = 1; version <= upTo; version++) {
      const stored = await this.store.plan({ tenant: 'default', thread }, version);
      if (stored !== undefined) found.push(stored.plan);
    }
    return found;
  }
}

/** A host that appends to a thread and asks for its prompt. */
class ThreadJourney extends Journey {
  readonly #mirror = new Thread('journey' as ThreadId);
  readonly #seen: {
    plan: Plan;
    version: number;
    length: number;
    messages: readonly PromptMessage[];
  }[] = [];
  #handle: Session | undefined;

  async travel(): Promise<void> {
    // Writers who have learnt otherwise from usage do not agree on what fits.
    const messages =
      this.rough === undefined ? this.case.messages : this.case.messages.map(withoutUsage);
    for (let next = 0; next < messages.length;) {
      const batch = messages.slice(next, next + this.random.int(1, this.random.pick([12, 40])));
      next += batch.length;
      const handle = await this.#onwards();
      this.now += this.random.int(1, 10) * 60_000;
      await handle.append(...batch);
      for (const message of batch) this.#mirror.append(message);
      await this.#interfere(handle);
      await this.#ask(handle, await handle.prompt());
      const repeats = this.summarizer === undefined && this.random.chance(0.1);
      if (repeats && this.rough === undefined) await this.#askAgain(handle);
    }
    if (this.rough === undefined) await this.#lookBack();
    else await this.#settle(this.rough);
  }

  /** Once its store keeps things again, no compaction is missing in it. */
  async #settle(rough: RoughStore): Promise<void> {
    const handle = this.#handle;
    if (handle === undefined) return;
    rough.calm();
    await handle.undo();
    await this.check(this.#mirror, await handle.prompt(), [], handle.counter, []);
  }

  override async meet(inner: Store): Promise<void> {
    const { random } = this;
    const other = await this.bobbin(inner).thread('journey');
    const node = this.#mirror.at(random.int(0, this.#mirror.length - 1));
    const act = random.pick<() => Promise<unknown>>([
      () => other.undo(),
      () => other.compact(),
      () => other.prompt(),
      async () => node && other.pin(node.id),
    ]);
    await act();
  }

  /** Now and then another process goes on with the thread. */
  async #onwards(): Promise<Session> {
    const another = this.random.chance(0.1);
    // A process that ends takes the plans along that it could not commit.
    if (this.#handle === undefined || (another && this.rough === undefined)) {
      this.#handle = await this.bobbin().thread('journey');
      this.sent = this.sent.map(({ length, messages }) => ({ length, messages }));
    }
    return this.#handle;
  }

  async #interfere(handle: Session): Promise<void> {
    const { random } = this;
    if (random.chance(0.05)) {
      await this.#ask(handle, await handle.compact());
      // That prompt is not sent: a reminder may still come before its last message.
      this.sent.pop();
    }
    if (random.chance(0.05)) await this.#unlessFull(handle.undo());
    if (random.chance(0.05)) {
      const node = this.#mirror.at(random.int(0, this.#mirror.length - 1));
      if (node !== undefined) await this.#unlessFull(handle.pin(node.id));
      const [first] = handle.plan.pins;
      if (first !== undefined && this.case.seed % 3 === 0)
        await this.#unlessFull(handle.unpin(first));
    }
  }

  /** What a host asks for by name may fail with the store; prompts may not. */
  async #unlessFull(asked: Promise<unknown>): Promise<void> {
    await asked.catch((error: unknown) => {
      if (this.rough === undefined || !(error instanceof Error) || error.message !== DISK_FULL)
        throw error;
    });
  }

  async #ask(handle: Session, fitted: Fitted<Message>): Promise<void> {
    await this.check(this.#mirror, fitted, [], handle.counter);
    const { version, plan } = fitted;
    const prompt = withoutReminders(fitted.prompt);
    const before = this.#seen.at(-1);
    if (this.rough === undefined ? before?.version === version : before?.plan === plan)
      assert.deepEqual(
        prompt.messages.slice(0, before?.messages.length),
        before?.messages,
        `seed ${this.case.seed}: with no new plan the last prompt is a prefix of the next`,
      );
    this.#seen.push({ plan, version, length: this.#mirror.length, messages: prompt.messages });
  }

  /** Nothing new was said: nothing new happens. */
  async #askAgain(handle: Session): Promise<void> {
    const before = this.#seen.at(-1);
    const fitted = await handle.prompt();
    await this.#ask(handle, fitted);
    assert.equal(
      fitted.version,
      before?.version,
      `seed ${this.case.seed}: asked twice, compacted twice`,
    );
  }

  /** Any past prompt can be rendered again. */
  async #lookBack(): Promise<void> {
    if (this.#handle === undefined || this.#seen.length === 0) return;
    const past = this.#seen[this.random.int(0, this.#seen.length - 1)];
    if (past === undefined) return;
    const again = await this.#handle.promptAt(past.version, past.length);
    assert.deepEqual(
      again.messages,
      past.messages,
      `seed ${this.case.seed}: the prompt of version ${past.version} at ${past.length} is another now`,
    );
  }
}

/** A host that resends everything, and sometimes turns off onto a fork. */
class FitJourney extends Journey {
  readonly #mirrors = new Map<ThreadId, Thread>();
  /** Each message in the form in which it was sent first. */
  readonly #first = new Map<MessageId, Message>();
  #lineage: readonly Plan[] = [];

  async travel(): Promise<void> {
    const bobbin = this.bobbin();
    const { messages } = this.case;
    for (let length = 0; length < messages.length;) {
      length = Math.min(messages.length, length + this.random.int(1, this.random.pick([12, 40])));
      await this.#fit(bobbin, messages.slice(0, length));
    }
    if (messages.length > 2 && this.random.chance(0.6)) await this.#fork(bobbin);
  }

  async #fork(bobbin: Bobbin): Promise<void> {
    const { messages, budget, seed } = this.case;
    const shared = messages.slice(0, this.random.int(1, messages.length));
    const turnedOff = randomConversation(seededRandom(seed + 1), {
      messages: this.random.int(1, 30),
      hugeChars: Math.min(10_000, budget.windowTokens * 4),
      startTime: this.now,
    });
    if (this.#isGiven([...shared, ...turnedOff.slice(0, 1)])) return;
    this.sent = this.sent.filter(({ length }) => length <= shared.length);
    const known = new Set(
      [...this.#mirrors.values()].flatMap((thread) =>
        thread
          .path()
          .slice(0, shared.length)
          .map(({ id }) => id),
      ),
    );
    // A fork goes on with a plan that is about the beginning only, and with what that plan is based on.
    const isShared = ({ threadVersion, records }: Plan): boolean =>
      threadVersion <= shared.length ||
      records.every(({ span }) => span.ids.every((id) => known.has(id)));
    this.#lineage = this.#lineage.filter(isShared);
    if (this.rough !== undefined) this.rough.tried = this.rough.tried.filter(isShared);
    for (let length = 1; length <= turnedOff.length; length += this.random.int(1, 15))
      await this.#fit(bobbin, [...shared, ...turnedOff.slice(0, length)]);
  }

  /**
   * True if a list says what a prompt that was given begins with, and the prompt shows other messages there. A host may
   * go on from such a prompt, so nobody could know that this one turns off.
   */
  #isGiven(list: readonly Message[]): boolean {
    const nodes = new Thread('list' as ThreadId).nodesFor(list);
    return this.sent.some(({ messages }) => {
      const given = messages.slice(0, list.length);
      const isBeginning = list.every((message, i) => isAlike(message, given[i]?.message));
      const isInPlace = given.every(
        ({ source }, i) => 'id' in source && source.id === nodes[i]?.id,
      );
      return isBeginning && !isInPlace;
    });
  }

  async #fit(bobbin: Bobbin, messages: readonly Message[]): Promise<void> {
    this.now += this.random.int(1, 10) * 60_000;
    const sent = messages.map(withoutUsage);
    const fitted = await bobbin.fit(sent);
    const mirror = this.#follow(fitted.plan.thread, sent);
    await this.check(mirror, fitted, this.#lineage, this.case.counter);
    this.#lineage = [...this.#lineage, ...(await this.plans(fitted.plan.thread, fitted.version))];
  }

  /**
   * The thread as Bobbin should have it. What has the same id may be sent with other metadata later: a message of a
   * thread never changes, and a fork has it in the same form.
   */
  #follow(id: ThreadId, messages: readonly Message[]): Thread {
    const mirror = new Thread(id);
    for (const message of messages) {
      const [node] = mirror.nodesFor([message]);
      const first = (node && this.#first.get(node.id)) ?? message;
      this.#first.set(mirror.append(first).id, first);
    }
    this.#mirrors.set(id, mirror);
    return mirror;
  }
}

function isAlike(message: Message, given: Message | undefined): boolean {
  return given !== undefined && contentHash(given) === contentHash(message);
}

const withoutUsages = new WeakMap<Message, Message>();

/** What was learnt from usage cannot be asked of a host that resends everything, nor of another process. */
function withoutUsage(message: Message): Message {
  if (message.meta?.usage === undefined) return message;
  const { usage: _, ...meta } = message.meta;
  const plain = withoutUsages.get(message) ?? { ...message, meta };
  withoutUsages.set(message, plain);
  return plain;
}

/** A summarizer that may do anything. */
function moody(random: Random): Summarizer {
  return {
    id: 'moody',
    summarize: (request) =>
      playOutcome(
        random.pick<SummarizerOutcome>([
          { kind: 'good' },
          { kind: 'blank' },
          { kind: 'throws', message: 'overloaded' },
          { kind: 'huge', chars: 20_000 },
          { kind: 'good', summary: { prose: '会話😀'.repeat(50) } },
        ]),
        request,
      ),
  };
}
