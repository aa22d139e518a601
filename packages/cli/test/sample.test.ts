import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { openaiChat } from '@bobbin/codecs';
import { bpe } from '@bobbin/models';
import { readSample, SAMPLE } from '../src/sample.ts';
import { tellStory } from './sample/story.ts';

// RECORD=1 records the sample anew: a scripted agent works on a copy of this repository.
if (process.env['RECORD'] === '1') {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const text = JSON.stringify(tellStory(root));
  const size = Buffer.byteLength(text);
  const params = {
    [constants.BROTLI_PARAM_SIZE_HINT]: size,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  };
  writeFileSync(SAMPLE, brotliCompressSync(text, { params }));
}

test('the sample is a whole session of about 150 000 tokens, small in the repository', async () => {
  const { message } = await bpe('o200k');
  const messages = openaiChat.decode(readSample());
  const tokens = messages.reduce((sum, m) => sum + message(m), 0);
  assert.ok(tokens > 140_000 && tokens < 165_000, `${tokens} tokens`);
  assert.ok(statSync(SAMPLE).size < 300_000);
});

test('every call of the sample has its result, right behind it', () => {
  const open = new Set<string>();
  for (const message of readSample()) {
    if (message.role === 'tool') assert.ok(open.delete(message.tool_call_id));
    else assert.equal(open.size, 0);
    if (message.role === 'assistant') for (const { id } of message.tool_calls ?? []) open.add(id);
  }
  assert.equal(open.size, 0);
});
