import type { JsonObject } from '@bobbin/core/internal';
import { shallow } from './json-text.ts';

/**
 * The fields of a wire object that its codec does not read: they belong to the content, so they go to `extra` and
 * enter the id. Absent and null ones say nothing. Cache markers move from request to request: they stay in the
 * original alone, or the same message would have another id each time.
 */
export function leftover(wire: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  const extra = Object.entries(wire).filter(
    ([name, value]) =>
      value !== undefined && value !== null && !known.has(name) && !VOLATILE.has(name),
  );
  return extra.length === 0 ? undefined : (shallow(Object.fromEntries(extra)) as JsonObject);
}

const VOLATILE = new Set(['cache_control', 'prompt_cache_breakpoint']);
const NOTHING: ReadonlySet<string> = new Set();

/** What is not understood, without its cache marker. */
export function lasting(wire: JsonObject): JsonObject {
  return leftover(wire, NOTHING) ?? {};
}
