import type { Part } from '@bobbin/core';
import { jsonText, type JsonObject } from '@bobbin/core/internal';
import { decodeResult } from './result.ts';
import { textOr } from '../wire/json-text.ts';
import type { KnownCalls } from '../wire/known-calls.ts';
import { lasting, type Place } from '../wire/place.ts';
import { readableJson } from '../wire/readable.ts';
import { callAsText, resultAsText } from '../wire/server-tool.ts';
import { blocksOf, type ServerBlocks, type WireMessage } from '../wire/whole-server-pairs.ts';

/** The parts of a call or result of a tool that the provider runs; undefined for anything else. */
export type DecodeServerPart = (place: Place) => readonly Part[] | undefined;

/**
 * Tools that the provider runs. A result is a pair with its call, also if an earlier message made the call: code that
 * calls the host's tools has its result messages later. A call that this message does not answer has no part.
 */
export function serverParts(
  role: string,
  places: readonly Place[],
  calls: KnownCalls,
): DecodeServerPart {
  const called = idsOf(places, 'tool-call');
  const answered = idsOf(places, 'tool-result');
  const isOpen = (place: Place): boolean =>
    place.at('providerExecuted').value === true && !answered.has(place.at('toolCallId').value);
  for (const place of places)
    if (place.at('type').value === 'tool-call' && isOpen(place))
      calls.addServerCall(place.at('toolCallId').text(), lasting(place.object()));
  return (place) => {
    const { type, toolCallId } = place.object();
    if (type === 'tool-call') return isOpen(place) ? [] : undefined;
    if (type !== 'tool-result' || role !== 'assistant' || called.has(toolCallId)) return undefined;
    const callId = place.at('toolCallId').text();
    const earlier = calls.serverCall(callId);
    return earlier && [callPart(callId, earlier), decodeResult(place)];
  };
}

function idsOf(places: readonly Place[], type: string): ReadonlySet<unknown> {
  const own = places.filter((place) => place.at('type').value === type);
  return new Set(own.map((place) => place.at('toolCallId').text()));
}

function callPart(callId: string, { toolName, input = null }: JsonObject): Part {
  return { kind: 'call', callId, tool: textOr(toolName, 'tool'), args: jsonText(input) };
}

/** The calls that a message leaves to a later message to answer. */
export function openCalls(content: readonly JsonObject[]): readonly JsonObject[] {
  const answered = new Set(
    content.filter(({ type }) => type === 'tool-result').map(({ toolCallId }) => toolCallId),
  );
  return content.filter(
    ({ type, providerExecuted, toolCallId }) =>
      type === 'tool-call' && providerExecuted === true && !answered.has(toolCallId),
  );
}

export const AI_SDK_SERVER_PARTS: ServerBlocks = {
  called: ({ type, providerExecuted, toolCallId }) =>
    type === 'tool-call' && providerExecuted === true ? toolCallId : undefined,
  answered: ({ type, toolCallId }, message) =>
    type === 'tool-result' && message.role === 'assistant' && !isUnmarked(toolCallId, message)
      ? toolCallId
      : undefined,
  // The SDK leaves out callers that are gone by itself.
  caller: () => undefined,
  callsHost: (message) =>
    blocksOf(message).some(
      ({ type, providerExecuted }) => type === 'tool-call' && providerExecuted !== true,
    ),
  isHostsResult: ({ type }, { role }) => type === 'tool-result' && role === 'tool',
  asText({ type, toolName, input = null, output = null }) {
    const text =
      type === 'tool-call'
        ? callAsText(textOr(toolName, 'a tool'), jsonText(input))
        : resultAsText(readableJson(output));
    return { type: 'text', text };
  },
};

/** Some providers answer a call in the same message without marking it as their own. */
function isUnmarked(id: unknown, message: WireMessage): boolean {
  return blocksOf(message).some(
    ({ type, toolCallId, providerExecuted }) =>
      type === 'tool-call' && toolCallId === id && providerExecuted !== true,
  );
}
