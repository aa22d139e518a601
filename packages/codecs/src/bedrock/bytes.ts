import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';
import { base64Of } from '../wire/data-url.ts';

/** Marks bytes in a message that is kept as JSON. Base64 that came in as text stays text. */
const BYTES = '$bytes';
/** Bytes are in sources of media, and in reasoning that was redacted: never deeper than this. */
const MOST_LEVELS = 8;

/** The message as JSON can hold it. The same object if it holds no bytes. */
export function serializable(wire: JsonObject): JsonObject {
  return changed(wire, MOST_LEVELS, (value) =>
    value instanceof Uint8Array ? { [BYTES]: base64Of(value) } : undefined,
  ) as JsonObject;
}

/** The message as the SDK takes it. */
export function revived(original: unknown): unknown {
  return changed(original, MOST_LEVELS, (value) => {
    const text = isJsonObject(value) ? value[BYTES] : undefined;
    return typeof text === 'string' ? bytesOf(text) : undefined;
  });
}

function changed(value: unknown, levels: number, change: (value: unknown) => unknown): unknown {
  const now = change(value);
  if (now !== undefined) return now;
  if (levels === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const list = items.map((item) => changed(item, levels - 1, change));
    return list.some((item, i) => item !== items[i]) ? list : value;
  }
  const entries = Object.entries(value);
  const fields = entries.map(([name, item]) => [name, changed(item, levels - 1, change)] as const);
  const isSame = fields.every(([, item], i) => item === entries[i]?.[1]);
  return isSame ? value : Object.fromEntries(fields);
}

/** The base64 of bytes, in either form that a kept message has them. */
export function base64In(value: Json | undefined): string | undefined {
  const text = isJsonObject(value) ? value[BYTES] : value;
  return typeof text === 'string' ? text : undefined;
}

export function bytesOf(base64: string): Uint8Array {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
