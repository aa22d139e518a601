import type { Part } from '@bobbin/core';
import { isJsonObject, type Json, type JsonObject, jsonText } from '@bobbin/core/internal';
import { textOr } from '../wire/json-text.ts';
import type { KnownCalls } from '../wire/known-calls.ts';
import { lasting, type Place } from '../wire/place.ts';
import { readableJson, readableParts } from '../wire/readable.ts';
import { callAsText, resultAsText } from '../wire/server-tool.ts';
import { blocksOf, type ServerBlocks } from '../wire/whole-server-pairs.ts';

const SERVER_CALL = /^(?:server|mcp)_tool_use$/;
const SERVER_RESULT = /._tool_result$/;

export function isServerCall({ type }: JsonObject): boolean {
  return typeof type === 'string' && SERVER_CALL.test(type);
}

function isServerResult({ type }: JsonObject): boolean {
  return typeof type === 'string' && SERVER_RESULT.test(type);
}

/** The parts of a block of a tool that Anthropic runs; undefined for any other block. */
export type DecodeServerBlock = (place: Place) => readonly Part[] | undefined;

/**
 * Tools that Anthropic runs. A result is a pair with its call, also if the call is in an earlier message: code that
 * calls the host's tools has its result messages later. A call that this message does not answer has no part.
 */
export function serverBlocks(blocks: readonly Place[], calls: KnownCalls): DecodeServerBlock {
  const own = new Map<string, JsonObject>();
  const answered = new Set<unknown>();
  for (const place of blocks) {
    const wire = place.object();
    if (isServerCall(wire)) own.set(place.at('id').text(), wire);
    if (isServerResult(wire)) answered.add(place.at('tool_use_id').text());
  }
  for (const [id, wire] of own) if (!answered.has(id)) calls.addServerCall(id, lasting(wire));
  return (place) => {
    const wire = place.object();
    if (isServerCall(wire)) {
      const id = place.at('id').text();
      return answered.has(id) ? [callPart(id, wire)] : [];
    }
    if (!isServerResult(wire)) return undefined;
    const id = place.at('tool_use_id').text();
    if (own.has(id)) return [resultPart(place, id)];
    const earlier = calls.serverCall(id);
    return earlier && [callPart(id, earlier), resultPart(place, id)];
  };
}

function callPart(callId: string, { name, input = null }: JsonObject): Part {
  return { kind: 'call', callId, tool: textOr(name, 'tool'), args: jsonText(input) };
}

function resultPart(place: Place, callId: string): Part {
  const content = place.at('content').json();
  const failed = isFailure(place, content) ? { outcome: 'failure' as const } : {};
  return { kind: 'result', callId, ...failed, content: readableParts(content) };
}

function isFailure(place: Place, content: Json): boolean {
  return (
    place.at('is_error').value === true ||
    (isJsonObject(content) && typeof content['error_code'] === 'string')
  );
}

/** The server tool call whose code made a call; undefined for a call that the model made itself. */
export function callerOf({ type, caller }: JsonObject): string | undefined {
  if (type !== 'tool_use' || !isJsonObject(caller)) return undefined;
  return typeof caller['tool_id'] === 'string' ? caller['tool_id'] : undefined;
}

export const ANTHROPIC_SERVER_BLOCKS: ServerBlocks = {
  called: (block) => (isServerCall(block) ? block['id'] : undefined),
  answered: (block) => (isServerResult(block) ? block['tool_use_id'] : undefined),
  caller: callerOf,
  callsHost: (message) => blocksOf(message).some(({ type }) => type === 'tool_use'),
  isHostsResult: ({ type }) => type === 'tool_result',
  asText(block) {
    const { name, input = null, content = null, caller: _, ...rest } = block;
    if (isServerResult(block)) return { type: 'text', text: resultAsText(readableJson(content)) };
    if (isServerCall(block))
      return { type: 'text', text: callAsText(textOr(name, 'a tool'), jsonText(input)) };
    return { ...rest, name, input };
  },
};
