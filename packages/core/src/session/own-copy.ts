/**
 * A copy that nobody else can write into: lists and plain objects are copied, whatever else they hold is shared. Texts
 * cannot be changed, so that a copy costs no more than the places they stand in.
 */
export function ownCopy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(ownCopy) as T;
  if (!isPlain(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  for (const name in copy) if (typeof copy[name] === 'object') copy[name] = ownCopy(copy[name]);
  return copy as T;
}

/**
 * True where a value still holds what its copy was made of. It is asked of every message of a conversation with each
 * request, so that it makes nothing on its way.
 */
export function isCopyOf(copy: unknown, value: unknown): boolean {
  if (copy === value) return true;
  if (!isObject(copy) || !isObject(value)) return false;
  if (Array.isArray(copy)) return Array.isArray(value) && isListOf(copy, value);
  let more = 0;
  for (const name in copy) {
    if (!isCopyOf(copy[name], value[name])) return false;
    more--;
  }
  for (const _ in value) more++;
  return more === 0;
}

function isListOf(copy: readonly unknown[], value: readonly unknown[]): boolean {
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
