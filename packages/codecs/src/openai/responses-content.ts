import type { FilePart, Part } from '@bobbin/core';
import type { ContentPart, Json } from '@bobbin/core/internal';
import { dataUrl, mediaTypeField, parseDataUrl } from '../wire/data-url.ts';
import { lasting, type Place } from '../wire/place.ts';
import { contentParts } from './chat.ts';

/** The content of a message or an output: a string or a list of parts. */
export function decodeContent(place: Place): readonly ContentPart[] {
  return contentParts(place, decodePart);
}

function decodePart(place: Place): ContentPart {
  const wire = place.object();
  const type = place.at('type').text();
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { kind: 'text', text: place.at('text').text() };
    case 'refusal':
      return { kind: 'text', text: place.at('refusal').text() };
    case 'input_image': {
      const source = sourceOf(place, 'image_url', 'file_id');
      return { kind: 'image', source, ...mediaTypeField(source) };
    }
    case 'input_file': {
      const source = sourceOf(place, 'file_data', 'file_url', 'file_id');
      const name = place.at('filename').optionalText();
      const named = name === undefined ? {} : { name };
      return { kind: 'file', source, ...named, ...mediaTypeField(source) };
    }
    case 'input_audio': {
      const audio = place.at('input_audio');
      const mediaType = `audio/${audio.at('format').text()}`;
      return { kind: 'file', source: dataUrl(mediaType, audio.at('data').text()), mediaType };
    }
    default:
      return { kind: 'opaque', type, value: lasting(wire) };
  }
}

function sourceOf(place: Place, ...fields: readonly string[]): string {
  for (const field of fields) {
    const source = place.at(field).optionalText();
    if (source !== undefined) return source;
  }
  return place.fail(`must have ${fields.join(' or ')}`);
}

/** Text alone is a string; anything else is a list of parts, of the model's own kinds in its messages. */
export function encodeContent(parts: readonly Part[], isOutput: boolean): Json {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.kind === 'text') return first.text;
  return parts.flatMap((part) => encodePart(part, isOutput));
}

function encodePart(part: Part, isOutput: boolean): Json[] {
  switch (part.kind) {
    case 'text':
      return [
        isOutput
          ? { type: 'output_text', text: part.text, annotations: [] }
          : { type: 'input_text', text: part.text },
      ];
    case 'image':
      return [
        /^(?:data:|https?:)/.test(part.source)
          ? { type: 'input_image', detail: 'auto', image_url: part.source }
          : { type: 'input_image', detail: 'auto', file_id: part.source },
      ];
    case 'file':
      return [encodeFile(part)];
    case 'opaque':
      return [part.value];
    case 'reasoning':
    case 'call':
    case 'result':
      return [];
  }
}

function encodeFile({ source, name, mediaType }: FilePart): Json {
  const data = parseDataUrl(source);
  if (data !== undefined && mediaType?.startsWith('audio/') === true) {
    const format = mediaType.slice('audio/'.length);
    return { type: 'input_audio', input_audio: { data: data.base64, format } };
  }
  const field =
    data === undefined ? (/^https?:/.test(source) ? 'file_url' : 'file_id') : 'file_data';
  return { type: 'input_file', [field]: source, ...(name === undefined ? {} : { filename: name }) };
}
