import { isJsonObject } from '../../message/json.ts';
import { contentHash } from '../../message/message.ts';
import type { Codec } from '../../ports.ts';

/** Bobbin's own copies of a host's messages. A host may change its messages later, and may know them by identity. */
export class HostCopies<Wire> {
  readonly codec: Codec<Wire>;
  readonly #copies = new WeakMap<object, Wire>();
  readonly #hosts = new WeakMap<object, Wire>();
  readonly #contents = new WeakMap<object, string>();

  constructor(codec: Codec<Wire>) {
    this.codec = codec;
  }

  copyOf(wire: Wire): Wire {
    if (!isJsonObject(wire)) return wire;
    const known = this.#copies.get(wire);
    if (known !== undefined && isCopyOf(known, wire)) return known;
    const copy = ownCopy(wire);
    this.#copies.set(wire, copy);
    this.#hosts.set(copy, wire);
    return copy;
  }

  /** Notes that a host now has another object for a message. */
  rehost(copy: Wire, wire: Wire): void {
    if (isJsonObject(copy)) this.#hosts.set(copy, wire);
  }

  /** The hash of what a copy says by itself, without cache markers; undefined if it says nothing. */
  contentOf(copy: Wire): string | undefined {
    if (!isJsonObject(copy)) return undefined;
    let content = this.#contents.get(copy);
    if (content === undefined) {
      content = this.codec.decode([copy]).map(contentHash).join(' ');
      this.#contents.set(copy, content);
    }
    return content === '' ? undefined : content;
  }

  /** The host's own object for a message, unless the host has changed it since; a copy if there is none. */
  handOut(wire: Wire): Wire {
    if (!isJsonObject(wire)) return wire;
    const host = this.#hosts.get(wire);
    return host !== undefined && isCopyOf(wire, host) ? host : ownCopy(wire);
  }
}

/**
 * A copy of a host's message that nobody else can change. Lists and plain objects inside it are copied, and so is the
 * message itself where it is an instance of a class; bytes, dates and other instances inside it are shared.
 */
function ownCopy<T>(message: T): T {
  if (!isObject(message) || Array.isArray(message) || isPlain(message)) return copied(message);
  const copy = Object.create(Object.getPrototypeOf(message) as object) as Instance;
  for (const name of Reflect.ownKeys(message)) copy[name] = copied((message as Instance)[name]);
  return copy as T;
}

type Instance = Record<string | symbol, unknown>;

function copied<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copied) as T;
  if (!isPlain(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  for (const name in copy) if (typeof copy[name] === 'object') copy[name] = copied(copy[name]);
  return copy as T;
}

/**
 * True if a value still equals its copy. It is called for every message of a conversation with each request, so it
 * allocates nothing.
 */
export function isCopyOf(copy: unknown, value: unknown): boolean {
  if (copy === value) return true;
  if (!isObject(copy) || !isObject(value)) return false;
  if (Array.isArray(copy)) return Array.isArray(value) && isListCopyOf(copy, value);
  let more = 0;
  for (const name in copy) {
    if (!isCopyOf(copy[name], value[name])) return false;
    more--;
  }
  for (const _ in value) more++;
  return more === 0;
}

function isListCopyOf(copy: readonly unknown[], value: readonly unknown[]): boolean {
  if (copy.length !== value.length) return false;
  for (let i = 0; i < copy.length; i++) if (!isCopyOf(copy[i], value[i])) return false;
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
