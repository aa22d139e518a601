import { lastIndex } from '../check/list.ts';
import {
  callsOf,
  hasResults,
  startsTurn,
  type CallPart,
  type Message,
} from '../message/message.ts';
import type { Node } from './thread.ts';

/**
 * Follows the rounds of a path. A round is a run of assistant messages and the results after it; a result is in place
 * when its call is in that run and waits for it. Any other result is stray: its call is missing, was answered already
 * or comes before a later message, and no provider would accept it as a result.
 */
export class OpenCalls {
  readonly #open = new Map<string, CallPart>();
  /** The calls that still wait for their results. */
  readonly open: ReadonlyMap<string, CallPart> = this.#open;
  #answering = false;

  /** True if a message ends the round before it, so that open calls will never be answered. */
  ends(message: Message): boolean {
    if (message.role === 'assistant') return this.#answering;
    return message.role !== 'tool' && !hasResults(message);
  }

  /** Takes the next message of the path and gives the calls that its results answer. */
  next(message: Message): readonly CallPart[] {
    if (this.ends(message)) this.endRound();
    for (const part of message.parts) if (part.kind === 'call') this.#open.set(part.callId, part);
    // A provider's own tools answer within the assistant message: the round goes on.
    if (message.role !== 'assistant' && hasResults(message)) this.#answering = true;
    const answered: CallPart[] = [];
    for (const part of message.parts) {
      const call = part.kind === 'result' ? this.#open.get(part.callId) : undefined;
      if (call === undefined) continue;
      this.#open.delete(call.callId);
      answered.push(call);
    }
    return answered;
  }

  endRound(): void {
    if (this.#open.size > 0) this.#open.clear();
    this.#answering = false;
  }
}

/**
 * Cuts a path into units: the smallest groups that may be taken apart from one another without parting a call from
 * its result, or reasoning from what it led to. Returns the index (within `messages`) at which each unit starts.
 */
export function unitStarts(messages: readonly Message[]): readonly number[] {
  const calls = new OpenCalls();
  const madeAt = new Map<CallPart, number>();
  const starts: number[] = [];
  let thoughtAt: number | undefined;
  messages.forEach((message, i) => {
    let joined = i;
    if (message.role !== 'assistant' || calls.ends(message)) thoughtAt = undefined;
    if (message.role === 'assistant' && isThought(message)) thoughtAt ??= i;
    joined = Math.min(joined, thoughtAt ?? i);
    // What a tool's side says without a result (an approval) means nothing apart from what it answers.
    if (message.role === 'tool' && !hasResults(message))
      joined = Math.min(joined, Math.max(0, i - 1));
    for (const call of calls.next(message)) joined = Math.min(joined, madeAt.get(call) ?? i);
    while ((starts.at(-1) ?? 0) > joined) starts.pop();
    if (joined === i) starts.push(i);
    for (const call of callsOf(message)) madeAt.set(call, i);
  });
  return starts;
}

/**
 * Where the round begins that still waits for results; the length of the path if none does. What is gone from the
 * prompt is past: it ends a round.
 */
export function waitingFrom(
  messages: readonly Message[],
  isGone: (index: number) => boolean = () => false,
): number {
  const calls = new OpenCalls();
  let from = messages.length;
  messages.forEach((message, i) => {
    if (isGone(i) || calls.ends(message)) {
      from = messages.length;
      calls.endRound();
    }
    if (isGone(i)) return;
    calls.next(message);
    if (calls.open.size === 0) from = messages.length;
    else if (from === messages.length) from = i;
  });
  return from;
}

/**
 * The messages of a tool loop that no answer has ended yet: from the user's message that began it up to the newest
 * results and what the user said after them. Empty if none is running.
 */
export function runningLoop(path: readonly Node[]): readonly Node[] {
  const answer = lastIndex(path, ({ message }) => message.role === 'assistant');
  if (answer === -1 || !path.slice(answer + 1).some(({ message }) => hasResults(message)))
    return [];
  const opener = lastIndex(path, ({ message }, i) => i < answer && startsTurn(message));
  return path.slice(Math.max(0, opener));
}

/** The nodes of a path that cannot be shown without one of them. */
export function unitAround(path: readonly Node[], node: Node): readonly Node[] {
  const starts = unitStarts(path.map(({ message }) => message));
  const place = path.findIndex(({ id }) => id === node.id);
  const unit = lastIndex(starts, (start) => start <= place);
  return path.slice(starts[unit], starts[unit + 1]);
}

/** A message that holds nothing but reasoning belongs to the run of assistant messages after it. */
function isThought(message: Message): boolean {
  return message.parts.length > 0 && message.parts.every((part) => part.kind === 'reasoning');
}
