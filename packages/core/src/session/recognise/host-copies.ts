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
 * A copy of a host's message that other code cannot change. Lists and plain objects inside it are copied, and so is the
 * message itself if it is an instance of a class; bytes, dates and other instances inside it are shared.
 */
function ownCopy<T extends object>(message: T): T {
  const copy = isPlain(message) ? { ...message } : copyOfInstance(message);
  // Works through a list instead of recursing: a message may be nested deeper than the stack.
  const rest: object[] = [copy];
  while (rest.length > 0) {
    const fields = rest.pop() as Instance;
    for (const name of Reflect.ownKeys(fields)) {
      const field = fields[name];
      if (Array.isArray(field)) rest.push((fields[name] = [...(field as readonly unknown[])]));
      else if (isPlain(field)) rest.push((fields[name] = { ...field }));
    }
  }
  return copy;
}

type Instance = Record<string | symbol, unknown>;

function copyOfInstance<T extends object>(message: T): T {
  const copy = Object.create(Object.getPrototypeOf(message) as object) as Instance;
  for (const name of Reflect.ownKeys(message)) copy[name] = (message as Instance)[name];
  return copy as T;
}

/** Deeper than any message that makes sense, and far from the end of the stack. */
const MOST_LEVELS = 500;

/**
 * True if a value still equals its copy. It is called for every message of a conversation with each request, so it
 * allocates nothing, unless the value is nested deeper than `levels`.
 */
export function isCopyOf(copy: unknown, value: unknown, levels: number = MOST_LEVELS): boolean {
  if (copy === value) return true;
  if (!isObject(copy) || !isObject(value)) return false;
  if (levels === 0) return isDeepCopyOf(copy, value);
  if (Array.isArray(copy)) return Array.isArray(value) && isListCopyOf(copy, value, levels);
  let more = 0;
  for (const name in copy) {
    if (!isCopyOf(copy[name], value[name], levels - 1)) return false;
    more--;
  }
  for (const _ in value) more++;
  return more === 0;
}

/** Lists apart: `for … in` over a list takes several times as long. */
function isListCopyOf(
  copy: readonly unknown[],
  value: readonly unknown[],
  levels: number,
): boolean {
  if (copy.length !== value.length) return false;
  for (let i = 0; i < copy.length; i++) if (!isCopyOf(copy[i], value[i], levels - 1)) return false;
  return true;
}

/** As `isCopyOf`, through a list instead of recursing: the text of a deep value costs its depth squared. */
function isDeepCopyOf(copy: unknown, value: unknown): boolean {
  const rest: unknown[] = [copy, value];
  while (rest.length > 0) {
    const theirs = rest.pop();
    const ours = rest.pop();
    if (ours === theirs) continue;
    if (!isObject(ours) || !isObject(theirs)) return false;
    if (Array.isArray(ours) !== Array.isArray(theirs)) return false;
    let more = 0;
    for (const name in ours) {
      rest.push(ours[name], theirs[name]);
      more--;
    }
    for (const _ in theirs) more++;
    if (more !== 0) return false;
  }
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
