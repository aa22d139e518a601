import type { ResultPart } from '@bobbin/core';
import { resultText, type ContentPart, type Json, type JsonObject } from '@bobbin/core/internal';
import { sourceOf } from './data.ts';
import { parseDataUrl } from '../wire/data-url.ts';
import { lasting, type Place } from '../wire/place.ts';
import { jsonParts } from '../wire/readable.ts';

export function decodeResult(place: Place): ResultPart {
  const output = place.at('output');
  const type = output.at('type').text();
  const failed = FAILURES.has(type) ? { outcome: 'failure' as const } : {};
  return {
    kind: 'result',
    callId: place.at('toolCallId').text(),
    tool: place.at('toolName').text(),
    ...failed,
    content: decodeOutput(type, output),
  };
}

const FAILURES = new Set(['error-text', 'error-json', 'execution-denied']);

function decodeOutput(type: string, output: Place): readonly ContentPart[] {
  switch (type) {
    case 'text':
    case 'error-text':
      return [{ kind: 'text', text: output.at('value').text() }];
    case 'json':
    case 'error-json':
      return jsonParts(output.at('value').json());
    case 'execution-denied':
      return [{ kind: 'text', text: output.at('reason').optionalText() ?? 'Denied by the user.' }];
    case 'content':
      return output.at('value').list().map(decodeContentPart);
    default:
      return [{ kind: 'opaque', type, value: output.json() }];
  }
}

/** The names that content parts of outputs had over the majors all say image or file, and where it is. */
function decodeContentPart(place: Place): ContentPart {
  const wire = place.object();
  const type = place.at('type').text();
  if (type === 'text') return { kind: 'text', text: place.at('text').text() };
  const data = wire['data'] ?? wire['url'] ?? wire['fileId'] ?? wire['providerReference'];
  if (!/^(?:media|file|image)/.test(type) || data === undefined)
    return { kind: 'opaque', type, value: lasting(wire) };
  const mediaType = place.at('mediaType').optionalText();
  const isImage = type.startsWith('image') || mediaType?.startsWith('image/') === true;
  const source =
    type.includes('-id') && typeof data === 'string' ? data : sourceOf(data, mediaType);
  const fields = { source, ...(mediaType === undefined ? {} : { mediaType }) };
  return isImage ? { kind: 'image', ...fields } : { kind: 'file', ...fields };
}

export function encodeResult(result: ResultPart): object {
  return {
    type: 'tool-result',
    toolCallId: result.callId,
    toolName: result.tool ?? 'unknown',
    output: encodeOutput(result),
  };
}

function encodeOutput(result: ResultPart): JsonObject {
  if (result.content.every((part) => part.kind === 'text'))
    return {
      type: result.outcome === 'failure' ? 'error-text' : 'text',
      value: resultText(result),
    };
  return { type: 'content', value: result.content.map(encodeContentPart) };
}

function encodeContentPart(part: ContentPart): Json {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'opaque':
      return part.value;
    case 'image':
    case 'file': {
      const data = parseDataUrl(part.source);
      const { mediaType } = part;
      if (data !== undefined)
        return { type: `${part.kind}-data`, data: data.base64, mediaType: data.mediaType };
      const url = { type: `${part.kind}-url`, url: part.source };
      return mediaType === undefined ? url : { ...url, mediaType };
    }
  }
}
