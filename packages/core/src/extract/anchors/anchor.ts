/** What an anchor looks like. */
export const KIND = {
  path: 0,
  dotted: 1,
  snake: 2,
  camel: 3,
  hash: 4,
  code: 5,
  number: 6,
} as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

/** An exact string that cannot be guessed. */
export interface Anchor {
  /** What it is known by: a path by its last two names, anything else by its spelling. */
  readonly key: string;
  readonly kind: Kind;
  readonly full: string;
}

const SHORTEST = 4;
const LONGEST = 160;
/** Longer runs without a space are data, not names; looking into them would cost time for nothing. */
const LONGEST_CHUNK = 400;

/** Words that a slash or a dot joins in prose. */
const PROSE = new Set(
  'and/or either/or he/she his/her him/her s/he yes/no on/off true/false input/output e.g i.e a.k.a w.r.t'.split(
    ' ',
  ),
);
const LONGEST_PROSE = 12;

export function keyOfPath(path: string): string {
  return keyOf(namesOf(path));
}

function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '');
}

const keyOf = (names: readonly string[]): string => names.slice(-2).join('/');

/** The anchors of a chunk: a path with the names in it, or a name with the names that its dots join. */
function anchorsIn(chunk: string): readonly Anchor[] | null {
  const whole = trimmed(chunk);
  if (whole.length <= LONGEST_PROSE && PROSE.has(whole.toLowerCase())) return null;
  const found: Anchor[] = [];
  if (whole.includes('/')) {
    const names = namesOf(whole);
    if (names.length > 1 && whole.length <= LONGEST && /[A-Za-z]/.test(whole))
      found.push({ key: keyOf(names), kind: KIND.path, full: whole });
    for (const name of names) addName(name, found);
  } else addName(whole, found);
  return found.length === 0 ? null : found;
}

function addName(raw: string, found: Anchor[]): void {
  const name = trimmed(raw);
  if (name.length < SHORTEST || name.length > LONGEST) return;
  const kind = kindOf(name);
  if (kind !== undefined) found.push({ key: name, kind, full: name });
  if (kind !== KIND.dotted) return;
  for (const piece of name.split('.'))
    if (piece.length >= SHORTEST && kindOf(piece) !== undefined) addName(piece, found);
}

/** Without the joints at its ends that belong to the sentence around it. */
function trimmed(chunk: string): string {
  let [from, to] = [0, chunk.length];
  while (to > from && isLoose(chunk.charCodeAt(to - 1))) to--;
  const first = chunk.charCodeAt(0);
  if (first === SLASH || first === DOT || first === DASH || first === PLUS) {
    if (chunk.startsWith('//')) from = 2;
    if (!/^\.{0,2}\//.test(chunk)) while (from < to && '.-+'.includes(chunk.charAt(from))) from++;
  }
  return from === 0 && to === chunk.length ? chunk : chunk.slice(from, to);
}

/** True for a joint that may end a sentence; an underscore belongs to its name. */
const isLoose = (code: number): boolean => code !== LOW_LINE && CLASS[code] === JOINT;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const UUID_CHARS = 36;
const YEAR = /^(?:19|20)\d\d$/;
const DATA_HEX = 64;

/** What kind of name this is; undefined if it is a word that anybody could guess. */
function kindOf(name: string): Kind | undefined {
  const { letters, digits, humps, dots, lows, dashes, hex, upper } = shapeOf(name);
  if (hex && digits > 0 && letters > 0 && name.length >= 7)
    return name.length <= DATA_HEX ? KIND.hash : undefined;
  if (name.length === UUID_CHARS && UUID.test(name)) return KIND.hash;
  if (letters === 0) return isSpecificNumber(name, digits, dots) ? KIND.number : undefined;
  if (dots > 0) return KIND.dotted;
  if (lows > 0) return KIND.snake;
  if (humps > 0) return KIND.camel;
  if (digits === 0) return undefined;
  return upper === letters || digits >= 3 || dashes > 0 ? KIND.code : undefined;
}

/** Versions, references, amounts of money, and long numbers that are not years. */
function isSpecificNumber(name: string, digits: number, dots: number): boolean {
  if (dots > 1) return true;
  if (name.startsWith('#') || name.startsWith('$')) return digits > 0;
  return digits >= 4 && dots === 0 && !YEAR.test(name);
}

interface Shape {
  readonly letters: number;
  readonly upper: number;
  readonly digits: number;
  /** Capitals after a small letter, and capitals of a second word: `fooBar`, `FooBar`, `HTTPServer`. */
  readonly humps: number;
  /** Dots and underscores between what they join. */
  readonly dots: number;
  readonly lows: number;
  readonly dashes: number;
  readonly hex: boolean;
}

function shapeOf(name: string): Shape {
  let [letters, upper, digits, humps, dots, lows, dashes] = [0, 0, 0, 0, 0, 0, 0];
  let [hex, before, run] = [true, 0, 0];
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    const kind = CLASS[code] as number;
    run = kind === UPPER ? run + 1 : kind === LOWER && run > 1 ? -1 : 0;
    if (kind === DIGIT) digits++;
    else if (kind === LOWER || kind === UPPER) {
      letters++;
      if (kind === UPPER) upper++;
      if (kind === UPPER && before === LOWER) humps++;
      // `HTTPServer`; `URLs` is a plural.
      if (run === -1 && i + 1 < name.length) humps++;
      if (code > 102 || kind === UPPER) hex = false;
    } else {
      hex = false;
      if (code === DOT && before !== 0 && before !== JOINT) dots++;
      if (code === LOW_LINE) lows++;
      if (code === DASH && letters > 0) dashes++;
    }
    before = kind;
  }
  return { letters, upper, digits, humps, dots, lows, dashes, hex };
}

