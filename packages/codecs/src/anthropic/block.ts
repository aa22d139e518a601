import type { FilePart, ImagePart, Message, Part, ResultPart } from '@bobbin/core';
import { isJsonObject, type ContentPart, type JsonObject, jsonText } from '@bobbin/core/internal';
import { callerOf, isServerCall, serverBlocks } from './server-tool.ts';
import {
  compactionExtra,
  compactionPart,
  splitCompactions,
  withoutCompactions,
} from '../wire/compaction.ts';
import { dataUrl, parseDataUrl } from '../wire/data-url.ts';
import { argsObject } from '../wire/json-text.ts';
import { OPEN_SERVER_CALLS, openServerCalls, type KnownCalls } from '../wire/known-calls.ts';
import type { Block } from '../wire/mixed-message.ts';
import { lasting, type Place } from '../wire/place.ts';
import { serverToolsAsText } from '../wire/server-tool.ts';

/** The blocks of a message's content; a string is one block of text. */
export function decodeBlocks(content: Place, calls: KnownCalls): readonly Block[] {
  if (typeof content.value === 'string') {
    const wire = { type: 'text', text: content.value };
    return content.value === '' ? [] : [{ wire, parts: [{ kind: 'text', text: content.value }] }];
  }
  if (!Array.isArray(content.value)) return content.fail('must be a string or a list of blocks');
  const places = content.list();
  const decodeServer = serverBlocks(places, calls);
  return places.map((place) => {
    const wire = place.object();
    return { wire, parts: decodeServer(place) ?? decodeBlock(place, calls) };
  });
}

function decodeBlock(place: Place, calls: KnownCalls): readonly Part[] {
  switch (place.at('type').text()) {
    case 'thinking':
      return [
        {
          kind: 'reasoning',
          text: place.at('thinking').text(),
          ...signatureField(place.at('signature')),
        },
      ];
    case 'redacted_thinking':
      return [{ kind: 'reasoning', text: '', signature: place.at('data').text() }];
    case 'tool_use': {
      const callId = place.at('id').text();
      const tool = place.at('name').text();
      calls.tools.set(callId, tool);
      return [{ kind: 'call', callId, tool, args: jsonText(place.at('input').json()) }];
    }
    case 'tool_result':
      return [decodeResult(place, calls)];
    case 'compaction':
      // Without content the provider's compaction failed, and it reads everything.
      return isCompaction(place.object())
        ? [compactionPart('compaction')]
        : decodeContentBlock(place);
    default:
      return decodeContentBlock(place);
  }
}

function isCompaction({ type, content }: JsonObject): boolean {
  return type === 'compaction' && typeof content === 'string';
}

function signatureField(place: Place): { readonly signature?: string } {
  const signature = place.optionalText();
  return signature === undefined || signature === '' ? {} : { signature };
}

function decodeResult(place: Place, calls: KnownCalls): ResultPart {
  const callId = place.at('tool_use_id').text();
  const failed = place.at('is_error').value === true ? { outcome: 'failure' as const } : {};
  return {
    kind: 'result',
    callId,
    ...calls.field(callId),
    ...failed,
    content: decodeResultContent(place.at('content')),
  };
}

/** How deep blocks may be inside blocks: a search result in a document in a tool's result. */
const MOST_LEVELS = 3;

function decodeResultContent(place: Place, levels: number = MOST_LEVELS): readonly ContentPart[] {
  if (place.value === undefined || place.value === null || place.value === '') return [];
  if (typeof place.value === 'string') return [{ kind: 'text', text: place.value }];
  if (!Array.isArray(place.value)) return place.fail('must be a string or a list of blocks');
  return place.list().flatMap((block) => decodeContentBlock(block, levels));
}

function decodeContentBlock(place: Place, levels: number = MOST_LEVELS): readonly ContentPart[] {
  const type = place.at('type').text();
  switch (levels === 0 ? 'too deep' : type) {
    case 'text':
      return place.at('text').value === '' ? [] : [{ kind: 'text', text: place.at('text').text() }];
    case 'image':
      return [decodeImage(place.at('source'))];
    case 'document':
      return decodeDocument(place, levels);
    case 'search_result': {
      const head = `${place.at('title').text()}\n${place.at('source').text()}`;
      return [
        { kind: 'text', text: head },
        ...decodeResultContent(place.at('content'), levels - 1),
      ];
    }
    default:
      return [{ kind: 'opaque', type, value: lasting(place.object()) }];
  }
}

function decodeImage(source: Place): ImagePart {
  return { kind: 'image', ...sourceFields(source) };
}

