import { jsonText } from '@bobbin/core/internal';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** Where the items of a list are in the bytes of a body. */
interface ListBytes extends ByteRange {
  readonly items: readonly ByteRange[];
}

/** A body with a field that has another value, or with one more field. */
export function withField(body: Buffer, name: string, value: object | string): Buffer {
  const given = fieldIn(body, name);
  if (given !== undefined) {
    const text = Buffer.from(jsonText(value));
    return Buffer.concat([body.subarray(0, given.from), text, body.subarray(given.to)]);
  }
  const end = body.lastIndexOf(CLOSE_OBJECT);
  let last = end - 1;
  while (isSpace(body[last])) last--;
  const separator = body[last] === OPEN_OBJECT ? '' : ',';
  const field = `${separator}${JSON.stringify(name)}:${jsonText(value)}`;
  return Buffer.concat([body.subarray(0, end), Buffer.from(field), body.subarray(end)]);
}

/**
 * A body with other items in a list of it. Those that were in the list keep their bytes, and so does everything else in
 * the body. Undefined if the bytes do not hold the list.
 */
export function withOtherItems(
  body: Buffer,
  field: string,
  before: readonly object[],
  after: readonly object[],
): Buffer | undefined {
  const list = listIn(body, field);
  if (list === undefined || list.items.length !== before.length) return undefined;
  const ranges = new Map(before.map((item, i) => [item, list.items[i] as ByteRange]));
  const pieces: Buffer[] = [body.subarray(0, list.from)];
  for (const [i, item] of after.entries()) {
    if (i > 0) pieces.push(SEPARATOR);
    const range = ranges.get(item);
    pieces.push(
      range === undefined ? Buffer.from(jsonText(item)) : body.subarray(range.from, range.to),
    );
  }
  pieces.push(body.subarray(list.to));
  return Buffer.concat(pieces);
}

const SEPARATOR = Buffer.from(',');

/** The list that a field of the outermost object has. */
function listIn(body: Buffer, field: string): ListBytes | undefined {
  const value = fieldIn(body, field);
  return value === undefined ? undefined : itemsIn(body, value.from);
}

/** The value of a field of the outermost object. Of a field that is there twice the last one counts. */
function fieldIn(body: Buffer, field: string): ByteRange | undefined {
  let found: ByteRange | undefined;
  let at = body.indexOf(OPEN_OBJECT) + 1;
  while (at > 0 && at < body.length) {
    const start = body.indexOf(QUOTE, at);
    if (start < 0) break;
    const end = stringEnd(body, start);
    const name = JSON.parse(body.toString('utf8', start, end)) as string;
    const from = body.indexOf(COLON, end) + 1;
    const to = valueEnd(body, from);
    if (name === field) found = { from, to };
    at = body.indexOf(COMMA, to) + 1;
  }
  return found;
}

/** The items of the list that begins at a place; undefined if there is none. */
function itemsIn(body: Buffer, at: number): ListBytes | undefined {
  let from = at;
  while (isSpace(body[from])) from++;
  if (body[from] !== OPEN_LIST) return undefined;
  const items: ByteRange[] = [];
  let next = from + 1;
  for (;;) {
    while (isSpace(body[next]) || body[next] === COMMA) next++;
    if (next >= body.length) return undefined;
    if (body[next] === CLOSE_LIST) return { from: from + 1, to: next, items };
    const to = valueEnd(body, next);
    items.push({ from: next, to });
    next = to;
  }
}

/** Where the value that begins at or after a place ends. The body is known to be JSON. */
function valueEnd(body: Buffer, at: number): number {
  let depth = 0;
  let i = at;
  while (isSpace(body[i])) i++;
  for (; i < body.length; i++) {
    const byte = body[i];
    if (byte === QUOTE) i = stringEnd(body, i) - 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return i;
      depth--;
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return i;
    else continue;
    if (depth === 0) return i + 1;
  }
  return i;
}

/** The place after the string that begins at a place. */
function stringEnd(body: Buffer, start: number): number {
  for (let end = body.indexOf(QUOTE, start + 1); end >= 0; end = body.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (body[end - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  return body.length;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
