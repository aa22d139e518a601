import {
  createBobbin,
  memoryStore,
  type Bobbin,
  type BobbinOptions,
  type CompactOptions,
  type Fitted,
  type Message,
  type MessageId,
  type Plan,
  type Store,
  type Session,
} from '@bobbin/core';
import { budget, STRICT_RULES, Thread } from '@bobbin/core/internal';
import { expectValid, type SentPrompt } from './laws.ts';
import { promptLines } from './prompt-lines.ts';

/**
 * A real session with a copy of all that was said on its thread: every prompt that it gives is checked against every
 * law. It takes the options of `createBobbin`.
 */
export class WatchedThread {
  readonly options: BobbinOptions;
  readonly store: Store;
  /** The whole thread, as it should be. */
  readonly thread: Thread;
  #sent: SentPrompt[] = [];
  #bobbin: Bobbin;
  #handle: Session;

  private constructor(options: BobbinOptions, store: Store, bobbin: Bobbin, handle: Session) {
    this.options = options;
    this.store = store;
    this.thread = new Thread(handle.key.thread);
    this.#bobbin = bobbin;
    this.#handle = handle;
  }

  static async open(options: BobbinOptions = {}, id: string = 'watched'): Promise<WatchedThread> {
    const store = options.store ?? memoryStore();
    const bobbin = createBobbin({ ...options, store });
    return new WatchedThread(options, store, bobbin, await bobbin.thread(id));
  }

  get handle(): Session {
    return this.#handle;
  }

  /** Goes on as another process would: with what the store holds. */
  async reopen(options: BobbinOptions = this.options): Promise<void> {
    this.#bobbin = createBobbin({ ...options, store: this.store });
    this.#handle = await this.#bobbin.thread(this.thread.id);
    this.#sent = this.#sent.map(({ length, messages }) => ({ length, messages }));
  }

  async append(...messages: readonly Message[]): Promise<readonly MessageId[]> {
    const ids = await this.#handle.append(...messages);
    for (const message of messages) this.thread.append(message);
    return ids;
  }

  async prompt(options: CompactOptions = {}): Promise<Fitted<Message>> {
    return this.#checked(await this.#handle.prompt(options));
  }

  async compact(options: CompactOptions = {}): Promise<Fitted<Message>> {
    return this.#checked(await this.#handle.compact(options));
  }

  /** The prompt as text, one line a message. */
  async lines(): Promise<readonly string[]> {
    return promptLines((await this.prompt()).prompt);
  }

  /** The plans up to a version, oldest first. */
  async plans(upTo: number): Promise<readonly Plan[]> {
    const found: Plan[] = [];
    for (let version = 1; version <= upTo; version++) {
      const stored = await this.store.plan(this.#handle.key, version);
      if (stored !== undefined) found.push(stored.plan);
    }
    return found;
  }

  async #checked(fitted: Fitted<Message>): Promise<Fitted<Message>> {
    const { rules = STRICT_RULES, cacheLimits, budget: space } = this.options;
    const whole = budget(space);
    expectValid(this.thread, fitted.plan, fitted.prompt, {
      rules,
      counter: this.#handle.counter,
      limitTokens: fitted.limitTokens,
      reserveTokens: whole.rehydrationTokens,
      budget: whole,
      fits: fitted.fits,
      earlier: await this.plans(fitted.version - 1),
      sent: this.#sent,
      ...(cacheLimits === undefined ? {} : { cacheLimits }),
    });
    const { messages } = fitted.prompt;
    this.#sent.push({ length: this.thread.length, messages, plan: fitted.plan });
    return fitted;
  }
}
