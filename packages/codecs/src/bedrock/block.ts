import type { FilePart, ImagePart, Message, Part, ResultPart } from '@bobbin/core';
import { isJsonObject, type ContentPart, type JsonObject, jsonText } from '@bobbin/core/internal';
import { dataUrl, parseDataUrl } from '../wire/data-url.ts';
import { argsObject } from '../wire/json-text.ts';
import type { KnownCalls } from '../wire/known-calls.ts';
import { lasting, type Place } from '../wire/place.ts';
import { jsonParts } from '../wire/readable.ts';
import { serverToolsAsText } from '../wire/server-tool.ts';
import { base64In, bytesOf } from './bytes.ts';

/** The kind of a block is the name of its only field. */
function kindOf(block: JsonObject): string {
  return Object.keys(block).find((name) => block[name] !== undefined) ?? 'block';
}

/** Reads a block. Tools that the model's host runs are pairs if the same message holds both halves. */
export function decodeBlock(
  place: Place,
  calls: KnownCalls,
  server: ReadonlySet<unknown>,
): readonly Part[] {
  const kind = kindOf(place.object());
  const inner = place.at(kind);
  switch (kind) {
    case 'toolUse': {
      const [callId, tool] = [inner.at('toolUseId').text(), inner.at('name').text()];
      if (inner.at('type').value === 'server_tool_use' && !server.has(callId))
        return [{ kind: 'opaque', type: kind, value: lasting(place.object()) }];
      calls.tools.set(callId, tool);
      return [{ kind: 'call', callId, tool, args: jsonText(inner.at('input').json()) }];
    }
    case 'toolResult':
      return [decodeResult(inner, calls)];
    case 'reasoningContent':
      return [decodeReasoning(inner)];
    case 'cachePoint':
      // It moves from request to request, and says nothing.
      return [];
    default:
      return decodeContent(place);
  }
}

/** The calls of a message that are answered within it. */
export function answeredWithin(places: readonly Place[]): ReadonlySet<unknown> {
  return new Set(
    places
      .filter((place) => place.has('toolResult'))
      .map((p) => p.at('toolResult').at('toolUseId').value),
  );
}

function decodeResult(place: Place, calls: KnownCalls): ResultPart {
  const callId = place.at('toolUseId').text();
  const failed = place.at('status').value === 'error' ? { outcome: 'failure' as const } : {};
  const content = place.at('content').list().flatMap(decodeContent);
  return { kind: 'result', callId, ...calls.field(callId), ...failed, content };
}

function decodeReasoning(place: Place): Part {
  if (place.has('reasoningText')) {
    const thought = place.at('reasoningText');
    const signature = thought.at('signature').optionalText();
    const part = { kind: 'reasoning', text: thought.at('text').text() } as const;
    return signature === undefined ? part : { ...part, signature };
  }
  const signature = base64In(place.at('redactedContent').json());
  return { kind: 'reasoning', text: '', ...(signature === undefined ? {} : { signature }) };
}

function decodeContent(place: Place): readonly ContentPart[] {
  const wire = place.object();
  const kind = kindOf(wire);
  const inner = place.at(kind);
  switch (kind) {
    case 'text':
      return inner.value === '' ? [] : [{ kind: 'text', text: inner.text() }];
    case 'json':
      return jsonParts(inner.json());
    case 'image':
    case 'document':
    case 'video':
    case 'audio':
      return decodeMedia(kind, inner);
    case 'searchResult': {
      const texts = inner
        .at('content')
        .list()
        .map((block) => block.at('text').text());
      const head = [inner.at('title').text(), inner.at('source').text()];
      return [{ kind: 'text', text: [...head, ...texts].join('\n') }];
    }
    case 'guardContent':
      return inner.has('text')
        ? [{ kind: 'text', text: inner.at('text').at('text').text() }]
        : [{ kind: 'opaque', type: kind, value: lasting(wire) }];
    case 'citationsContent': {
      const texts = inner.has('content') ? inner.at('content').list() : [];
      return texts.map((block) => ({ kind: 'text', text: block.at('text').text() }));
    }
    default:
      return [{ kind: 'opaque', type: kind, value: lasting(wire) }];
  }
}

function decodeMedia(kind: string, place: Place): readonly ContentPart[] {
  const source = place.at('source');
  const name = place.at('name').optionalText();
  if (source.has('text')) return [{ kind: 'text', text: source.at('text').text() }];
  const mediaType = mediaTypeOf(kind, place.at('format').optionalText());
  const fields = { source: sourceOf(source, mediaType), mediaType };
  if (kind === 'image') return [{ kind: 'image', ...fields }];
  return [{ kind: 'file', ...fields, ...(name === undefined ? {} : { name }) }];
}

const DOCUMENT_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  csv: 'text/csv',
};

function mediaTypeOf(kind: string, format = 'txt'): string {
  if (kind !== 'document') return `${kind}/${format}`;
  return Object.hasOwn(DOCUMENT_TYPES, format)
    ? (DOCUMENT_TYPES[format] as string)
    : `application/${format}`;
}

/** Bytes as a data URL; a place in S3 by its address; what else there is as JSON. */
function sourceOf(place: Place, mediaType: string): string {
  const bytes = base64In(place.object()['bytes']);
  if (bytes !== undefined) return dataUrl(mediaType, bytes);
  const uri = place.has('s3Location') ? place.at('s3Location').at('uri').optionalText() : undefined;
  return uri ?? jsonText(place.json());
}

/** The blocks of a message that is not what came in. Thoughts are left out: unsigned ones are refused. */
export function encodeBlocks(message: Message): readonly JsonObject[] {
  return serverToolsAsText(message).flatMap(encodePart);
}

function encodePart(part: Part): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ text: part.text }];
    case 'reasoning':
      return [];
    case 'call': {
      const { callId: toolUseId, tool: name, args } = part;
      return [{ toolUse: { toolUseId, name, input: argsObject(args) } }];
    }
    case 'result':
      return [{ toolResult: encodeResult(part) }];
    case 'image':
    case 'file':
      return [encodeMedia(part)];
    case 'opaque':
      return [part.value as JsonObject];
  }
}

function encodeResult(result: ResultPart): JsonObject {
  const content = result.content.flatMap(encodePart);
  return {
    toolUseId: result.callId,
    content: content.length === 0 ? [{ text: '(no output)' }] : content,
    ...(result.outcome === 'failure' ? { status: 'error' } : {}),
  };
}

function encodeMedia(part: ImagePart | FilePart): JsonObject {
  const data = parseDataUrl(part.source);
  const mediaType = part.mediaType ?? data?.mediaType ?? '';
  const [group = '', format = ''] = mediaType.split('/');
  const bytes = data && { bytes: bytesOf(data.base64) as unknown as JsonObject };
  const source =
    bytes ?? (part.source.startsWith('s3:') ? { s3Location: { uri: part.source } } : undefined);
  if (source === undefined)
    return { text: `[${mediaType === '' ? part.kind : mediaType} ${part.source}]` };
  if (MEDIA.has(group)) return { [group]: { format, source } };
  const known = Object.entries(DOCUMENT_TYPES).find(([, type]) => type === mediaType)?.[0];
  const name = part.kind === 'file' ? (part.name ?? 'document') : 'document';
  return { document: { format: known ?? format, name, source } };
}

const MEDIA = new Set(['image', 'video', 'audio']);

export function isToolResult(block: JsonObject): boolean {
  return isJsonObject(block['toolResult']);
}
