import { sorted } from '../check/list.ts';
/** A JSON value, as it crosses the wire and as it is stored. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/**
 * One text per value: keys sorted, no spaces, absent fields left out. Two values that mean the same give
 * the same text, so it can be hashed and compared.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[])
      text += text === '' ? canonicalJson(item) : `,${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const key of sortedKeys(object)) {
    const field = object[key];
    if (field === undefined) continue;
    const named = `${JSON.stringify(key)}:${canonicalJson(field)}`;
    text += text === '' ? named : `,${named}`;
  }
  return `{${text}}`;
}

/** Up to this many keys are sorted faster by putting each in its place than by a call. */
const FEW_KEYS = 12;

function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object);
  if (keys.length > FEW_KEYS) return sorted(keys);
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string;
    let at = i;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}

/** The value of a JSON text, or undefined where the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
