import type { CallPart, FilePart, ImagePart, Message, Part, ResultPart } from '@bobbin/core';
import {
  isJsonObject,
  resultText,
  type ContentPart,
  type Json,
  type JsonObject,
  jsonText,
} from '@bobbin/core/internal';
import { dataUrl, parseDataUrl } from '../wire/data-url.ts';
import { argsObject, textOr } from '../wire/json-text.ts';
import type { Block } from '../wire/mixed-message.ts';
import { lasting, type Place } from '../wire/place.ts';
import { jsonParts, readableParts } from '../wire/readable.ts';
import { serverToolsAsText } from '../wire/server-tool.ts';

/** The field of `extra` that holds the thought signatures of a message's calls, by call id. */
export const SIGNATURES = 'thought_signatures';

/** Begins the id of a call that has none on the wire. */
const UNNAMED = 'unnamed:';

type DecodePart = (place: Place) => readonly Part[];

/** Reads the parts of one content. Calls without an id are distinguished by their place, and answered in their order. */
export function partDecoder(places: readonly Place[]): DecodePart {
  const server = serverPairs(places);
  const seen = new Map<string, number>();
  const idOf = (place: Place): string => {
    const name = place.at('name').text();
    const id = place.at('id').optionalText();
    if (id !== undefined && id !== '') return id;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return `${UNNAMED}${name}:${count}`;
  };
  return (place) => {
    const wire = place.object();
    const pair = server.get(wire);
    if (pair !== undefined) return pair;
    if (place.has('functionCall')) {
      const call = place.at('functionCall');
      const [callId, tool] = [idOf(call), call.at('name').text()];
      return [{ kind: 'call', callId, tool, args: jsonText(call.at('args').json() ?? {}) }];
    }
    if (place.has('functionResponse')) {
      const response = place.at('functionResponse');
      return [decodeResponse(response, idOf(response))];
    }
    return [decodeSaid(place)];
  };
}

function decodeResponse(place: Place, callId: string): ResultPart {
  const response = place.at('response').json();
  const failed = isJsonObject(response) && response['error'] !== undefined;
  const media = place.has('parts') ? place.at('parts').list().map(decodeSaid) : [];
  return {
    kind: 'result',
    callId,
    tool: place.at('name').text(),
    ...(failed ? { outcome: 'failure' as const } : {}),
    content: [...responseContent(response), ...media.filter(isContent)],
  };
}

/** Hosts put a result into one field, as Google's own do. Its text is the result, not the JSON around it. */
function responseContent(response: Json): readonly ContentPart[] {
  const fields = isJsonObject(response) ? Object.entries(response) : [];
  const [only] = fields;
  const isWrapped = fields.length === 1 && only !== undefined && WRAPPERS.has(only[0]);
  if (fields.length === 0) return [];
  const value = isWrapped ? (only[1] ?? null) : response;
  if (value === '') return [];
  return typeof value === 'string' ? [{ kind: 'text', text: value }] : jsonParts(value);
}

const WRAPPERS = new Set(['output', 'result', 'error', 'content']);

function isContent(part: Part): part is ContentPart {
  return part.kind !== 'call' && part.kind !== 'result' && part.kind !== 'reasoning';
}

function decodeSaid(place: Place): Part {
  const wire = place.object();
  if (typeof wire['text'] === 'string') {
    const signature = place.at('thoughtSignature').optionalText();
    if (wire['thought'] !== true) return { kind: 'text', text: wire['text'] };
    const thought = { kind: 'reasoning', text: wire['text'] } as const;
    return signature === undefined ? thought : { ...thought, signature };
  }
  if (place.has('inlineData')) {
    const blob = place.at('inlineData');
    const mediaType = blob.at('mimeType').text();
    return mediaPart(dataUrl(mediaType, blob.at('data').text()), mediaType, blob);
  }
  if (place.has('fileData')) {
    const file = place.at('fileData');
    return mediaPart(file.at('fileUri').text(), file.at('mimeType').optionalText(), file);
  }
  const [type = 'part'] = Object.keys(wire);
  return { kind: 'opaque', type, value: lasting(wire) };
}

function mediaPart(source: string, mediaType: string | undefined, place: Place): Part {
  const name = place.at('displayName').optionalText();
  const fields = { source, ...(mediaType === undefined ? {} : { mediaType }) };
  if (mediaType?.startsWith('image/') === true) return { kind: 'image', ...fields };
  return { kind: 'file', ...fields, ...(name === undefined ? {} : { name }) };
}

