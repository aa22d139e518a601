/** Where a text stops being JSON. The built-in parser reports this only sometimes. */
export class JsonProblem extends Error {
  override readonly name = 'JsonProblem';
  readonly offset: number;

  constructor(offset: number, problem: string) {
    super(problem);
    this.offset = offset;
  }
}

/** A value inside a JSON text: its first character and the one after its last. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
}

export interface JsonEntry extends JsonRange {
  readonly key: string | number;
}

export const TEXT_AFTER = 'unexpected text after the JSON value';

/** The value that fills a text, or a problem with its place. */
export function wholeValue(text: string, from: number = 0): JsonRange {
  const start = skipSpace(text, from);
  if (start === text.length) throw new JsonProblem(start, 'is empty');
  const end = skipValue(text, start);
  const rest = skipSpace(text, end);
  if (rest < text.length) throw new JsonProblem(rest, TEXT_AFTER);
  return { start, end };
}

/** The items of a list or the fields of an object that starts at an offset; none for any other value. */
export function* entries(text: string, start: number): Generator<JsonEntry> {
  const isList = text[start] === '[';
  if (!isList && text[start] !== '{') return;
  const close = isList ? ']' : '}';
  let at = skipSpace(text, start + 1);
  if (text[at] === close) return;
  for (let index = 0; ; index++) {
    let key: string | number = index;
    if (!isList) {
      const end = skipString(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = skipSpace(text, expect(text, skipSpace(text, end), ':'));
    }
    const end = skipValue(text, at);
    yield { key, start: at, end };
    at = skipSpace(text, end);
    if (text[at] === close) return;
    at = skipSpace(text, expect(text, at, ',', close));
  }
}

/** Where the value at a path begins, or the nearest existing value around it. */
export function offsetOf(text: string, start: number, path: readonly (string | number)[]): number {
  let offset = start;
  for (const key of path) {
    const entry = [...entries(text, offset)].findLast((candidate) => candidate.key === key);
    if (entry === undefined) return offset;
    offset = entry.start;
  }
  return offset;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \n\r\t'.includes(text[at] as string)) at += 1;
  return at;
}

function expect(text: string, at: number, ...wanted: readonly string[]): number {
  if (wanted[0] === text[at]) return at + 1;
  throw new JsonProblem(
    at,
    `expected ${wanted.map((sign) => `"${sign}"`).join(' or ')}, found ${found(text, at)}`,
  );
}

const ATOM = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const CLOSES: Readonly<Record<string, string>> = { '[': ']', '{': '}' };

/** Keeps a list instead of recursing: a value may be nested deeper than the stack. */
function skipValue(text: string, start: number): number {
  const open: string[] = [];
  let at = start;
  do {
    const close = CLOSES[text[at] ?? ''];
    const first = close === undefined ? at : skipSpace(text, at + 1);
    if (close === undefined || text[first] === close) {
      at = skipEnds(text, close === undefined ? skipAtom(text, at) : first + 1, open);
    } else {
      open.push(close);
      at = skipName(text, first, close);
    }
  } while (open.length > 0);
  return at;
}

/** After a value: the end of all that ends with it, or the next value of what is still open. */
function skipEnds(text: string, end: number, open: string[]): number {
  let at = end;
  for (let close = open.at(-1); close !== undefined; close = open.at(-1)) {
    at = skipSpace(text, at);
    if (text[at] !== close)
      return skipName(text, skipSpace(text, expect(text, at, ',', close)), close);
    open.pop();
    at += 1;
  }
  return at;
}

/** The value of the entry that starts here, after its name if it has one. */
function skipName(text: string, at: number, close: string): number {
  if (close === ']') return at;
  return skipSpace(text, expect(text, skipSpace(text, skipString(text, at)), ':'));
}

function skipAtom(text: string, at: number): number {
  if (text[at] === '"') return skipString(text, at);
  ATOM.lastIndex = at;
  if (ATOM.test(text)) return ATOM.lastIndex;
  throw new JsonProblem(at, `expected a value, found ${found(text, at)}`);
}

function skipString(text: string, start: number): number {
  if (text[start] !== '"')
    throw new JsonProblem(start, `expected a name, found ${found(text, start)}`);
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code === 10 || code === 13)
      throw new JsonProblem(start, 'this string does not end on its line');
    if (code < 0x20) throw new JsonProblem(at, 'a control character must be escaped in a string');
    if (code === 0x5c) at = skipEscape(text, at);
  }
  throw new JsonProblem(start, 'this string does not end');
}

const HEX = /u[\dA-Fa-f]{4}/y;

/** The last character of an escape. */
function skipEscape(text: string, at: number): number {
  if ('"\\/bfnrt'.includes(text[at + 1] ?? ' ')) return at + 1;
  HEX.lastIndex = at + 1;
  if (HEX.test(text)) return at + 5;
  throw new JsonProblem(at, 'this is no escape that JSON knows');
}

function found(text: string, at: number): string {
  const sign = text.codePointAt(at);
  return sign === undefined ? 'the end' : JSON.stringify(String.fromCodePoint(sign));
}
