import { promisify } from 'node:util';
// The whole module: a name that an older Node lacks would stop it before it can say which Node it needs.
import zlib from 'node:zlib';

const DECOMPRESSORS = {
  gzip: promisify(zlib.gunzip),
  deflate: promisify(zlib.inflate),
  br: promisify(zlib.brotliDecompress),
  zstd: promisify(zlib.zstdDecompress),
} as const;

/** The body of a request without its compression; undefined if that is unknown, broken or too much. */
export function plainBody(
  bytes: Buffer,
  encoding: string | undefined,
  mostBytes: number,
): Buffer | undefined | Promise<Buffer | undefined> {
  if (encoding === undefined) return bytes;
  const name = encoding.trim().toLowerCase();
  if (name === 'identity' || name === '') return bytes;
  if (!Object.hasOwn(DECOMPRESSORS, name)) return undefined;
  const decompress = DECOMPRESSORS[name as keyof typeof DECOMPRESSORS];
  return decompress(bytes, { maxOutputLength: mostBytes }).catch(() => undefined);
}
