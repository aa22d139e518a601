import {
  callsOf,
  type Conversation,
  lastIndex,
  type Node,
  type ThreadKey,
} from '@bobbin/core/internal';
import type { AgentInputItem, Session } from '@openai/agents';
import { textMessage, type Message, type MessageId, type ThreadId } from '@bobbin/core';
import type { HostConversations } from '../conversations.ts';
import { agentItems } from './codec.ts';

/**
 * What a run asks of a session in addition to the plain interface: to compact, and to replace a call that was approved
 * in another form.
 */
export interface SessionCapabilities {
  runCompaction(args?: { readonly force?: boolean }): Promise<null>;
  applyHistoryMutations(args: {
    readonly mutations: readonly {
      readonly type: 'replace_function_call';
      readonly callId: string;
      readonly replacement: AgentInputItem;
    }[];
  }): Promise<void>;
  replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void>;
}

/** Ends the thread of a history that was cleared: the next thread goes on. */
const CLEARED: Message = {
  ...textMessage('system', 'The session was cleared.', { synthetic: true }),
  extra: { cleared: true },
};

/**
 * A session whose history is a thread. What a run reads of it is fitted; what was said is all kept: taking an item back
 * makes a fork, clearing begins another thread.
 */
export class ThreadSession implements Session, SessionCapabilities {
  readonly #id: string;
  readonly #tenant: string;
  readonly #conversations: HostConversations<AgentInputItem>;
  /** How often the history was started again; undefined until the store was asked. */
  #beginnings: number | undefined;
  /** How many messages of the path the run has added: a model may have been shown more, in a turn that failed. */
  #added: number | undefined;

  constructor(id: string, tenant: string, conversations: HostConversations<AgentInputItem>) {
    this.#id = id;
    this.#tenant = tenant;
    this.#conversations = conversations;
  }

  getSessionId(): Promise<string> {
    return Promise.resolve(this.#id);
  }

  /** The name of the thread that holds the history now. */
  async thread(): Promise<ThreadId> {
    if (this.#beginnings === undefined) {
      let count = 0;
      while (await this.#isCleared(count)) count += 1;
      this.#beginnings = count;
    }
    return this.#key(this.#beginnings).thread;
  }

  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const conversation = await this.#settled();
    if (limit !== undefined) return this.#last(conversation, limit);
    const { messages } = await conversation.prompt();
    conversation.hold();
    return [...messages];
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    const conversation = await this.#current();
    const from = this.#added ?? conversation.session.length;
    const known = conversation.sharedMessages(from, items);
    const isBeside = from + known < conversation.session.length;
    const there = isBeside ? await this.#rewound(conversation, from + known) : conversation;
    await there.add(items.slice(known));
    this.#added = from + items.length;
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    const conversation = await this.#settled();
    const [last] = await this.#last(conversation, 1);
    if (last !== undefined) await this.#rewound(conversation, conversation.session.length - 1);
    return last;
  }

  async clearSession(): Promise<void> {
    await this.#rewound(await this.#current(), 0);
  }

  async runCompaction(args: { readonly force?: boolean } = {}): Promise<null> {
    if (args.force === true) await (await this.#settled()).session.compact();
    return null;
  }

  /**
   * A compaction that the provider made, and what follows it. They continue the thread: prompts start there, and recall
   * still finds what came before.
   */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const at = lastIndex(items, ({ type }) => type === 'compaction');
    if (at < 0) await this.clearSession();
    const conversation = await this.#settled();
    await conversation.add(items.slice(Math.max(0, at)));
    this.#added = conversation.session.length;
  }

  async applyHistoryMutations({
    mutations,
  }: Parameters<SessionCapabilities['applyHistoryMutations']>[0]): Promise<void> {
    for (const { callId, replacement } of mutations) {
      const conversation = await this.#settled();
      const path = await this.#path(conversation);
      const at = lastIndex(path, (message) =>
        callsOf(message).some((call) => call.callId === callId),
      );
      if (at < 0) continue;
      const rest = agentItems.encode(path.slice(at + 1));
      await this.#rewound(conversation, at);
      await this.addItems([replacement, ...rest]);
    }
  }

  #key(beginnings: number): ThreadKey {
    const name = beginnings === 0 ? this.#id : `${this.#id}~${beginnings}`;
    return { tenant: this.#tenant, thread: name as ThreadId };
  }

  async #isCleared(beginnings: number): Promise<boolean> {
    const window = await this.#conversations.store.window(this.#key(beginnings));
    return window?.tail.at(-1)?.message.extra?.['cleared'] === true;
  }

  async #current(): Promise<Conversation<AgentInputItem>> {
    return this.#conversations.named(await this.thread());
  }

  /** The conversation without the remains of a failed turn. */
  async #settled(): Promise<Conversation<AgentInputItem>> {
    const conversation = await this.#current();
    this.#added ??= conversation.session.length;
    return conversation.session.length > this.#added
      ? this.#rewound(conversation, this.#added)
      : conversation;
  }

  /** The conversation without its last messages, for every process that comes: the store's head moves back. */
  async #rewound(
    conversation: Conversation<AgentInputItem>,
    length: number,
  ): Promise<Conversation<AgentInputItem>> {
    this.#added = length;
    if (length === conversation.session.length) return conversation;
    if (length === 0) {
      await this.thread();
      await conversation.session.appendDecoded([CLEARED]);
      this.#beginnings = (this.#beginnings ?? 0) + 1;
      return this.#current();
    }
    const { store } = this.#conversations;
    const { key, head } = conversation.session;
    const [last] = await store.path(key, head as MessageId, length - 1);
    const node = last as Node;
    await store.append(key, [node]);
    return this.#conversations.endingAt(key.thread, node.id);
  }

  async #path(conversation: Conversation<AgentInputItem>): ReturnType<typeof pathOf> {
    return pathOf(this.#conversations, conversation, 0);
  }

  async #last(conversation: Conversation<AgentInputItem>, most: number): Promise<AgentInputItem[]> {
    const from = Math.max(0, conversation.session.length - most);
    return [...agentItems.encode(await pathOf(this.#conversations, conversation, from))];
  }
}

async function pathOf(
  { store }: HostConversations<AgentInputItem>,
  { session: { key, head } }: Conversation<AgentInputItem>,
  from: number,
): Promise<ReturnType<typeof agentItems.decode>> {
  if (head === undefined) return [];
  return (await store.path(key, head, from)).map(({ message }) => message);
}
