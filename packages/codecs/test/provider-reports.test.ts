import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, type CompactionEvent } from '@bobbin/core';
import {
  anthropic,
  anthropicProblems,
  isKeptByProvider,
  openaiResponsesProblems,
  type AnthropicMessage,
} from '@bobbin/codecs';

const HI: AnthropicMessage = { role: 'user', content: 'Hi' };

/** An answer of the Messages API that edited the context and missed its cache. */
const ANSWER = {
  role: 'assistant',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 900, output_tokens: 5 },
  context_management: {
    applied_edits: [
      { type: 'clear_tool_uses_20250919', cleared_tool_uses: 8, cleared_input_tokens: 50_000 },
      { type: 'clear_thinking_20251015', cleared_thinking_turns: 2, cleared_input_tokens: 700 },
    ],
  },
  diagnostics: { cache_miss_reason: { type: 'tools_changed', cache_missed_input_tokens: 900 } },
};

test('H5 what Anthropic edits and why its cache misses become events', async () => {
  const details: unknown[] = [];
  const onEvent = ({ kind, ...event }: CompactionEvent): void => {
    if (kind === 'provider-edited' && 'edit' in event)
      details.push([kind, event.edit, event.freed]);
    if (kind === 'cache-missed' && 'reason' in event) details.push([kind, event.reason]);
  };
  const bobbin = createBobbin({ codec: anthropic, window: 20_000, onEvent });
  await bobbin.send([HI], () => Promise.resolve(ANSWER));
  assert.deepEqual(details, [
    ['provider-edited', 'clear_tool_uses_20250919', 50_000],
    ['provider-edited', 'clear_thinking_20251015', 700],
    ['cache-missed', 'tools_changed'],
  ]);
  const { context_management: _, diagnostics: __, ...plain } = ANSWER;
  await bobbin.send([HI], () => Promise.resolve(plain));
  assert.equal(details.length, 3, 'an answer without them reports nothing');
});

const RESULT = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' }],
};

test('H5 a request that continues a thread of the provider’s has only what is new', () => {
  const thread = { type: 'continue', previous_message_id: 'msg_1' };
  assert.ok(isKeptByProvider({ thread }));
  assert.ok(isKeptByProvider({ previous_response_id: 'resp_1' }));
  assert.ok(isKeptByProvider({ conversation: 'conv_1' }));
  for (const request of [{ thread: { type: 'create' } }, { previous_response_id: null }, {}])
    assert.equal(isKeptByProvider(request), false);

  assert.deepEqual(anthropicProblems({ messages: [RESULT], thread }), []);
  assert.deepEqual(anthropicProblems({ messages: [RESULT], thread: { type: 'create' } }), [
    'messages[0].content[0]: a result without its call (toolu_1)',
  ]);
  const later = [HI, { role: 'assistant', content: 'Yes' }, RESULT];
  assert.deepEqual(
    anthropicProblems({ messages: later, thread }),
    ['messages[2].content[0]: a result without its call (toolu_1)'],
    'only the first turn answers the stored conversation',
  );
  const output = { type: 'function_call_output', call_id: 'c', output: 'seen' };
  assert.deepEqual(openaiResponsesProblems([output], { previous_response_id: 'resp_1' }), []);
});
