import { isJsonObject, parseJson, type Json, type JsonObject } from '../message/json.ts';
import type { CallPart } from '../message/message.ts';
import { cutValue } from './excerpt.ts';

/** Deeper values are shown as text: no provider's tools nest so deep, and wire data must not exhaust the stack. */
const DEEPEST = 16;

interface Read {
  readonly args: JsonObject | undefined;
  /** The lengths of the texts in it, longest last. */
  readonly lengths: readonly number[];
}

const reads = new WeakMap<CallPart, Read>();

/** Arguments are read once: a size that fits is found by trying many. */
function readArgs(call: CallPart): Read {
  let read = reads.get(call);
  if (read === undefined) {
    const parsed = parseJson(call.args);
    const args = isJsonObject(parsed) ? (flattened(parsed, DEEPEST) as JsonObject) : undefined;
    const lengths = args === undefined ? [] : textsOf(args).map(({ length }) => length);
    read = { args, lengths: lengths.toSorted((a, b) => a - b) };
    reads.set(call, read);
  }
  return read;
}

function flattened(value: Json, depth: number): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return JSON.stringify(value);
  if (Array.isArray(value)) return value.map((each: Json) => flattened(each, depth - 1));
  return mapped(value as JsonObject, (each) => flattened(each, depth - 1));
}

function mapped(fields: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value = null]) => [name, change(value)]),
  );
}

function textsOf(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((each) => textsOf(each as Json));
}

/**
 * A call's arguments with long texts cut, so that they hold about so many characters. Every key and every list stays, so
 * that the shape is what the tool takes. Arguments that are no JSON object stay as they are.
 */
export function shortArgs(call: CallPart, chars: number, wayBack: string): string {
  if (call.args.length <= chars) return call.args;
  const { args, lengths } = readArgs(call);
  if (args === undefined) return call.args;
  const room = fairShare(lengths, chars);
  const longest = lengths.at(-1) ?? 0;
  const cut = (value: Json): Json => {
    if (typeof value === 'string')
      return value.length <= room
        ? value
        : cutValue(value, room, value.length === longest ? wayBack : '');
    if (typeof value !== 'object' || value === null) return value;
    return Array.isArray(value) ? value.map(cut) : mapped(value as JsonObject, cut);
  };
  return JSON.stringify(cut(args));
}

/** The most that each of some lengths may have so that all fit together: what short ones do not need, long ones get. */
export function fairShare(lengths: readonly number[], total: number): number {
  let left = total;
  let rest = lengths.length;
  for (const length of lengths.toSorted((a, b) => a - b)) {
    if (length * rest > left) return Math.floor(left / rest);
    left -= length;
    rest -= 1;
  }
  return total;
}
