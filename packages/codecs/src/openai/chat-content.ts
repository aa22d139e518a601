import { textOf, type Part } from '@bobbin/core';
import type { ContentPart } from '@bobbin/core/internal';
import { dataUrl, mediaTypeField, parseDataUrl } from '../wire/data-url.ts';
import { lasting } from '../wire/leftover.ts';
import type { Place } from '../wire/place.ts';

/** The content of a message: absent, a string or a list of parts. */
export function decodeContent(message: Place): readonly ContentPart[] {
  const place = message.at('content');
  if (place.value === undefined || place.value === null || place.value === '') return [];
  if (typeof place.value === 'string') return [{ kind: 'text', text: place.value }];
  if (!Array.isArray(place.value)) return place.fail('must be a string or a list of parts');
  return place.list().map(decodePart);
}

function decodePart(place: Place): ContentPart {
  const wire = place.object();
  const type = place.at('type').text();
  switch (type) {
    case 'text':
      return { kind: 'text', text: place.at('text').text() };
    case 'refusal':
      return { kind: 'text', text: place.at('refusal').text() };
    case 'image_url': {
      const source = place.at('image_url').at('url').text();
      return { kind: 'image', source, ...mediaTypeField(source) };
    }
    case 'input_audio': {
      const audio = place.at('input_audio');
      const mediaType = `audio/${audio.at('format').text()}`;
      return { kind: 'file', source: dataUrl(mediaType, audio.at('data').text()), mediaType };
    }
    case 'file':
      return decodeFile(place.at('file'));
    default:
      return { kind: 'opaque', type, value: lasting(wire) };
  }
}

function decodeFile(file: Place): ContentPart {
  const source = file.at('file_data').optionalText() ?? file.at('file_id').optionalText();
  if (source === undefined) return file.fail('must have file_data or file_id');
  const name = file.at('filename').optionalText();
  return {
    kind: 'file',
    source,
    ...(name === undefined ? {} : { name }),
    ...mediaTypeField(source),
  };
}

/** Text alone is a string; anything else is a list of parts. */
export function encodeContent(parts: readonly Part[]): string | object[] {
  if (parts.length === 0) return '';
  if (parts.length === 1 && parts[0]?.kind === 'text') return textOf({ parts });
  return parts.flatMap(encodePart);
}

function encodePart(part: Part): object[] {
  switch (part.kind) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image':
      return [{ type: 'image_url', image_url: { url: part.source } }];
    case 'file':
      return [encodeFile(part)];
    case 'opaque':
      return [part.value as object];
    case 'reasoning':
    case 'call':
    case 'result':
      return [];
  }
}

function encodeFile({ source, name, mediaType }: Extract<Part, { kind: 'file' }>): object {
  const data = parseDataUrl(source);
  if (data !== undefined && mediaType?.startsWith('audio/') === true)
    return {
      type: 'input_audio',
      input_audio: { data: data.base64, format: mediaType.slice('audio/'.length) },
    };
  const file = data === undefined ? { file_id: source } : { file_data: source };
  return { type: 'file', file: name === undefined ? file : { ...file, filename: name } };
}
