import type { Part } from '@bobbin/core';
import {
  isJsonObject,
  parseJson,
  type Json,
  type JsonObject,
  jsonText,
} from '@bobbin/core/internal';
import { lastingOptions, sourceOf } from './data.ts';
import { decodeResult } from './result.ts';
import { compactionPart } from '../wire/compaction.ts';
import { parseDataUrl } from '../wire/data-url.ts';
import { lasting, type Place } from '../wire/place.ts';

const APPROVALS = new Set<unknown>(['tool-approval-request', 'tool-approval-response']);

export function isApproval({ type }: JsonObject): boolean {
  return APPROVALS.has(type);
}

/**
 * The Anthropic provider puts its note on where an answer began into each streamed one, and leaves it out of every
 * request: a message with it can be compacted like any other.
 */
function isNote({ type, kind }: JsonObject): boolean {
  return type === 'custom' && kind === 'anthropic.message_start';
}

export function decodePart(place: Place): readonly Part[] {
  const wire = place.object();
  const type = place.at('type').text();
  if (isCompaction(wire)) return [compactionPart('compaction')];
  switch (type) {
    case 'text':
      return [{ kind: 'text', text: place.at('text').text() }];
    case 'reasoning':
      return [{ kind: 'reasoning', text: place.at('text').text(), ...signatureField(wire) }];
    case 'reasoning-file':
      return [
        { kind: 'reasoning', text: `[${place.at('mediaType').text()}]`, ...signatureField(wire) },
      ];
    case 'image':
    case 'file':
      return [decodeMedia(place)];
    case 'tool-call':
      return [decodeCall(place)];
    case 'tool-result':
      return [decodeResult(place)];
    default:
      return isApproval(wire) || isNote(wire) ? [] : [opaque(type, wire)];
  }
}

/** Anthropic's compactions are marked texts, OpenAI's are custom parts. */
export function isCompaction({ type, kind, providerOptions }: JsonObject): boolean {
  if (type === 'custom') return kind === 'openai.compaction';
  const options = isJsonObject(providerOptions) ? providerOptions['anthropic'] : undefined;
  return type === 'text' && isJsonObject(options) && options['type'] === 'compaction';
}

function opaque(type: string, wire: JsonObject): Part {
  return { kind: 'opaque', type, value: lasting(wire) };
}

const SIGNATURE = /signature|redacted|encrypted/i;

/** What a provider wants back with a thought, under any name that providers have for it. */
function signatureField(wire: JsonObject): { readonly signature?: string } {
  for (const own of Object.values(lastingOptions(wire['providerOptions']) ?? {})) {
    if (!isJsonObject(own)) continue;
    for (const [name, value] of Object.entries(own))
      if (SIGNATURE.test(name) && typeof value === 'string') return { signature: value };
  }
  return {};
}

function decodeMedia(place: Place): Part {
  const wire = place.object();
  const mediaType = place.at('mediaType').optionalText();
  const name = place.at('filename').optionalText();
  const data = wire['image'] ?? wire['data'];
  if (data === undefined) return place.fail('must have image or data');
  const isImage = wire['type'] === 'image' || mediaType?.startsWith('image') === true;
  const fields = {
    source: sourceOf(data, mediaType),
    ...(mediaType === undefined ? {} : { mediaType }),
  };
  return isImage
    ? { kind: 'image', ...fields }
    : { kind: 'file', ...fields, ...(name === undefined ? {} : { name }) };
}

function decodeCall(place: Place): Part {
  const callId = place.at('toolCallId').text();
  const tool = place.at('toolName').text();
  return { kind: 'call', callId, tool, args: jsonText(place.at('input').json()) };
}

export function encodePart(part: Part, callOptions: JsonObject): object {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'reasoning':
      return { type: 'reasoning', text: part.text };
    case 'image': {
      const { source: image, mediaType } = part;
      return { type: 'image', image, ...(mediaType === undefined ? {} : { mediaType }) };
    }
    case 'file': {
      const { source, name, mediaType = 'application/octet-stream' } = part;
      const data = parseDataUrl(source)?.base64 ?? source;
      return { type: 'file', data, mediaType, ...(name === undefined ? {} : { filename: name }) };
    }
    case 'call': {
      const { callId: toolCallId, tool: toolName, args } = part;
      const input: Json = parseJson(args) ?? args;
      const providerOptions = Object.hasOwn(callOptions, toolCallId)
        ? callOptions[toolCallId]
        : undefined;
      const call = { type: 'tool-call', toolCallId, toolName, input };
      return providerOptions === undefined ? call : { ...call, providerOptions };
    }
    case 'opaque':
      return part.value as object;
    case 'result':
      // Results have separate messages.
      return {};
  }
}
