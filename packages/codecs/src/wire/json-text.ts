import {
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  reversed,
} from '@bobbin/core/internal';

/** The JSON of a value of any depth. `JSON.stringify` recurses and fails at a few thousand levels. */
export function jsonText(value: Json): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return deepText(value);
    throw error;
  }
}

/** A piece of JSON that is written already. */
class Written {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function deepText(value: Json): string {
  const pieces: string[] = [];
  const rest: (Json | Written)[] = [value];
  while (rest.length > 0) {
    const next = rest.pop() as Json | Written;
    if (next instanceof Written) pieces.push(next.text);
    else if (next === null || typeof next !== 'object') pieces.push(JSON.stringify(next));
    else for (const token of reversed(tokensOf(next))) rest.push(token);
  }
  return pieces.join('');
}

function tokensOf(value: readonly Json[] | JsonObject): (Json | Written)[] {
  const tokens: (Json | Written)[] = [];
  const isList = !isJsonObject(value);
  for (const [name, item] of Object.entries(value) as [string, Json | undefined][]) {
    if (item === undefined && !isList) continue;
    const comma = tokens.length === 0 ? '' : ',';
    tokens.push(new Written(isList ? comma : `${comma}${JSON.stringify(name)}:`), item ?? null);
  }
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return [new Written(open), ...tokens, new Written(close)];
}

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
