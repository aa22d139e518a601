import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage } from '@bobbin/core';
import { DecodeError, openaiChat, openaiChatProblems, type ChatMessage } from '@bobbin/codecs';
import { bare, changed, cleared, lossless } from './lossless.ts';

const CALL = {
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
    { id: 'c2', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
  ],
};

test('OpenAI Chat: system and developer are system messages and keep their role', () => {
  const wire = [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: [{ type: 'text', text: 'In French.' }], name: 'host' },
  ];
  const messages = lossless(openaiChat, wire);
  assert.deepEqual(messages.map(bare), [
    { role: 'system', parts: [{ kind: 'text', text: 'Be brief.' }] },
    {
      role: 'system',
      parts: [{ kind: 'text', text: 'In French.' }],
      extra: { role: 'developer', name: 'host' },
    },
  ]);
  assert.deepEqual(openaiChat.encode(changed(messages)), [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: 'In French.', name: 'host' },
  ]);
});

test('OpenAI Chat: every kind of user part, and one that is not known', () => {
  const content = [
    { type: 'text', text: 'Look', prompt_cache_breakpoint: { mode: 'explicit' } },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
    { type: 'input_audio', input_audio: { data: 'BBBB', format: 'wav' } },
    { type: 'file', file: { file_id: 'file-1', filename: 'a.pdf' } },
    { type: 'file', file: { file_data: 'data:application/pdf;base64,CCCC' } },
    { type: 'hologram', depth: 3, cache_control: { type: 'ephemeral' } },
  ];
  const messages = lossless(openaiChat, [{ role: 'user', content }]);
  assert.deepEqual(messages[0]?.parts, [
    { kind: 'text', text: 'Look' },
    { kind: 'image', source: 'data:image/png;base64,AAAA', mediaType: 'image/png' },
    { kind: 'file', source: 'data:audio/wav;base64,BBBB', mediaType: 'audio/wav' },
    { kind: 'file', source: 'file-1', name: 'a.pdf' },
    { kind: 'file', source: 'data:application/pdf;base64,CCCC', mediaType: 'application/pdf' },
    { kind: 'opaque', type: 'hologram', value: { type: 'hologram', depth: 3 } },
  ]);
  assert.deepEqual(openaiChat.encode(changed(messages)), [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'input_audio', input_audio: { data: 'BBBB', format: 'wav' } },
        { type: 'file', file: { file_id: 'file-1', filename: 'a.pdf' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,CCCC' } },
        { type: 'hologram', depth: 3 },
      ],
    },
  ]);
});

test('OpenAI Chat: calls of both kinds, and results that know their tool', () => {
  const wire = [
    { role: 'user', content: 'Go' },
    CALL,
    { role: 'tool', tool_call_id: 'c1', content: 'text' },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'done' }] },
  ];
  const messages = lossless(openaiChat, wire);
  assert.deepEqual(messages.slice(1).map(bare), [
    {
      role: 'assistant',
      parts: [
        { kind: 'call', callId: 'c1', tool: 'read', args: '{"path":"a"}' },
        { kind: 'call', callId: 'c2', tool: 'patch', args: '*** Begin' },
      ],
      extra: { custom_calls: ['c2'] },
    },
    {
      role: 'tool',
      parts: [
        { kind: 'result', callId: 'c1', tool: 'read', content: [{ kind: 'text', text: 'text' }] },
      ],
    },
    {
      role: 'tool',
      parts: [
        { kind: 'result', callId: 'c2', tool: 'patch', content: [{ kind: 'text', text: 'done' }] },
      ],
    },
  ]);
  const compacted = openaiChat.encode([
    ...changed(messages.slice(0, 2)),
    ...messages.slice(2).map(cleared),
  ]);
  assert.deepEqual(compacted, [
    { role: 'user', content: 'Go' },
    CALL,
    { role: 'tool', tool_call_id: 'c1', content: '[cleared]' },
    { role: 'tool', tool_call_id: 'c2', content: '[cleared]' },
  ]);
  assert.deepEqual(openaiChatProblems(compacted), []);
});

test('OpenAI Chat: a result knows its tool when its call was decoded before', () => {
  const before = openaiChat.decode([CALL as ChatMessage]);
  const suffix: ChatMessage[] = [{ role: 'tool', tool_call_id: 'c1', content: 'text' }];
  const whole = openaiChat.decode([CALL as ChatMessage, ...suffix]);
  assert.deepEqual(openaiChat.decode(suffix, before), whole.slice(1));
});

