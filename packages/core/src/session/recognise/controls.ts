import { lastOf } from '../../check/list.ts';
import { contentHash, type MessageId } from '../../message/message.ts';
import { recallTool } from '../../recall/memory-tools.ts';
import type { CompactOptions, SessionConfig } from '../config/session-config.ts';
import type { Fitted } from '../fitted.ts';
import type { Session } from '../session.ts';
import type { Conversation } from './conversation.ts';
import type { Conversations } from './conversations.ts';

/** Says which conversation is meant: its messages so far, or the name of its thread. */
export type Where<Wire> = readonly Wire[] | string;

/**
 * What a host can do with a conversation besides making its prompt. `where` says which conversation is meant. You can
 * leave it out if there is only one.
 */
export interface Controls<Wire> {
  /**
   * Protects a message, with its calls or results, from compaction. If it was compacted already, prompts show it whole
   * again.
   */
  pin(message: Wire, where?: Where<Wire>): Promise<void>;
  /** Ends the protection of a message. The next compaction may change it. */
  unpin(message: Wire, where?: Where<Wire>): Promise<void>;
  /** Compacts now, even if the prompt fits. `instructions` tell the summarizing model what the summary should keep. */
  compact<T extends Wire>(where?: Where<T>, options?: CompactOptions): Promise<Fitted<T>>;
  /**
   * Undoes the last compaction. Pins stay. Returns false if there is nothing to undo. If the prompt then no longer
   * fits, the next one is compacted again.
   */
  undo(where?: Where<Wire>): Promise<boolean>;
  /** Searches the compacted messages, and returns the results as text. */
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
