import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpaque } from '@bobbin/core/internal';
import { aiSdk, anthropic, openaiChat, openaiResponses, recogniseSession } from '@bobbin/codecs';
import { lossless } from './lossless.ts';

/** Names that every object has: data from outside may use them as roles, types, ids and fields. */
const NAMES = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];

test('names of JavaScript itself are data like any other', () => {
  for (const name of NAMES) {
    for (const codec of [openaiChat, anthropic, aiSdk])
      assert.deepEqual(lossless(codec, [{ role: name, content: 'a' }]).map(isOpaque), [true]);
    const extra = lossless(openaiChat, [
      JSON.parse(`{"role":"user","content":"a","${name}":{"b":1}}`) as object,
    ]);
    assert.deepEqual(Object.entries(extra[0]?.extra ?? {}), [[name, { b: 1 }]]);
    const items = [
      { type: name, call_id: 'c' },
      { type: 'message', role: name, content: 'a' },
    ];
    assert.deepEqual(lossless(openaiResponses, items).map(isOpaque), [true, true]);
    const call = { type: 'tool-call', toolCallId: name, toolName: name, input: {} };
    const [message] = lossless(aiSdk, [{ role: 'assistant', content: [call] }]);
    assert.ok(message);
    const { original: _, ...rest } = message;
    assert.deepEqual(aiSdk.encode([rest]), [{ role: 'assistant', content: [call] }]);
    const file = `{"type":"session","id":"s"}\n{"type":"message","message":{"role":"${name}"}}\n`;
    assert.deepEqual(recogniseSession(file)?.decode(file).messages.map(isOpaque), [true]);
  }
});