test('OpenAI Chat: refusals, thoughts of compatible servers, empty and absent content', () => {
  const details = [
    { type: 'reasoning.text', text: 'hm', signature: 's1' },
    { type: 'reasoning.encrypted', data: 'xx' },
    { type: 'reasoning.summary', summary: 'short' },
  ];
  const wire = [
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    { role: 'assistant', content: null, refusal: 'No!' },
    { role: 'assistant', content: 'yes', reasoning_content: 'because', annotations: [1] },
    { role: 'assistant', content: '', reasoning: 'r', reasoning_details: details },
    { role: 'assistant', tool_calls: CALL.tool_calls, audio: null },
  ];
  const messages = lossless(openaiChat, wire);
  assert.deepEqual(messages.slice(0, 4).map(bare), [
    { role: 'assistant', parts: [{ kind: 'text', text: 'No.' }] },
    { role: 'assistant', parts: [{ kind: 'text', text: 'No!' }] },
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: 'because' },
        { kind: 'text', text: 'yes' },
      ],
      extra: { annotations: [1] },
    },
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: 'hm', signature: 's1' },
        { kind: 'reasoning', text: '', signature: 'xx' },
        { kind: 'reasoning', text: 'short' },
      ],
    },
  ]);
  assert.deepEqual(openaiChat.encode(changed(messages.slice(2, 3))), [
    { role: 'assistant', content: 'yes', reasoning_content: 'because', annotations: [1] },
  ]);
});

test('OpenAI Chat: functions of before there were tools', () => {
  const wire = [
    { role: 'assistant', content: null, function_call: { name: 'add', arguments: '{"a":1}' } },
    { role: 'function', name: 'add', content: '2' },
  ];
  const messages = lossless(openaiChat, wire);
  assert.deepEqual(
    messages.map(({ parts }) => parts),
    [
      [{ kind: 'call', callId: 'function_call:add', tool: 'add', args: '{"a":1}' }],
      [
        {
          kind: 'result',
          callId: 'function_call:add',
          tool: 'add',
          content: [{ kind: 'text', text: '2' }],
        },
      ],
    ],
  );
  const again = openaiChat.encode(changed(messages));
  assert.deepEqual(openaiChatProblems(again), []);
  assert.deepEqual(again, [{ ...wire[0], content: '' }, wire[1]]);
});

test('OpenAI Chat: roles and calls that are not known are carried and never compacted', () => {
  const call = { id: 'c9', type: 'quantum', quantum: { spin: 1 } };
  const wire = [
    { role: 'critic', content: 'hm', score: 2 },
    { role: 'assistant', content: 'a', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c9', content: 'r' },
  ];
  const messages = lossless(openaiChat, wire);
  assert.deepEqual(messages[0]?.parts, [
    { kind: 'opaque', type: 'message', value: { role: 'critic', content: 'hm', score: 2 } },
  ]);
  assert.deepEqual(messages[1]?.parts, [
    { kind: 'text', text: 'a' },
    { kind: 'call', callId: 'c9', tool: 'quantum', args: '' },
    { kind: 'opaque', type: 'tool_call', value: call },
  ]);
  assert.deepEqual(openaiChat.encode(changed(messages.slice(1, 2))), [wire[1]]);
});

test('OpenAI Chat: what was made up is encoded from its parts', () => {
  assert.deepEqual(
    openaiChat.encode([
      textMessage('user', 'Summary', { synthetic: true }),
      {
        role: 'user',
        parts: [
          { kind: 'result', callId: 'c1', content: [{ kind: 'image', source: 'https://a/b.png' }] },
          { kind: 'text', text: 'and then' },
        ],
      },
    ]),
    [
      { role: 'user', content: 'Summary' },
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }],
      },
      { role: 'user', content: 'and then' },
    ],
  );
});

test('OpenAI Chat: what is malformed is refused with its place', () => {
  const cases: [unknown, string][] = [
    ['text', 'messages: must be a list, is "text"'],
    [[null], 'messages[0]: must be an object, is null'],
    [[{ content: 'a' }], 'messages[0].role: must be a string, is absent'],
    [
      [{ role: 'user', content: 3 }],
      'messages[0].content: must be a string or a list of parts, is 3',
    ],
    [
      [{ role: 'user', content: [{ text: 'a', index: 0 }] }],
      'messages[0].content[0].type: must be a string, is absent',
    ],
    [
      [{ role: 'user', content: [{ type: 'file', file: {} }] }],
      'messages[0].content[0].file: must have file_data or file_id, is an object',
    ],
    [[{ role: 'tool', content: 'a' }], 'messages[0].tool_call_id: must be a string, is absent'],
    [
      [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: 'f' }] }],
      'messages[0].tool_calls[0].function: must be an object, is "f"',
    ],
    [
      [{ role: 'assistant', tool_calls: [{ id: 7, type: 'function' }] }],
      'messages[0].tool_calls[0].id: must be a string, is 7',
    ],
  ];
  for (const [wire, message] of cases) {
    assert.throws(
      () => openaiChat.decode(wire as ChatMessage[]),
      (error) => {
        assert.ok(error instanceof DecodeError);
        assert.equal(error.message, message);
        assert.equal(error.message, `${error.path}: ${error.problem}`);
        return true;
      },
    );
  }
});
