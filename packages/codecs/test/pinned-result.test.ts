import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openaiChat, type ChatMessage } from '@bobbin/codecs';
import { createBobbin } from '@bobbin/core';

test('a pinned tool result is unpinned after a compaction that released its call', async () => {
  const bobbin = createBobbin({ codec: openaiChat, window: 12_000 });
  const history: ChatMessage[] = [{ role: 'user', content: 'Read everything.' }];
  for (let i = 0; i < 40; i++)
    history.push(
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `c${i}`, type: 'function', function: { name: 'read', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: `c${i}`, content: `file ${i}: ${'compute(1); '.repeat(100)}` },
    );
  const pinned = history[2] as ChatMessage;
  await bobbin.pin(pinned, history);
  await bobbin.fit(history);
  await bobbin.compact(history);
  await bobbin.unpin(pinned, history);
  const { plan } = await bobbin.fit(history);
  assert.deepEqual(plan.pins, []);
});
