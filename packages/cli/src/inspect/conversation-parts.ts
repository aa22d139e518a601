import type { Message, ThreadId } from '@bobbin/core';
import { callsOf, hasCalls, resultsOf, Thread } from '@bobbin/core/internal';
import { callGist } from './gist.ts';

/** A message with its place in the conversation. */
export interface PlacedMessage {
  /** What a summary calls it, too. */
  readonly name: string;
  readonly turn: number;
  readonly message: Message;
  /** For each result, what was called; undefined if no call waits for it. */
  readonly answers: readonly (string | undefined)[];
  /** Calls that no result answers. */
  readonly unanswered: readonly string[];
}

/** A conversation taken apart: turns, rounds, and which result belongs to which call. */
export interface ConversationParts {
  readonly placed: readonly PlacedMessage[];
  readonly turns: number;
  readonly rounds: number;
  readonly pairs: number;
}

export function partsOf(messages: readonly Message[]): ConversationParts {
  const thread = new Thread('inspected' as ThreadId);
  const answered = new Set(messages.flatMap((m) => resultsOf(m).map(({ callId }) => callId)));
  const calls = new Map<string, string>();
  const placed = messages.map((message, index): PlacedMessage => {
    for (const call of callsOf(message)) calls.set(call.callId, callGist(call));
    return {
      name: `m${index + 1}`,
      turn: thread.append(message).turn,
      message,
      answers: resultsOf(message).map(({ callId }) => calls.get(callId)),
      unanswered: callsOf(message)
        .filter(({ callId }) => !answered.has(callId))
        .map(({ tool }) => tool),
    };
  });
  return {
    placed,
    turns: placed.at(-1)?.turn ?? 0,
    rounds: messages.filter(hasCalls).length,
    pairs: placed.flatMap(({ answers }) => answers).filter((call) => call !== undefined).length,
  };
}
