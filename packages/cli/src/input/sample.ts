import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

const SAMPLE = fileURLToPath(new URL('../../samples/session.json.br', import.meta.url));

/** A recorded session: a scripted coding agent at work on this repository, with real results of its tools. */
export function readSample(): string {
  return brotliDecompressSync(readFileSync(SAMPLE)).toString('utf8');
}
