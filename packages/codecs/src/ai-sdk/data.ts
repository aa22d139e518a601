import { isJsonObject, type Json, type JsonObject, jsonText } from '@bobbin/core/internal';
import { base64Of, dataUrl } from '../wire/data-url.ts';

/** The message as JSON can hold it: bytes as base64, URLs as text. The same object if it holds neither. */
export function serializable(wire: JsonObject): JsonObject {
  return withData(wire, (data) => {
    if (isTagged(data, 'data')) return changed(data, 'data', inline);
    return isTagged(data, 'url') ? changed(data, 'url', inline) : inline(data);
  });
}

function inline(value: unknown): unknown {
  if (value instanceof URL) return value.href;
  if (value instanceof Uint8Array) return base64Of(value);
  return value instanceof ArrayBuffer ? base64Of(new Uint8Array(value)) : value;
}

/** The message as the SDK takes it: data that is marked as a URL must be one. */
export function revived(original: unknown): unknown {
  return withData(original as JsonObject, (data) =>
    isTagged(data, 'url')
      ? changed(data, 'url', (url) =>
          typeof url === 'string' && URL.canParse(url) ? new URL(url) : url,
        )
      : data,
  );
}

function isTagged(data: unknown, type: string): data is JsonObject {
  return isJsonObject(data) && data['type'] === type;
}

type Change = (value: unknown) => unknown;

/** Changes the data of images and files, also of those that tools gave; the same object if there are none. */
function withData(wire: JsonObject, change: Change): JsonObject {
  const inPart = (part: unknown): unknown =>
    isTagged(part, 'tool-result')
      ? changed(part, 'output', inOutput)
      : changed(changed(part, 'image', change), 'data', change);
  const inOutput = (output: unknown): unknown =>
    isTagged(output, 'content')
      ? changed(
          output,
          'value',
          each((part) => changed(part, 'data', change)),
        )
      : output;
  return changed(wire, 'content', each(inPart)) as JsonObject;
}

function changed(holder: unknown, field: string, change: Change): unknown {
  if (!isJsonObject(holder) || holder[field] === undefined) return holder;
  const now = change(holder[field]);
  return now === holder[field] ? holder : { ...holder, [field]: now };
}

function each(change: Change): Change {
  return (list) => {
    if (!Array.isArray(list)) return list;
    const items: readonly unknown[] = list;
    const now = items.map(change);
    return now.some((item, i) => item !== items[i]) ? now : items;
  };
}

/** The place of the content of an image or a file: a URL, a data URL, inline text, or a reference as JSON. */
export function sourceOf(data: Json, mediaType: string | undefined): string {
  if (typeof data === 'string')
    return /^(?:https?|data|file|gs):/.test(data)
      ? data
      : dataUrl(mediaType ?? 'application/octet-stream', data);
  if (!isJsonObject(data)) return jsonText(data);
  const { type, data: inner, url, text } = data;
  if (type === 'data' && inner !== undefined) return sourceOf(inner, mediaType);
  if (type === 'url' && typeof url === 'string') return url;
  return type === 'text' && typeof text === 'string' ? text : jsonText(data);
}

const VOLATILE = new Set(['cacheControl', 'cache_control', 'cachePoint', 'promptCacheBreakpoint']);

/** The options that belong to the content: without cache markers, which move from request to request. */
export function lastingOptions(options: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(options)) return undefined;
  const lasting = Object.entries(options).flatMap(([provider, own]) => {
    const fields = Object.entries(isJsonObject(own) ? own : {});
    const kept = fields.filter(([name]) => !VOLATILE.has(name));
    return kept.length === 0 ? [] : [[provider, Object.fromEntries(kept)] as const];
  });
  return lasting.length === 0 ? undefined : Object.fromEntries(lasting);
}
