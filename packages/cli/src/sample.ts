import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import type { ChatMessage } from '@bobbin/codecs';

/** A recorded session: a scripted coding agent at work on this repository, with real results of its tools. */
const SAMPLE = fileURLToPath(new URL('../samples/session.json.br', import.meta.url));

export function readSample(): readonly ChatMessage[] {
  return JSON.parse(brotliDecompressSync(readFileSync(SAMPLE)).toString('utf8')) as ChatMessage[];
}
