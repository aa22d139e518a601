import type { Message, MessageId } from '../../message/message.ts';
import type { HostList } from './host-list.ts';

/** How much of a host's list a conversation recognises without decoding it. */
export interface Overlap {
  /** How many messages at the start of the list are a prompt that the host was given. */
  readonly given: number;
  /** How many messages after those equal what the host sent last. */
  readonly same: number;
  /** The length of the path that both together represent. */
  readonly length: number;
}

/** How a host's list continues a conversation. */
export interface Match<Wire> extends Overlap {
  readonly list: HostList<Wire>;
  /** How many messages of the path and of given prompts the list shares with the conversation. */
  readonly known: number;
  /** True if the list contains the whole path, so that it continues it; false if it is a fork. */
  readonly continues: boolean;
  /** The last message that both share, if the list is a fork. */
  readonly forkedAt: MessageId | undefined;
  /** Known messages in the form in which the host sends them now. */
  readonly resent: readonly Message[];
  /** Messages that the path does not have. */
  readonly fresh: readonly Message[];
  readonly lengths: readonly number[];
}
