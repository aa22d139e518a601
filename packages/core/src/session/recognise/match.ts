import { lastIndex } from '../../check/list.ts';
import type { Message, MessageId } from '../../message/message.ts';
import type { Session } from '../session.ts';
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

/** True if a list has something to do with a conversation. */
export function isRelated<Wire>(session: Session<Wire>, { known }: Match<Wire>): boolean {
  return known > 0 || session.length === 0;
}

/** True if a list adds one answer at most to a conversation: no request of the host is missing in between. */
export function isNextStep<Wire>({ continues, fresh }: Match<Wire>): boolean {
  if (!continues) return false;
  const answered = lastIndex(fresh, ({ role }) => role === 'assistant');
  return fresh.slice(0, answered + 1).every(({ role }) => role === 'assistant');
}

/** True if no request of the host is missing between a conversation and a list that ends with these messages. */
export function missesNoRequest(fresh: readonly Message[]): boolean {
  const first = fresh.findIndex(({ role }) => role === 'assistant');
  const last = lastIndex(fresh, ({ role }) => role === 'assistant');
  return first < 0 || fresh.slice(first, last).every(({ role }) => role === 'assistant');
}

/**
 * True if a host took back the end of its last request, and goes on with the answer: many add a reminder to each request
 * that is gone in the next one. A list that only begins alike has no answer yet, or the conversation has one there.
 */
export function isTakenBack<Wire>(
  session: Session<Wire>,
  { forkedAt, fresh }: Match<Wire>,
): boolean {
  if (!fresh.some(({ role }) => role === 'assistant')) return false;
  let index = session.length - 1;
  for (; index >= 0 && session.idAt(index) !== forkedAt; index--)
    if (session.at(index)?.message.role === 'assistant') return false;
  for (; index >= 0; index--) {
    const node = session.at(index);
    // What is not in memory was compacted: a model has answered long ago.
    if (node === undefined || node.message.role === 'assistant') return true;
  }
  return false;
}

/** True if a list has more in common with a conversation than with the best one so far. */
export function isCloser<Wire>(match: Match<Wire>, best: Match<Wire>): boolean {
  if (match.known !== best.known) return match.known > best.known;
  return match.continues && !best.continues;
}
