import type { Message, Part } from '@bobbin/core';
import { callsOf, hasResults, resultsOf, withParts } from '@bobbin/core/internal';

/** An assistant message with the results that go directly after it. */
interface Answered {
  readonly message: Message;
  readonly results: Message[];
}

/**
 * The messages with each result directly after the message that called, for formats that take it nowhere else. A round
 * may hold several assistant messages before its results, where a call was left unanswered or its result came late.
 */
export function resultsAfterCalls(messages: readonly Message[]): readonly Message[] {
  const isApart = messages.some(
    (message, i) => messages[i + 1]?.role === 'assistant' && openCalls(message).length > 0,
  );
  if (!isApart) return messages;
  const ordered: Answered[] = [];
  const calledBy = new Map<string, Answered>();
  for (const message of messages) {
    const answers = message.role !== 'assistant' && hasResults(message);
    if (answers) seat(message, calledBy, ordered);
    else {
      const answered = { message, results: [] };
      ordered.push(answered);
      if (message.role !== 'assistant') calledBy.clear();
      for (const callId of openCalls(message)) calledBy.set(callId, answered);
    }
  }
  return ordered.flatMap(({ message, results }) => [message, ...results]);
}

function openCalls(message: Message): readonly string[] {
  if (message.role !== 'assistant') return [];
  const answered = new Set(resultsOf(message).map(({ callId }) => callId));
  return callsOf(message)
    .map(({ callId }) => callId)
    .filter((callId) => !answered.has(callId));
}

/** Puts a message of results after the message whose calls it answers; it is split where they are several. */
function seat(
  message: Message,
  calledBy: ReadonlyMap<string, Answered>,
  ordered: readonly Answered[],
): void {
  const last = ordered[ordered.length - 1];
  const seats = new Map<Answered | undefined, Part[]>();
  for (const part of message.parts) {
    const own = part.kind === 'result' ? (calledBy.get(part.callId) ?? last) : last;
    seats.set(own, [...(seats.get(own) ?? []), part]);
  }
  for (const [own, parts] of seats)
    own?.results.push(seats.size === 1 ? message : withParts(message, parts));
}
