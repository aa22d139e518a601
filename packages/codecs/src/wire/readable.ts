import type { FilePart, ImagePart, TextPart } from '@bobbin/core';
import { isJsonObject, type Json, jsonText } from '@bobbin/core/internal';
import { dataUrl, parseDataUrl } from './data-url.ts';

/** A provider's structured value as text, without what only the provider can read and without bytes. */
export function readableJson(value: Json): string {
  return readable(value).text;
}

/** The same as content: its text, then the pictures and files that are inside it. */
export function readableParts(value: Json): readonly (TextPart | ImagePart | FilePart)[] {
  const { text, media } = readable(value);
  return [{ kind: 'text', text }, ...media];
}

/** A tool's own structured result as content: its JSON, then the pictures and files that are inside it. */
export function jsonParts(value: Json): readonly (TextPart | ImagePart | FilePart)[] {
  const { text, media } = split(value, NEVER);
  return [{ kind: 'text', text }, ...media];
}

interface Readable {
  readonly text: string;
  readonly media: readonly (ImagePart | FilePart)[];
}

function readable(value: Json): Readable {
  return typeof value === 'string' ? { text: value, media: [] } : split(value, UNREADABLE);
}

function split(value: Json, left: RegExp): Readable {
  const media: (ImagePart | FilePart)[] = [];
  const replace = (key: string, field: unknown): unknown => {
    if (left.test(key)) return undefined;
    const part = mediaOf(field);
    if (part === undefined) return field;
    media.push(part);
    return `[${part.mediaType}]`;
  };
  try {
    return { text: JSON.stringify(value, replace), media };
  } catch (error) {
    if (error instanceof RangeError) return { text: jsonText(value), media: [] };
    throw error;
  }
}

const UNREADABLE = /^encrypted_|^(?:signature|fingerprint|cache_control)$/;
const NEVER = /^(?!)/;

/** A data URL, or an object that holds bytes as base64 next to their media type, under the names that providers use. */
function mediaOf(value: unknown): ImagePart | FilePart | undefined {
  if (typeof value === 'string') {
    const mediaType = parseDataUrl(value)?.mediaType ?? '';
    return mediaType === '' ? undefined : mediaPart(mediaType, value);
  }
  if (!isJsonObject(value) || typeof value['data'] !== 'string') return undefined;
  const type = value['media_type'] ?? value['mediaType'] ?? value['mime_type'] ?? value['mimeType'];
  return typeof type === 'string' ? mediaPart(type, dataUrl(type, value['data'])) : undefined;
}

function mediaPart(mediaType: string, source: string): ImagePart | FilePart {
  return { kind: mediaType.startsWith('image/') ? 'image' : 'file', source, mediaType };
}
