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

/** An exact string that nobody could guess. */
export interface Anchor {
  /** What it is known by: a path by its last two names, anything else by its spelling. */
  readonly key: string;
  readonly kind: Kind;
  readonly full: string;
}

const PATTERNS: readonly (readonly [RegExp, Kind])[] = [
  [/(?:~|\.{1,2})?\/?(?:[\w@.+-]+\/)+[\w@.+-]+/g, KIND.path],
  [/\b[A-Za-z_$][\w$]*(?:[._][A-Za-z_$][\w$]*)+\b/g, KIND.dotted],
  [/\b[a-z]+(?:[A-Z][a-z0-9]*)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b/g, KIND.camel],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g, KIND.hash],
  [/\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,12}\b/g, KIND.code],
  [/\b\d+(?:\.\d+){2,}\b|\b\d{4,}\b|#\d+\b|\$\d[\d,.]*\d/g, KIND.number],
];
/** Years and turns of speech are no anchors. */
const NEVER = /^(?:19|20)\d\d$|^and\/or$|^\/dev\/null$|^i\.e$|^e\.g$|^node_modules/i;
const SHORTEST = 4;
const LONGEST = 160;
/** Longer runs without a space are data, not names; looking into them would cost time for nothing. */
const LONGEST_CHUNK = 400;

export function keyOfPath(path: string): string {
  return path.split('/').filter(Boolean).slice(-2).join('/');
}

function anchorsIn(chunk: string): readonly Anchor[] | null {
  let out: Anchor[] | null = null;
  for (const [pattern, kind] of PATTERNS) {
    const found = chunk.match(pattern);
    if (found === null) continue;
    for (const raw of found) {
      const full = /[.,:;]$/.test(raw) ? raw.replace(/[.,:;]+$/, '') : raw;
      if (full.length < SHORTEST || full.length > LONGEST || NEVER.test(full)) continue;
      (out ??= []).push(anchorOf(full, kind));
    }
  }
  return out;
}

function anchorOf(full: string, kind: Kind): Anchor {
  if (kind === KIND.path) return { key: keyOfPath(full), kind, full };
  const exact = kind === KIND.dotted && !full.includes('.') ? KIND.snake : kind;
  return { key: full, kind: exact, full };
}

/** Character classes: 0 outside a chunk, 1 lower case, 2 upper case, 3 digit, 4 a joint. */
const CLASS = new Uint8Array(128);
for (let c = 97; c <= 122; c++) CLASS[c] = 1;
for (let c = 65; c <= 90; c++) CLASS[c] = 2;
for (let c = 48; c <= 57; c++) CLASS[c] = 3;
for (const c of '_$@.+~/#-') CLASS[c.charCodeAt(0)] = 4;
const UPPER = 2;
const DOLLAR = 36;
const COMMA = 44;

function isInChunk(code: number): boolean {
  return code < 128 && CLASS[code] !== 0;
}

/** Where no chunk is left to be cut apart, at or behind a place of a text. */
export function chunkEnd(text: string, at: number): number {
  const most = Math.min(text.length, at + LONGEST_CHUNK);
  let end = at;
  while (end < most && isInChunk(text.charCodeAt(end))) end++;
  return end;
}

/** Told of each chunk that holds anchors: where it is, and what they are. */
export type Met = (anchors: readonly Anchor[], start: number, end: number) => void;

/**
 * Reads texts chunk by chunk (a chunk has no space) and remembers what each spelling holds, so that a name that
 * comes a thousand times is taken apart once. One reader serves a run over some messages; it is dropped with it.
 */
export class AnchorReader {
  readonly #known = new Map<string, readonly Anchor[] | null>();

  /** Reads a stretch of a text. The answer is a hash of its names and words, the same for the same line elsewhere. */
  read(text: string, start: number, end: number, met: Met): number {
    let hash = 0;
    for (let i = start; i < end;) {
      let code = text.charCodeAt(i);
      let kind = code < 128 ? (CLASS[code] as number) : 0;
      if (kind === 0) {
        i++;
        continue;
      }
      const from = i;
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
      const anchors = this.#anchors(text.slice(from, i));
      if (anchors !== null) met(anchors, from, i);
    }
    return hash;
  }

  #anchors(chunk: string): readonly Anchor[] | null {
    let anchors = this.#known.get(chunk);
    if (anchors === undefined) {
      anchors = anchorsIn(chunk);
      this.#known.set(chunk, anchors);
    }
    return anchors;
  }
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
