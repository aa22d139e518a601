import {
  isJsonObject,
  jsonText,
  parseJson,
  type Json,
  type JsonObject,
} from '@bobbin/core/internal';

/** Deeper than any tool's schema or arguments that make sense. */
const MOST_LEVELS = 100;

/** The same value; what is nested too deeply for code that recurses becomes its JSON text. */
export function shallow<Value extends Json | undefined>(
  value: Value,
  levels: number = MOST_LEVELS,
): Value | string {
  if (value === null || typeof value !== 'object') return value;
  if (levels === 0) return jsonText(value);
  const entries = Object.entries(value) as [string, Json | undefined][];
  const now = entries.map(([name, item]) => [name, shallow(item, levels - 1)] as const);
  if (now.every(([, item], i) => item === entries[i]?.[1])) return value;
  return (Array.isArray(value) ? now.map(([, item]) => item) : Object.fromEntries(now)) as Value;
}

export function textOr(value: Json | undefined, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** A call's arguments for an API that takes only an object. */
export function argsObject(args: string): JsonObject {
  const input = parseJson(args);
  return isJsonObject(input) ? input : args.trim() === '' ? {} : { input: args };
}
