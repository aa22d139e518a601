import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';

const DECOMPRESSORS = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
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
