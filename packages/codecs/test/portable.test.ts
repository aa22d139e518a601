import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Part } from '@bobbin/core';
import {
  aiSdk,
  anthropic,
  anthropicProblems,
  openaiChat,
  openaiChatProblems,
  openaiResponses,
  portable,
  recogniseMessages,
} from '@bobbin/codecs';
import { bare } from './lossless.ts';
import type { RecordedMessage } from './recordings.ts';
import { WIRE_FORMS } from './wire-forms.ts';

test('messages for another codec lose what only their own provider takes', () => {
  const items = [
    { type: 'message', role: 'developer', content: 'Rules' },
    { role: 'user', content: 'Go' },
    { type: 'reasoning', summary: [], encrypted_content: 'x' },
    { type: 'message', role: 'assistant', phase: 'commentary', content: 'Two looks' },
    { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'text' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'r2' },
    { type: 'function_call_output', call_id: 'c1', output: 'r1' },
    { type: 'compaction', encrypted_content: 'secret', content: 'known' },
  ];
  const chat = openaiChat.encode(portable(openaiResponses.decode(items)));
  assert.deepEqual(chat, [
    { role: 'system', content: 'Rules' },
    { role: 'user', content: 'Go' },
    {
      role: 'assistant',
      content: 'Two looks',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } },
        { id: 'c2', type: 'function', function: { name: 'patch', arguments: 'text' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c2', content: 'r2' },
    { role: 'tool', tool_call_id: 'c1', content: 'r1' },
    { role: 'system', content: '[compaction] {"type":"compaction","content":"known"}' },
  ]);
  assert.deepEqual(openaiChatProblems(chat), []);
});

test('tools that a provider ran are text for the others', () => {
  const wire = [
    { type: 'server_tool_use', id: 's1', name: 'search', input: { q: 1 } },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
    { type: 'tool_use', id: 't1', name: 'read', input: {} },
  ];
  const messages = anthropic.decode([
    { role: 'assistant', content: wire },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1' }] },
  ]);
  assert.deepEqual(openaiChat.encode(portable(messages)), [
    {
      role: 'assistant',
      content: '[The provider ran search with {"q":1}]\n[]',
      tool_calls: [{ id: 't1', type: 'function', function: { name: 'read', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 't1', content: '' },
  ]);
});

test('call ids that are used again become others, pair by pair', () => {
  const call: Part = { kind: 'call', callId: 'x', tool: 't', args: '{}' };
  const result: Part = { kind: 'result', callId: 'x', content: [{ kind: 'text', text: 'r' }] };
  const messages: Message[] = [
    { role: 'user', parts: [{ kind: 'text', text: 'Go' }] },
    { role: 'assistant', parts: [call, call] },
    { role: 'tool', parts: [result, result] },
    { role: 'assistant', parts: [call] },
    { role: 'tool', parts: [result] },
    { role: 'assistant', parts: [{ kind: 'reasoning', text: 'only this' }] },
  ];
  const carried = portable(messages);
  assert.deepEqual(
    carried.map(({ parts }) => parts.map((part) => 'callId' in part && part.callId)),
    [[false], ['x', 'x-2'], ['x', 'x-2'], ['x-3'], ['x-3']],
  );
  assert.deepEqual(anthropicProblems({ messages: anthropic.encode(carried) }), []);
});

const TALK: readonly RecordedMessage[] = [
  { role: 'user', content: 'Go' },
  {
    role: 'assistant',
    content: 'Reading',
    toolCalls: [{ id: 'c1', name: 'read', args: { p: 1 } }],
  },
  { role: 'tool', toolCallId: 'c1', toolName: 'read', content: 'text' },
  { role: 'assistant', content: 'Done' },
];

test('a conversation says the same in every format, and goes from each to each', () => {
  const said = WIRE_FORMS.map(({ codec, wire }) => portable(codec.decode(wire(TALK))).map(bare));
  for (const messages of said) assert.deepEqual(messages, said[0]);
  for (const { codec } of WIRE_FORMS) {
    const again = codec.decode(codec.encode(said[0] ?? []));
    assert.deepEqual(portable(again).map(bare), said[0], codec.name);
  }
});

const user = (...content: object[]): object[] => [{ role: 'user', content }];

test('the format of a list of messages is recognised by what is in it', () => {
  for (const { codec, wire } of WIRE_FORMS)
    if (codec.name !== 'langchain') assert.equal(recogniseMessages(wire(TALK)), codec);
  assert.equal(recogniseMessages([{ role: 'user', content: 'a' }]), openaiChat);
  assert.equal(recogniseMessages([{ role: 'developer', content: 'a' }]), openaiChat);
  assert.equal(recogniseMessages(user({ type: 'image_url', image_url: {} })), openaiChat);
  assert.equal(recogniseMessages(user({ type: 'image', source: {} })), anthropic);
  assert.equal(recogniseMessages(user({ type: 'image', image: 'AA' })), aiSdk);
  assert.equal(recogniseMessages(user({ type: 'input_text', text: 'a' })), openaiResponses);
  assert.equal(
    recogniseMessages([
      { type: 'message', role: 'assistant', stop_reason: null, content: [{ type: 'thinking' }] },
    ]),
    anthropic,
  );
});

test('a list that is none of messages has no codec', () => {
  assert.equal(recogniseMessages([]), openaiChat);
  for (const list of [[{ a: 1 }], ['hi'], [null], [{ role: 'asistant', content: 'a' }]])
    assert.equal(recogniseMessages(list), undefined, JSON.stringify(list));
  const mixed = [
    { role: 'user', content: 'a' },
    { role: 'asistant', content: 'a' },
  ];
  assert.equal(recogniseMessages(mixed), undefined);
});
