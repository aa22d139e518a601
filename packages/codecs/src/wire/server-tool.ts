import type { CallPart, Message, Part } from '@bobbin/core';
import { callsOf, resultsOf, resultText } from '@bobbin/core/internal';

/**
 * Tools that a provider runs itself answer within the message that calls them. Such a pair is bound to the bytes that
 * the provider made: once its message is changed, it goes out as text.
 */
function serverToolTexts(message: Message): readonly string[] {
  const results = new Map(resultsOf(message).map((result) => [result.callId, result]));
  return callsOf(message).flatMap((call) => {
    const result = results.get(call.callId);
    return result === undefined ? [] : [pairAsText(call, resultText(result))];
  });
}

function pairAsText({ tool, args }: CallPart, result: string): string {
  const head = callAsText(tool, args);
  return result === '' ? head : `${head}\n${result}`;
}

/** A provider's call whose result is gone. */
export function callAsText(tool: string, args: string): string {
  return `[The provider ran ${tool} with ${args}]`;
}

/** A provider's result whose call is gone. */
export function resultAsText(result: string): string {
  return `[A tool of the provider gave]\n${result}`;
}

/** The parts of a message that differs from what its provider made: its tools become text, before all else. */
export function serverToolsAsText(message: Message): readonly Part[] {
  const server = serverCallIds(message);
  if (server.size === 0) return message.parts;
  const texts = serverToolTexts(message).map((text): Part => ({ kind: 'text', text }));
  const own = message.parts.filter(
    (part) => (part.kind !== 'call' && part.kind !== 'result') || !server.has(part.callId),
  );
  return [...texts, ...own];
}

/** The calls whose results are in the same message. */
function serverCallIds(message: Message): ReadonlySet<string> {
  if (message.role !== 'assistant') return new Set();
  const answered = new Set(resultsOf(message).map(({ callId }) => callId));
  return new Set(
    callsOf(message)
      .map(({ callId }) => callId)
      .filter((callId) => answered.has(callId)),
  );
}
