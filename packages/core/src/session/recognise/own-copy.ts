/**
 * A copy of a host's message that nobody else can change. Lists and plain objects inside it are copied, and so is the
 * message itself where it is an instance of a class; bytes, dates and other instances inside it are shared.
 */
export function ownCopy<T>(message: T): T {
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
