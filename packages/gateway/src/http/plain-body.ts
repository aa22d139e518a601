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
export async function plainBody(
  bytes: Buffer,
  encoding: string | undefined,
  mostBytes: number,
): Promise<Buffer | undefined> {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === '') return bytes;
  if (!Object.hasOwn(DECOMPRESSORS, name)) return undefined;
  const decompress = DECOMPRESSORS[name as keyof typeof DECOMPRESSORS];
  return decompress(bytes, { maxOutputLength: mostBytes }).catch(() => undefined);
}
