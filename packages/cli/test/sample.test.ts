import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { openaiChat, openaiChatProblems, type ChatMessage } from '@bobbin/codecs';
import { bpe } from '@bobbin/models';
import { tellStory } from './sample/story.ts';

const SAMPLE = fileURLToPath(new URL('../samples/session.json.br', import.meta.url));

// RECORD=1 records the sample anew: a scripted agent works on a copy of this repository.
if (process.env['RECORD'] === '1') {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const text = `${JSON.stringify(tellStory(root), null, 2)}\n`;
  const params = {
    [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  };
  writeFileSync(SAMPLE, brotliCompressSync(text, { params }));
}

test('the sample is a valid session of about 150 000 tokens, small in the repository, and names no machine', async () => {
  const bytes = readFileSync(SAMPLE);
  assert.ok(bytes.length < 300_000);
  const text = brotliDecompressSync(bytes).toString('utf8');
  assert.doesNotMatch(text, /\/tmp\/|\/work\/|\/root\/|\/Users\//);
  const session = JSON.parse(text) as ChatMessage[];
  assert.deepEqual(openaiChatProblems(session), []);
  assert.match(JSON.stringify(session.at(-1)), /fail 0/);
  const { message } = await bpe('o200k');
  const tokens = openaiChat.decode(session).reduce((sum, m) => sum + message(m), 0);
  assert.ok(tokens > 140_000 && tokens < 160_000, `${tokens} tokens`);
});
