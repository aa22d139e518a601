import type { Json, JsonObject } from '@bobbin/core';

/**
 * The fields of a wire object that its codec does not read: they belong to the content, so they go to `extra` and
 * enter the id. Absent and null ones say nothing. Cache markers move from request to request: they stay in the
 * original alone, or the same message would have another id each time.
 */
export function leftover(wire: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  const extra: Record<string, Json> = {};
  let found = false;
  for (const [name, value] of Object.entries(wire)) {
    if (value === undefined || value === null || known.has(name) || VOLATILE.has(name)) continue;
    extra[name] = value;
    found = true;
  }
  return found ? extra : undefined;
}

const VOLATILE = new Set(['cache_control', 'prompt_cache_breakpoint']);
const NOTHING: ReadonlySet<string> = new Set();

/** What is not understood, without its cache marker. */
export function lasting(wire: JsonObject): JsonObject {
  return leftover(wire, NOTHING) ?? {};
}