/** A kind of part that asks Google's own tools, and the one that answers it later in the same content. */
const SERVER_TOOLS = [
  { call: 'executableCode', result: 'codeExecutionResult', tool: 'code_execution' },
  { call: 'toolCall', result: 'toolResponse', tool: 'tool' },
] as const;

/** The parts of the calls and results of Google's own tools, by their wire form, if both are in the content. */
function serverPairs(places: readonly Place[]): ReadonlyMap<JsonObject, readonly Part[]> {
  const pairs = new Map<JsonObject, readonly Part[]>();
  for (const { call, result, tool } of SERVER_TOOLS) {
    const calls = places.filter((place) => place.has(call));
    const results = places.filter((place) => place.has(result));
    calls.forEach((place, i) => {
      const answer = results[i];
      if (answer === undefined) return;
      const asked = place.at(call).object();
      const callId = textOr(asked['id'], `${UNNAMED}${tool}:${i + 1}`);
      const name = textOr(asked['toolType'], tool);
      pairs.set(place.object(), [serverCall(callId, name, asked)]);
      pairs.set(answer.object(), [serverResult(callId, answer.at(result).object())]);
    });
  }
  return pairs;
}

function serverCall(callId: string, tool: string, asked: JsonObject): Part {
  const { id: _, toolType: __, ...args } = asked;
  return { kind: 'call', callId, tool, args: jsonText(args) };
}

function serverResult(callId: string, answer: JsonObject): Part {
  const { outcome, output, id: _, toolType: __, ...rest } = answer;
  const isFailure = typeof outcome === 'string' && !outcome.endsWith('OK');
  const value = output ?? (Object.keys(rest).length === 0 ? '' : rest);
  return {
    kind: 'result',
    callId,
    ...(isFailure ? { outcome: 'failure' as const } : {}),
    content: value === '' ? [] : readableParts(value),
  };
}

/** What the parts of a content say that is in no part of the message: the signatures of its calls. */
export function signatures(blocks: readonly Block[]): JsonObject {
  const signed = blocks.flatMap(({ wire, parts: [part] }) =>
    part?.kind === 'call' && typeof wire['thoughtSignature'] === 'string'
      ? [[part.callId, wire['thoughtSignature']] as const]
      : [],
  );
  return signed.length === 0 ? {} : { [SIGNATURES]: Object.fromEntries(signed) };
}

/** The parts of a message that is not what came in. Thoughts are left out; the signatures of calls are kept. */
export function encodeParts(message: Message): readonly JsonObject[] {
  const signed = message.extra?.[SIGNATURES];
  return serverToolsAsText(message).flatMap((part) =>
    encodePart(part, isJsonObject(signed) ? signed : {}),
  );
}

function encodePart(part: Part, signed: JsonObject): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'reasoning':
      return [];
    case 'call':
      return [encodeCall(part, signed)];
    case 'result':
      return [encodeResponse(part)];
    case 'image':
    case 'file':
      return [encodeMedia(part)];
    case 'opaque':
      return [part.value as JsonObject];
  }
}

function encodeCall({ callId, tool, args }: CallPart, signed: JsonObject): JsonObject {
  const functionCall = { ...idField(callId), name: tool, args: argsObject(args) };
  const thoughtSignature = Object.hasOwn(signed, callId) ? signed[callId] : undefined;
  return thoughtSignature === undefined ? { functionCall } : { functionCall, thoughtSignature };
}

function idField(callId: string): { readonly id?: string } {
  return callId.startsWith(UNNAMED) ? {} : { id: callId };
}

function encodeResponse(result: ResultPart): JsonObject {
  const media = result.content.filter((part) => part.kind === 'image' || part.kind === 'file');
  const field = result.outcome === 'failure' ? 'error' : 'output';
  return {
    functionResponse: {
      ...idField(result.callId),
      name: result.tool ?? 'unknown',
      response: { [field]: resultText(result) },
      ...(media.length === 0 ? {} : { parts: media.map(encodeMedia) }),
    },
  };
}

function encodeMedia({ source, mediaType, ...rest }: ImagePart | FilePart): JsonObject {
  const data = parseDataUrl(source);
  const name = rest.kind === 'file' && rest.name !== undefined ? { displayName: rest.name } : {};
  if (data !== undefined)
    return { inlineData: { mimeType: data.mediaType, data: data.base64, ...name } };
  const type = mediaType === undefined ? {} : { mimeType: mediaType };
  return { fileData: { fileUri: source, ...type, ...name } };
}
