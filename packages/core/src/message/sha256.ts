/**
 * SHA-256 in plain TypeScript: core runs in any runtime and imports nothing. A runtime that has a synchronous digest of
 * its own is asked for it, because that is several times as fast.
 */
const K = Int32Array.of(
  0x428a2f98,
  0x71374491,
  0xb5c0fbcf,
  0xe9b5dba5,
  0x3956c25b,
  0x59f111f1,
  0x923f82a4,
  0xab1c5ed5,
  0xd807aa98,
  0x12835b01,
  0x243185be,
  0x550c7dc3,
  0x72be5d74,
  0x80deb1fe,
  0x9bdc06a7,
  0xc19bf174,
  0xe49b69c1,
  0xefbe4786,
  0x0fc19dc6,
  0x240ca1cc,
  0x2de92c6f,
  0x4a7484aa,
  0x5cb0a9dc,
  0x76f988da,
  0x983e5152,
  0xa831c66d,
  0xb00327c8,
  0xbf597fc7,
  0xc6e00bf3,
  0xd5a79147,
  0x06ca6351,
  0x14292967,
  0x27b70a85,
  0x2e1b2138,
  0x4d2c6dfc,
  0x53380d13,
  0x650a7354,
  0x766a0abb,
  0x81c2c92e,
  0x92722c85,
  0xa2bfe8a1,
  0xa81a664b,
  0xc24b8b70,
  0xc76c51a3,
  0xd192e819,
  0xd6990624,
  0xf40e3585,
  0x106aa070,
  0x19a4c116,
  0x1e376c08,
  0x2748774c,
  0x34b0bcb5,
  0x391c0cb3,
  0x4ed8aa4a,
  0x5b9cca4f,
  0x682e6ff3,
  0x748f82ee,
  0x78a5636f,
  0x84c87814,
  0x8cc70208,
  0x90befffa,
  0xa4506ceb,
  0xbef9a3f7,
  0xc67178f2,
);
const START = Int32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);
const encoder = new TextEncoder();
const HEX: Uint8Array = encoder.encode('0123456789abcdef');

/** Kept from call to call, so that the hash of an ordinary message allocates nothing. */
const schedule = new Int32Array(64);
const state = new Int32Array(8);
const digits = Array.from({ length: 64 }, () => 0);
/** A text is hashed in parts of this many characters, so that a large one needs no copy of its bytes. */
const PART_CHARS = 1 << 16;
const scratch = new Uint8Array(PART_CHARS * 3 + 128);
const view = new DataView(scratch.buffer);

type Digest = (content: string | Uint8Array) => string;

interface Crypto {
  readonly hash?: (name: string, content: string | Uint8Array) => string;
}

interface Runtime {
  readonly process?: {
    getBuiltinModule?(name: string): Crypto | undefined;
  };
}

/** The runtime's own digest; undefined if it has none. */
function nativeDigest(): Digest | undefined {
  const { hash } = (globalThis as Runtime).process?.getBuiltinModule?.('node:crypto') ?? {};
  return hash === undefined ? undefined : (content) => hash('sha256', content);
}

/** The SHA-256 of bytes, or of a text's UTF-8 bytes, as 64 hexadecimal digits. */
export const sha256: Digest = nativeDigest() ?? plainSha256;

/* oxlint-disable typescript/no-non-null-assertion -- every index below is within its array */
/** The same without the runtime's help. */
export function plainSha256(content: string | Uint8Array): string {
  state.set(START);
  let length = 0;
  let held = 0;
  for (let from = 0; from < content.length;) {
    const to = partEnd(content, from);
    const written = copyPart(content, from, to, held);
    length += written;
    held = absorbBlocks(held + written);
    from = to;
  }
  finish(held, length);
  for (let i = 0; i < 64; i++) digits[i] = HEX[(state[i >> 3]! >>> (28 - 4 * (i & 7))) & 15]!;
  return String.fromCharCode(...digits);
}

/** A pair of surrogates is one character: no part ends inside it. */
function partEnd(content: string | Uint8Array, from: number): number {
  const to = Math.min(content.length, from + PART_CHARS);
  if (typeof content !== 'string' || to === content.length) return to;
  return (content.charCodeAt(to - 1) & 0xfc00) === 0xd800 ? to - 1 : to;
}

function copyPart(content: string | Uint8Array, from: number, to: number, at: number): number {
  if (typeof content === 'string') {
    const part = from === 0 && to === content.length ? content : content.slice(from, to);
    return encoder.encodeInto(part, at === 0 ? scratch : scratch.subarray(at)).written;
  }
  scratch.set(content.subarray(from, to), at);
  return to - from;
}

/** Takes all whole blocks of the bytes that are held; returns how many bytes are left. */
function absorbBlocks(held: number): number {
  const end = held & ~63;
  for (let offset = 0; offset < end; offset += 64) absorb(view, offset);
  if (end > 0) scratch.copyWithin(0, end, held);
  return held - end;
}

/** The last block ends with the length in bits. */
function finish(held: number, length: number): void {
  const end = ((held + 72) >> 6) << 6;
  scratch.fill(0, held, end);
  scratch[held] = 0x80;
  view.setUint32(end - 8, Math.floor(length / 0x2000_0000));
  view.setUint32(end - 4, (length << 3) >>> 0);
  absorbBlocks(end);
}

function absorb(bytes: DataView, offset: number): void {
  const w = schedule;
  const k = K;
  for (let i = 0; i < 16; i++) w[i] = bytes.getInt32(offset + i * 4);
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (((w[i - 16]! + s0) | 0) + ((w[i - 7]! + s1) | 0)) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  // Four rounds at a time: each writes two of the eight in place, and the rest need not move on.
  for (let i = 0; i < 64; i += 4) {
    h = mixed(e, f, g, h, (k[i]! + w[i]!) | 0);
    d = (d + h) | 0;
    h = (h + spread(a, b, c)) | 0;
    g = mixed(d, e, f, g, (k[i + 1]! + w[i + 1]!) | 0);
    c = (c + g) | 0;
    g = (g + spread(h, a, b)) | 0;
    f = mixed(c, d, e, f, (k[i + 2]! + w[i + 2]!) | 0);
    b = (b + f) | 0;
    f = (f + spread(g, h, a)) | 0;
    e = mixed(b, c, d, e, (k[i + 3]! + w[i + 3]!) | 0);
    a = (a + e) | 0;
    e = (e + spread(f, g, h)) | 0;
    let held = a;
    a = e;
    e = held;
    held = b;
    b = f;
    f = held;
    held = c;
    c = g;
    g = held;
    held = d;
    d = h;
    h = held;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

/** The first sum of a round: what `e`, `f` and `g` make of `h` and the next word. */
function mixed(e: number, f: number, g: number, h: number, word: number): number {
  const sum = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
  return (((((h + sum) | 0) + (g ^ (e & (f ^ g)))) | 0) + word) | 0;
}

/** The second sum of a round. */
function spread(a: number, b: number, c: number): number {
  const sum = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
  return (sum + ((a & b) ^ (c & (a ^ b)))) | 0;
}
