import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';
import { DecodeError } from './decode-error.ts';
import { shallow } from './json-text.ts';

/** A value from outside with the path to it, so that a problem can be located. */
export class Place {
  readonly value: unknown;
  readonly #parent: Place | undefined;
  readonly #key: string | number;

  constructor(name: string, value: unknown);
  constructor(key: string | number, value: unknown, parent: Place);
  constructor(key: string | number, value: unknown, parent?: Place) {
    this.value = value;
    this.#key = key;
    this.#parent = parent;
  }

  get path(): string {
    if (this.#parent === undefined) return String(this.#key);
    return typeof this.#key === 'number'
      ? `${this.#parent.path}[${this.#key}]`
      : `${this.#parent.path}.${this.#key}`;
  }

  /** The place of a field of an object; its value is undefined if it is absent. */
  at(key: string): Place {
    return new Place(key, this.object()[key], this);
  }

  /** The same place with another form of its value. */
  holding(value: unknown): Place {
    return this.#parent === undefined
      ? new Place(String(this.#key), value)
      : new Place(this.#key, value, this.#parent);
  }

  has(key: string): boolean {
    return isJsonObject(this.value) && this.value[key] !== undefined && this.value[key] !== null;
  }

  object(): JsonObject {
    return isJsonObject(this.value) ? this.value : this.fail('must be an object');
  }

  text(): string {
    return typeof this.value === 'string' ? this.value : this.fail('must be a string');
  }

  /** Undefined if it is absent or null. */
  optionalText(): string | undefined {
    return this.value === undefined || this.value === null ? undefined : this.text();
  }

  list(): readonly Place[] {
    if (!Array.isArray(this.value)) return this.fail('must be a list');
    return this.value.map((value: unknown, i) => new Place(i, value, this));
  }

  /** The value as it is: wire data is JSON. */
  json(): Json {
    return (this.value ?? null) as Json;
  }

  fail(problem: string): never {
    throw new DecodeError(this.path, `${problem}, is ${kindOf(this.value)}`);
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' && value.length > 40 ? 'a string' : JSON.stringify(value);
}

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
