import { lastOf } from '../../check/list.ts';
import { contentHash, type MessageId } from '../../message/message.ts';
import { recallTool } from '../../recall/memory-tools.ts';
import type { CompactOptions, SessionConfig } from '../config/session-config.ts';
import type { Fitted } from '../fitted.ts';
import type { Session } from '../session.ts';
import type { Conversation } from './conversation.ts';
import type { Conversations } from './conversations.ts';

/** A conversation, by its messages so far or by the name of its thread. */
export type Where<Wire> = readonly Wire[] | string;

/**
 * What a host can do with a conversation in addition to asking for its prompt. `where` says which conversation; it can
 * be left out if there is only one.
 */
export interface Controls<Wire> {
  /** Keeps a message whole from now on, with its calls or results; one that was compacted comes back. */
  pin(message: Wire, where?: Where<Wire>): Promise<void>;
  /** Undoes `pin`: the next compaction may change the message again. */
  unpin(message: Wire, where?: Where<Wire>): Promise<void>;
  /** Compacts now, at any pressure; `instructions` steer the summary. */
  compact<T extends Wire>(where?: Where<T>, options?: CompactOptions): Promise<Fitted<T>>;
  /** Undoes the last compaction; pins stay. False if there is none. If the prompt no longer fits, the next one is compacted again. */
  undo(where?: Where<Wire>): Promise<boolean>;
  /** Searches what was compacted. */
  recall(query: string, where?: Where<Wire>): Promise<string>;
}

/** The controls of the conversations of a host; `only` is the one that is meant if the host names none. */
export function controlsOf<Wire>(
  conversations: Conversations<Wire>,
  config: SessionConfig<Wire>,
  only: () => Promise<Conversation<Wire>> = () => conversations.only(),
): Controls<Wire> {
  const at = (where: Where<Wire> | undefined): Promise<Conversation<Wire>> =>
    where === undefined ? only() : conversationAt(conversations, where);
  return {
    async pin(message, where) {
      const { session } = await at(where);
      for (const id of await idsOf(message, session, config, 'pin')) await session.pin(id);
    },
    async unpin(message, where) {
      const { session } = await at(where);
      for (const id of await idsOf(message, session, config, 'unpin')) await session.unpin(id);
    },
    async compact<T extends Wire>(where?: Where<T>, options?: CompactOptions) {
      const conversation = await at(where);
      return (await conversation.compact(options)) as Fitted<T>;
    },
    async undo(where) {
      return (await at(where)).session.undo();
    },
    async recall(query, where) {
      const { session } = await at(where);
      return recallTool.answer(config, session.key, { query });
    },
  };
}

/** The conversation that a host means. What is new in its messages is appended. */
export async function conversationAt<Wire>(
  conversations: Conversations<Wire>,
  where: Where<Wire> | undefined,
): Promise<Conversation<Wire>> {
  if (where === undefined) return conversations.only();
  if (typeof where === 'string') return conversations.named(where);
  return (await conversations.take(where)).conversation;
}

/** The newest messages of the path that say what a host's message says. */
async function idsOf<Wire>(
  message: Wire,
  { key, head }: Session<Wire>,
  { codec, store }: SessionConfig<Wire>,
  what: string,
): Promise<readonly MessageId[]> {
  const path = head === undefined ? [] : await store.path(key, head);
  // A result is read with its call, which the session may have released.
  const earlier = path.map((node) => node.message);
  return codec.decode([message], earlier).map((decoded) => {
    const content = contentHash(decoded);
    const found = lastOf(path, (node) => contentHash(node.message) === content);
    if (found === undefined)
      throw new RangeError(
        `${what}: thread ${key.thread} has no such message; pass it as it was sent`,
      );
    return found.id;
  });
}