const JOINTS = '_$@.+~/#-';

/** Character classes: 0 outside a chunk, 1 lower case, 2 upper case, 3 digit, 4 a joint. */
const CLASS = new Uint8Array(128);
for (let c = 97; c <= 122; c++) CLASS[c] = 1;
for (let c = 65; c <= 90; c++) CLASS[c] = 2;
for (let c = 48; c <= 57; c++) CLASS[c] = 3;
for (const c of JOINTS) CLASS[c.charCodeAt(0)] = 4;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const JOINT = 4;
const DOLLAR = 36;
const PLUS = 43;
const DASH = 45;
const DOT = 46;
const SLASH = 47;
const LOW_LINE = 95;
const COMMA = 44;
const BACKSLASH = 92;

function isInChunk(code: number): boolean {
  return code < 128 && CLASS[code] !== 0;
}

/** The first place, at or after a given one, where no chunk would be cut apart. */
export function chunkEnd(text: string, at: number): number {
  const most = Math.min(text.length, at + LONGEST_CHUNK);
  let end = at;
  while (end < most && isInChunk(text.charCodeAt(end))) end++;
  return end;
}

/** How a text is written: as it is, or with the escapes of JSON. */
export type Form = 'plain' | 'json';

/** Called for each chunk that holds anchors, with its position and the anchors. */
export type Met = (anchors: readonly Anchor[], start: number, end: number) => void;

/** 31 to the power of each length of a chunk: what the hash of the text before it has grown by. */
const POWERS = new Int32Array(LONGEST_CHUNK + 1).fill(1);
for (let k = 1; k <= LONGEST_CHUNK; k++) POWERS[k] = Math.imul(POWERS[k - 1] as number, 31);

/** A chunk that was taken apart. */
interface Known {
  readonly chunk: string;
  readonly anchors: readonly Anchor[] | null;
}

/**
 * Reads texts chunk by chunk (a chunk has no space) and remembers what each spelling holds, so that a name that
 * comes a thousand times is taken apart once. One reader serves a run over some messages; it is dropped with it.
 */
export class AnchorReader {
  /** By a hash that is taken in passing, so that a known chunk need not be cut out of its text. */
  readonly #known = new Map<number, Known>();

  /** Reads a stretch of a text. The answer is a hash of its names and words, the same for the same line elsewhere. */
  read(text: string, start: number, end: number, met: Met, form: Form = 'plain'): number {
    let hash = 0;
    const isJson = form === 'json';
    for (let i = start; i < end;) {
      let code = text.charCodeAt(i);
      let kind = code < 128 ? (CLASS[code] as number) : 0;
      if (kind === 0) {
        i += isJson && code === BACKSLASH ? jsonEscapeLength(text, i) : 1;
        continue;
      }
      const from = i;
      const before = hash;
      let [lower, upper, digit, joint] = [0, 0, 0, 0];
      do {
        if (kind === 1) lower++;
        else if (kind === UPPER) upper++;
        else if (kind === 3) digit++;
        else joint++;
        hash = (Math.imul(hash, 31) + code) | 0;
        code = ++i < end ? text.charCodeAt(i) : 0;
        kind = code < 128 ? (CLASS[code] as number) : 0;
      } while (kind !== 0);
      if (code === COMMA && joint === 1 && digit > 0 && text.charCodeAt(from) === DOLLAR)
        i = amountEnd(text, i, end);
      const size = i - from;
      if (size < SHORTEST || size > LONGEST_CHUNK) continue;
      if (joint === 0 && digit === 0 && isWord(text.charCodeAt(from), lower, upper)) continue;
      const own = (hash - Math.imul(before, POWERS[size] as number)) | 0;
      const anchors = this.#anchors(text, from, i, own);
      if (anchors !== null) met(anchors, from, i);
    }
    return hash;
  }

  #anchors(text: string, from: number, to: number, hash: number): readonly Anchor[] | null {
    const known = this.#known.get(hash);
    if (known?.chunk.length === to - from && text.startsWith(known.chunk, from))
      return known.anchors;
    const chunk = text.slice(from, to);
    const anchors = anchorsIn(chunk);
    this.#known.set(hash, { chunk, anchors });
    return anchors;
  }
}

/** How long an escape of JSON is: its letter belongs to no name. */
function jsonEscapeLength(text: string, backslashAt: number): number {
  return text.charAt(backslashAt + 1) === 'u' ? 6 : 2;
}

/** `$1,234,567`: commas belong to an amount of money. */
function amountEnd(text: string, at: number, end: number): number {
  let i = at;
  while (i < end && (text.charCodeAt(i) === COMMA || CLASS[text.charCodeAt(i)] === 3)) i++;
  return i;
}

/** A plain word: of one case, or with one capital, in front. */
function isWord(first: number, lower: number, upper: number): boolean {
  return upper === 0 || lower === 0 || (upper === 1 && CLASS[first] === UPPER);
}
