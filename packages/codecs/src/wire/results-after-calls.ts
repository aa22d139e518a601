import type { Message, Part } from '@bobbin/core';
import { callsOf, hasResults, resultsOf, withParts } from '@bobbin/core/internal';

/** An assistant message with the results that go directly after it. */
interface Answered {
  readonly message: Message;
  readonly results: Message[];
}

/**
 * The messages with each result directly after the message that called, for formats that take it nowhere else. A round
 * may hold several assistant messages before its results, if a call was left unanswered or its result came late, and
 * words next to a result before the next one.
 */
export function resultsAfterCalls(messages: readonly Message[]): readonly Message[] {
  const isApart = messages.some((message, i) => {
    const next = messages[i + 1];
    if (message.role === 'assistant')
      return next?.role === 'assistant' && openCalls(message).length > 0;
    if (next === undefined || next.role === 'assistant') return false;
    return says(message) && hasResults(message) && hasResults(next);
  });
  if (!isApart) return messages;
  const ordered: Answered[] = [];
  const calledBy = new Map<string, Answered>();
  for (const message of messages) {
    if (answers(message)) place(message, calledBy, ordered);
    else {
      const answered = { message, results: [] };
      ordered.push(answered);
      if (message.role !== 'assistant') calledBy.clear();
      for (const callId of openCalls(message)) calledBy.set(callId, answered);
    }
  }
  return ordered.flatMap(({ message, results }) => [message, ...results]);
}

function answers(message: Message): boolean {
  return message.role !== 'assistant' && hasResults(message);
}

function says({ parts }: Message): boolean {
  return parts.some(({ kind }) => kind !== 'result');
}

function openCalls(message: Message): readonly string[] {
  if (message.role !== 'assistant') return [];
  const answered = new Set(resultsOf(message).map(({ callId }) => callId));
  return callsOf(message)
    .map(({ callId }) => callId)
    .filter((callId) => !answered.has(callId));
}

/** Puts results after the message whose calls they answer. The message is split if they go apart, or next to words. */
function place(
  message: Message,
  calledBy: ReadonlyMap<string, Answered>,
  ordered: Answered[],
): void {
  const last = ordered[ordered.length - 1];
  const byCall = new Map<Answered | undefined, Part[]>();
  for (const part of message.parts) {
    if (part.kind !== 'result') continue;
    const own = calledBy.get(part.callId) ?? last;
    byCall.set(own, [...(byCall.get(own) ?? []), part]);
  }
  const said = message.parts.filter(({ kind }) => kind !== 'result');
  const isWhole = byCall.size === 1 && said.length === 0;
  for (const [own, parts] of byCall)
    own?.results.push(isWhole ? message : withParts(message, parts));
  if (said.length > 0) ordered.push({ message: withParts(message, said), results: [] });
}
