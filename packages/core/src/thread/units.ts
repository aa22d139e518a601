import { callsOf, hasCalls, hasResults, resultsOf, type Message } from './message.ts';

/**
 * Where a round's calls and results sit. A round is a run of assistant messages and the results behind it; a
 * result is seated when its call stands in that run. Any other result is stray: its call is missing, was answered
 * already or lies behind a later message, and no provider would take it as a result.
 */
export class Seats {
  #open = new Set<string>();
  #answering = false;

  /** The calls that still wait for their results. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  /** Takes the next message of a path and tells which of its results are seated. */
  next(message: Message): ReadonlySet<string> {
    const seated = new Set<string>();
    if (hasResults(message)) {
      this.#answering = true;
      for (const { callId } of resultsOf(message))
        if (this.#open.delete(callId)) seated.add(callId);
      return seated;
    }
    if (message.role !== 'assistant' || this.#answering) {
      this.#open = new Set();
      this.#answering = false;
    }
    if (hasCalls(message)) for (const { callId } of callsOf(message)) this.#open.add(callId);
    return seated;
  }
}

/**
 * Cuts a path into units: the smallest groups that may be taken apart from one another without parting a call from
 * its result, or reasoning from what it led to. Returns the index (within `messages`) at which each unit starts.
 */
export function unitStarts(messages: readonly Message[]): readonly number[] {
  const callAt = new Map<string, number>();
  const starts: number[] = [];
  const seats = new Seats();
  messages.forEach((message, i) => {
    const seated = seats.next(message);
    let joined = i;
    for (const callId of seated) joined = Math.min(joined, callAt.get(callId) ?? i);
    if (isThought(messages[i - 1]) && message.role === 'assistant')
      joined = Math.min(joined, i - 1);
    while ((starts.at(-1) ?? 0) > joined) starts.pop();
    if (joined === i) starts.push(i);
    for (const { callId } of callsOf(message)) callAt.set(callId, i);
  });
  return starts;
}

/** A message that holds nothing but reasoning belongs to the assistant message behind it. */
function isThought(message: Message | undefined): boolean {
  return (
    message !== undefined &&
    message.parts.length > 0 &&
    message.parts.every((part) => part.kind === 'reasoning')
  );
}
