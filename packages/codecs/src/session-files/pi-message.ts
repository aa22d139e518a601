import type { Message, Part, Role, Usage } from '@bobbin/core';
import { jsonText, type ContentPart, type MessageMeta } from '@bobbin/core/internal';
import { dataUrl } from '../wire/data-url.ts';
import { lasting, type Place } from '../wire/place.ts';
import { textField, timeField, tokenCount } from './json-lines.ts';

/** The message of an entry that holds one. */
export function decodePiMessage(place: Place): Message {
  const role = place.at('role').text();
  const decode = ROLES.get(role);
  if (decode === undefined)
    return {
      role: 'system',
      parts: [{ kind: 'opaque', type: role, value: lasting(place.object()) }],
      meta: timeField(place.at('timestamp').value),
    };
  const [speaker, parts] = decode(place);
  return { role: speaker, parts, meta: metaOf(place) };
}

type Decoded = readonly [Role, readonly Part[]];

const ROLES: ReadonlyMap<string, (place: Place) => Decoded> = new Map(
  Object.entries<(place: Place) => Decoded>({
    user: (place) => ['user', decodeContent(place.at('content'))],
    custom: (place) => ['user', decodeContent(place.at('content'))],
    /** As `custom` was called in version 2. */
    hookMessage: (place) => ['user', decodeContent(place.at('content'))],
    system: (place) => ['system', [...decodeContent(place.at('content')), ...sections(place)]],
    assistant: (place) => ['assistant', list(place.at('content')).map(decodeBlock)],
    toolResult: (place) => ['tool', [decodeResult(place)]],
    bashExecution: (place) => ['user', decodeBash(place)],
  }),
);

function list(place: Place): readonly Place[] {
  return place.value === undefined || place.value === null ? [] : place.list();
}

function decodeContent(place: Place): readonly ContentPart[] {
  if (typeof place.value === 'string')
    return place.value === '' ? [] : [{ kind: 'text', text: place.value }];
  return list(place).map(decodeContentBlock);
}

function decodeContentBlock(place: Place): ContentPart {
  const type = place.at('type').text();
  if (type === 'text') return { kind: 'text', text: place.at('text').text() };
  if (type === 'image') {
    const mediaType = place.at('mimeType').text();
    return { kind: 'image', source: dataUrl(mediaType, place.at('data').text()), mediaType };
  }
  return { kind: 'opaque', type, value: lasting(place.object()) };
}

function decodeBlock(place: Place): Part {
  switch (place.at('type').text()) {
    case 'thinking': {
      const signature = textField('signature', place.at('thinkingSignature').value);
      return { kind: 'reasoning', text: place.at('thinking').text(), ...signature };
    }
    case 'toolCall':
      return {
        kind: 'call',
        callId: place.at('id').text(),
        tool: place.at('name').text(),
        args: jsonText(place.at('arguments').json()),
      };
    default:
      return decodeContentBlock(place);
  }
}

function decodeResult(place: Place): Part {
  return {
    kind: 'result',
    callId: place.at('toolCallId').text(),
    tool: place.at('toolName').text(),
    outcome: place.at('isError').value === true ? 'failure' : 'success',
    content: decodeContent(place.at('content')),
  };
}

/** A command that the user ran: the command, and what came of it. */
function decodeBash(place: Place): readonly Part[] {
  const output = place.at('output').text();
  const parts: Part[] = [{ kind: 'text', text: `$ ${place.at('command').text()}` }];
  if (output !== '') parts.push({ kind: 'text', text: output });
  return parts;
}

function sections(place: Place): readonly ContentPart[] {
  if (!place.has('sections')) return [];
  const texts = Object.values(place.at('sections').object());
  return texts.flatMap((text) => (typeof text === 'string' ? [{ kind: 'text', text }] : []));
}

function metaOf(place: Place): MessageMeta {
  const stopped = place.at('stopReason').value;
  return {
    ...timeField(place.at('timestamp').value),
    ...textField('author', place.at('customType').value),
    ...textField('model', place.at('model').value),
    ...(stopped === 'aborted' || stopped === 'error' ? { status: stopped } : {}),
    ...(place.at('role').value === 'assistant' && place.has('usage')
      ? { usage: usageOf(place.at('usage')) }
      : {}),
  };
}

function usageOf(place: Place): Usage {
  const { input, output, cacheRead, cacheWrite } = place.object();
  return {
    inputTokens: tokenCount(input),
    outputTokens: tokenCount(output),
    cacheReadTokens: tokenCount(cacheRead),
    cacheWriteTokens: tokenCount(cacheWrite),
  };
}
