import type { CallPart, Message, Part } from '@bobbin/core';
import { callsOf, resultsOf, resultText, type Json } from '@bobbin/core/internal';

/**
 * Tools that a provider runs itself answer within the message that calls them. Such a pair is bound to the bytes that
 * the provider made: once its message is changed it can only be told.
 */
function toldServerTools(message: Message): readonly string[] {
  const results = new Map(resultsOf(message).map((result) => [result.callId, result]));
  return callsOf(message).flatMap((call) => {
    const result = results.get(call.callId);
    return result === undefined ? [] : [told(call, resultText(result))];
  });
}

function told({ tool, args }: CallPart, result: string): string {
  const head = `[The provider ran ${tool} with ${args}]`;
  return result === '' ? head : `${head}\n${result}`;
}

/** The parts of a message that is no longer what its provider made: its tools are told, before all else. */
export function withToldServerTools(message: Message): readonly Part[] {
  const server = serverCallIds(message);
  if (server.size === 0) return message.parts;
  const texts = toldServerTools(message).map((text): Part => ({ kind: 'text', text }));
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

/** A provider's structured result as text, without what only the provider can read. */
export function readableJson(value: Json): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, (key, field: unknown) => (UNREADABLE.test(key) ? undefined : field));
}

const UNREADABLE = /^encrypted_|^(?:signature|fingerprint|cache_control)$/;
