import type { CompactOptions, Fitted, MessageId, Session, Usage } from '@bobbin/core';
import type { ContextLimit } from '@bobbin/core/internal';
import type { Conversation } from './conversation.ts';
import type { Conversations } from './conversations.ts';

/**
 * A conversation where a list that was taken ends. Others may go on from there meanwhile, and they may be strangers who
 * said the same until then: what is asked here never shows what was said behind the list.
 */
export class Taken<Wire extends object> {
  readonly #conversations: Conversations<Wire>;
  readonly #head: MessageId | undefined;
  #conversation: Conversation<Wire>;

  constructor(conversations: Conversations<Wire>, conversation: Conversation<Wire>) {
    this.#conversations = conversations;
    this.#conversation = conversation;
    this.#head = conversation.handle.head;
  }

  get handle(): Session<Wire> {
    return this.#conversation.handle;
  }

  /** The last message of the list, which names all before it too. */
  get head(): MessageId | undefined {
    return this.#head;
  }

  /** The prompt for the list. `beside` is what else the request holds. */
  prompt(options?: CompactOptions, beside?: readonly object[]): Promise<Fitted<Wire>> {
    return this.#there((conversation) => conversation.prompt(options, beside));
  }

  /** The prompt to try again with, after a provider refused the last one as too long (E3). */
  refused(refusal: ContextLimit): Promise<Fitted<Wire>> {
    return this.#there((conversation) => conversation.refused(refusal));
  }

  /** Notes what the provider reported of an answer that the host's next list will hold. */
  report(usage: Usage | undefined): void {
    this.#conversation.report(usage);
  }

  /** Takes a list that begins with a prompt of this conversation. */
  async goOn(wire: readonly Wire[], usage: Usage | undefined): Promise<void> {
    await this.#conversations.goOn(this.#conversation, wire, usage);
  }

  /** Begins something where the list ends, before anyone else appends; others need not wait until it is done. */
  async #there<T>(task: (conversation: Conversation<Wire>) => Promise<T>): Promise<T> {
    const [begun] = await this.#conversations.exclusively(async () => {
      if (this.#conversation.handle.head !== this.#head)
        this.#conversation = await this.#conversations.turnOff(this.#conversation, this.#head);
      return [task(this.#conversation)] as const;
    });
    return begun;
  }
}
