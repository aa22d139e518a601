import type { MessageId, Usage } from '../../message/message.ts';
import type { SessionConfig } from '../config/session-config.ts';
import type { HostHabit, MarkCachePoints } from './conversation.ts';
import type { ListOwner } from './host-list.ts';

export interface ConversationsOptions<Wire> {
  readonly tenant: string;
  /** The thread of every list whose thread the host does not name. */
  readonly thread?: string;
  readonly mark?: MarkCachePoints<Wire>;
  /** Default: `continues`. */
  readonly habit?: HostHabit;
  /** Default: `host`. */
  readonly owner?: ListOwner;
  /** How many conversations are kept in memory. Default: 1000. */
  readonly mostOpen?: number;
  readonly locate?: Locate;
  /** Loads what the configuration needs before the first conversation begins. */
  readonly ready?: () => Promise<SessionConfig<Wire>>;
}

/** Where the store has a conversation: a thread, and one of its messages. */
export interface StoredPlace {
  readonly thread: string;
  /** The name that the host gave; absent if it gave none. */
  readonly name?: string;
  readonly head: MessageId;
  /** When the prompt that ended with that message was sent, and what the provider reported for its answer. */
  readonly sentAt?: number;
  readonly usage?: Usage;
}

/**
 * Finds what other processes stored of a list: the thread that has the last of some ids, which are those of the list's
 * messages in order. `name` is the name that the host gave, if it gave one.
 */
export type Locate = (
  ids: readonly MessageId[],
  name: string | undefined,
) => Promise<StoredPlace | undefined>;

/** What a host knows about a list in addition to its messages. */
export interface ListHint {
  readonly thread?: string | undefined;
  /** What the provider reported for the last assistant message of the list. */
  readonly usage?: Usage | undefined;
  /** If it is aborted before the list's turn comes, nothing is appended. */
  readonly signal?: AbortSignal | undefined;
}
