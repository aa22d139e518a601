import { reversed, sorted } from '../check/list.ts';

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
  try {
    return canonical(value);
  } catch (error) {
    return deepText(value, sortedKeys, error);
  }
}

/** The JSON of a value of any depth. `JSON.stringify` recurses and fails at a few thousand levels. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    return deepText(value, Object.keys, error);
  }
}

type KeysOf = (object: object) => readonly string[];

function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[])
      text += text === '' ? canonical(item) : `,${canonical(item)}`;
    return `[${text}]`;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const key of sortedKeys(object)) {
    const field = object[key];
    if (field === undefined) continue;
    const named = `${JSON.stringify(key)}:${canonical(field)}`;
    text += text === '' ? named : `,${named}`;
  }
  return `{${text}}`;
}

/** A piece of JSON that is written already. */
class Written {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The JSON of a value that is too deep for the stack, made without recursion. Any other error is thrown again. */
function deepText(value: unknown, keysOf: KeysOf, error: unknown): string {
  if (!(error instanceof RangeError)) throw error;
  const pieces: string[] = [];
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (next instanceof Written) pieces.push(next.text);
    else if (next === null || typeof next !== 'object') pieces.push(JSON.stringify(next) ?? 'null');
    else for (const token of reversed(tokensOf(next, keysOf))) rest.push(token);
  }
  return pieces.join('');
}

function tokensOf(value: object, keysOf: KeysOf): unknown[] {
  const tokens: unknown[] = [];
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[])
      tokens.push(new Written(tokens.length === 0 ? '[' : ','), item);
    return [...tokens, new Written(tokens.length === 0 ? '[]' : ']')];
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const key of keysOf(object)) {
    if (object[key] === undefined) continue;
    const before = tokens.length === 0 ? '{' : ',';
    tokens.push(new Written(`${before}${JSON.stringify(key)}:`), object[key]);
  }
  return [...tokens, new Written(tokens.length === 0 ? '{}' : '}')];
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

/** The value of a JSON text, or undefined if the text is not JSON. */
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