function decodeDocument(place: Place, levels: number): readonly ContentPart[] {
  const source = place.at('source');
  switch (source.at('type').text()) {
    case 'text':
      return [{ kind: 'text', text: source.at('data').text() }];
    case 'content':
      return decodeResultContent(source.at('content'), levels - 1);
    default: {
      const name = place.at('title').optionalText();
      return [{ kind: 'file', ...sourceFields(source), ...(name === undefined ? {} : { name }) }];
    }
  }
}

function sourceFields(place: Place): { readonly source: string; readonly mediaType?: string } {
  switch (place.at('type').text()) {
    case 'base64': {
      const mediaType = place.at('media_type').text();
      return { source: dataUrl(mediaType, place.at('data').text()), mediaType };
    }
    case 'url':
      return { source: place.at('url').text() };
    case 'file':
      return { source: place.at('file_id').text() };
    default:
      return { source: jsonText(place.json()) };
  }
}

/** The blocks of a message that is not what came in. Thoughts are left out: unsigned ones are refused. */
export function encodeBlocks(message: Message): readonly JsonObject[] {
  const blocks = withoutCompactions(serverToolsAsText(message)).flatMap(encodePart);
  const callers = message.extra?.[CALLERS];
  const named = isJsonObject(callers) ? blocks.map((block) => withCaller(block, callers)) : blocks;
  const open = openServerCalls(message);
  const firstCall = named.findIndex(({ type }) => type === 'tool_use');
  const at = firstCall < 0 ? named.length : firstCall;
  const [compactions] = splitCompactions(message.extra);
  return [...compactions, ...named.slice(0, at), ...open, ...named.slice(at)];
}

/** The field of `extra` that names the code which made a message's calls, by call id. */
export const CALLERS = 'callers';

function withCaller(block: JsonObject, callers: JsonObject): JsonObject {
  const { type, id } = block;
  const isMeant = type === 'tool_use' && typeof id === 'string' && Object.hasOwn(callers, id);
  return isMeant ? { ...block, caller: callers[id] } : block;
}

/** What the blocks of a message say that is in none of its parts: calls that it leaves open, and who called. */
export function blockExtra(blocks: readonly Block[]): JsonObject {
  const open = blocks.filter(({ wire, parts }) => isServerCall(wire) && parts.length === 0);
  const callers = blocks.flatMap(({ wire }) =>
    callerOf(wire) === undefined ? [] : [[wire['id'], wire['caller']] as const],
  );
  const compactions = blocks.filter(({ wire }) => isCompaction(wire));
  return {
    ...compactionExtra(compactions.map(({ wire }) => lasting(wire))),
    ...(open.length === 0 ? {} : { [OPEN_SERVER_CALLS]: open.map(({ wire }) => lasting(wire)) }),
    ...(callers.length === 0 ? {} : { [CALLERS]: Object.fromEntries(callers) as JsonObject }),
  };
}

function encodePart(part: Part): readonly JsonObject[] {
  switch (part.kind) {
    case 'call':
      return [{ type: 'tool_use', id: part.callId, name: part.tool, input: argsObject(part.args) }];
    case 'result':
      return [encodeResult(part)];
    case 'reasoning':
      return [];
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    case 'image':
      return [{ type: 'image', source: encodeSource(part) }];
    case 'file':
      return [encodeDocument(part)];
    case 'opaque':
      return [part.value as JsonObject];
  }
}

function encodeResult(result: ResultPart): JsonObject {
  const content = result.content.flatMap(encodePart);
  const [only] = content;
  return {
    type: 'tool_result',
    tool_use_id: result.callId,
    content: content.length === 1 && only?.['type'] === 'text' ? only['text'] : content,
    ...(result.outcome === 'failure' ? { is_error: true } : {}),
  };
}

function encodeSource({ source }: ImagePart | FilePart): JsonObject {
  const data = parseDataUrl(source);
  if (data !== undefined) return { type: 'base64', media_type: data.mediaType, data: data.base64 };
  return /^https?:/.test(source) ? { type: 'url', url: source } : { type: 'file', file_id: source };
}

/** Documents on the wire are PDFs; a file of another type is named. */
function encodeDocument(part: FilePart): JsonObject {
  const data = parseDataUrl(part.source);
  if (data !== undefined && data.mediaType !== 'application/pdf')
    return { type: 'text', text: `[file ${part.name ?? data.mediaType}]` };
  const title = part.name === undefined ? {} : { title: part.name };
  return { type: 'document', source: encodeSource(part), ...title };
}
