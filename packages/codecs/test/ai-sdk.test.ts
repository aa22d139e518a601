import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage } from '@bobbin/core';
import { contentHash, isOpaque, STRICT_RULES } from '@bobbin/core/internal';
import { aiSdk, aiSdkProblems, type AiSdkMessage } from '@bobbin/codecs';
import { bare, changed, lossless } from './lossless.ts';

test('A14 AI SDK: system, user and assistant messages with their options', () => {
  const wire = [
    { role: 'system', content: 'Rules', providerOptions: { openai: { x: 1 } } },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image', image: 'AAAA', mediaType: 'image/png' },
        { type: 'image', image: 'https://a/b.png' },
        { type: 'image', image: { openai: 'file-1' } },
        { type: 'file', data: 'BBBB', mediaType: 'application/pdf', filename: 'a.pdf' },
        { type: 'file', data: { type: 'data', data: 'CCCC' }, mediaType: 'image/png' },
        { type: 'file', data: { type: 'text', text: 'inline' }, mediaType: 'text/plain' },
      ],
    },
    { role: 'assistant', content: 'Seen' },
  ];
  const messages = lossless(aiSdk, wire);
  assert.deepEqual(messages.map(bare), [
    {
      role: 'system',
      parts: [{ kind: 'text', text: 'Rules' }],
      extra: { providerOptions: { openai: { x: 1 } } },
    },
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'Look' },
        { kind: 'image', source: 'data:image/png;base64,AAAA', mediaType: 'image/png' },
        { kind: 'image', source: 'https://a/b.png' },
        { kind: 'image', source: '{"openai":"file-1"}' },
        {
          kind: 'file',
          source: 'data:application/pdf;base64,BBBB',
          mediaType: 'application/pdf',
          name: 'a.pdf',
        },
        { kind: 'image', source: 'data:image/png;base64,CCCC', mediaType: 'image/png' },
        { kind: 'file', source: 'inline', mediaType: 'text/plain' },
      ],
    },
    { role: 'assistant', parts: [{ kind: 'text', text: 'Seen' }] },
  ]);
  assert.deepEqual(aiSdk.encode(changed(messages.filter(({ role }) => role !== 'user'))), [
    wire[0],
    wire[2],
  ]);
  assert.equal(aiSdk.rules, STRICT_RULES);
});

const ANSWER = {
  role: 'assistant',
  content: [
    {
      type: 'reasoning',
      text: 'hm',
      providerOptions: { anthropic: { signature: 's1', cacheControl: { type: 'ephemeral' } } },
    },
    { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'xx' } } },
    { type: 'reasoning', text: 'free' },
    { type: 'reasoning-file', data: 'AAAA', mediaType: 'image/png' },
    { type: 'text', text: 'Calling' },
    {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'read',
      input: { path: 'a' },
      providerOptions: { google: { thoughtSignature: 'g1' }, openai: { itemId: 'fc_1' } },
    },
    { type: 'tool-call', toolCallId: 'c2', toolName: 'run', input: 'raw' },
  ],
};

test('A14 AI SDK: reasoning with any provider\u2019s signature, calls with their options', () => {
  const messages = lossless(aiSdk, [ANSWER]);
  assert.deepEqual(messages.map(bare), [
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: 'hm', signature: 's1' },
        { kind: 'reasoning', text: '', signature: 'xx' },
        { kind: 'reasoning', text: 'free' },
        { kind: 'reasoning', text: '[image/png]' },
        { kind: 'text', text: 'Calling' },
        { kind: 'call', callId: 'c1', tool: 'read', args: '{"path":"a"}' },
        { kind: 'call', callId: 'c2', tool: 'run', args: '"raw"' },
      ],
      extra: { callOptions: { c1: { google: { thoughtSignature: 'g1' } } } },
    },
  ]);
  const [message] = messages;
  assert.ok(message);
  const spoken = { ...message, parts: message.parts.slice(4) };
  const [text, call, ...rest] = ANSWER.content.slice(4);
  const options = { google: { thoughtSignature: 'g1' } };
  assert.deepEqual(aiSdk.encode(changed([spoken])), [
    { role: 'assistant', content: [text, { ...call, providerOptions: options }, ...rest] },
  ]);
});

test('A14 AI SDK: custom parts and roles that are not known are never compacted', () => {
  const wire = [
    {
      role: 'assistant',
      content: [
        { type: 'custom', kind: 'openai.compaction', providerOptions: { openai: { id: 'cmp' } } },
        { type: 'text', text: 'a' },
      ],
    },
    { role: 'narrator', content: 'once' },
  ];
  assert.deepEqual(lossless(aiSdk, wire).map(isOpaque), [true, true]);
});

test('A14 AI SDK: bytes and URLs become what JSON can hold, and URLs are URLs again for the SDK', () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const wire = [
    {
      role: 'user',
      content: [
        { type: 'image', image: bytes },
        { type: 'image', image: bytes.buffer, mediaType: 'image/png' },
        { type: 'file', data: new URL('https://a/c.pdf'), mediaType: 'application/pdf' },
        {
          type: 'file',
          data: { type: 'url', url: new URL('https://a/d.pdf') },
          mediaType: 'application/pdf',
        },
      ],
    },
  ] as unknown as AiSdkMessage[];
  const messages = aiSdk.decode(wire);
  const stored = JSON.parse(JSON.stringify(messages)) as typeof messages;
  assert.deepEqual(stored, messages);
  assert.deepEqual(aiSdk.encode(stored), [
    {
      role: 'user',
      content: [
        { type: 'image', image: 'AQID' },
        { type: 'image', image: 'AQID', mediaType: 'image/png' },
        { type: 'file', data: 'https://a/c.pdf', mediaType: 'application/pdf' },
        {
          type: 'file',
          data: { type: 'url', url: new URL('https://a/d.pdf') },
          mediaType: 'application/pdf',
        },
      ],
    },
  ]);
});

test('A14 AI SDK: cache markers move without changing what a message is', () => {
  const options = {
    anthropic: { cacheControl: { type: 'ephemeral' } },
    bedrock: { cachePoint: {} },
  };
  const [marked, plain] = lossless(aiSdk, [
    { role: 'user', content: 'Go', providerOptions: options },
    { role: 'user', content: 'Go' },
  ]);
  assert.ok(marked && plain);
  assert.equal(contentHash(marked), contentHash(plain));
});

test('A14 AI SDK: what was made up is encoded from its parts', () => {
  const encoded = aiSdk.encode([
    textMessage('user', 'Summary', { synthetic: true }),
    {
      role: 'user',
      parts: [
        { kind: 'result', callId: 'c1', content: [{ kind: 'image', source: 'https://a/b.png' }] },
        { kind: 'text', text: 'and then' },
      ],
    },
    {
      role: 'user',
      parts: [
        { kind: 'image', source: 'data:image/png;base64,AA', mediaType: 'image/png' },
        { kind: 'file', source: 'data:text/csv;base64,BB', mediaType: 'text/csv', name: 'a.csv' },
      ],
    },
  ]);
  assert.deepEqual(encoded, [
    { role: 'user', content: 'Summary' },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'unknown',
          output: { type: 'content', value: [{ type: 'image-url', url: 'https://a/b.png' }] },
        },
      ],
    },
    { role: 'user', content: 'and then' },
    {
      role: 'user',
      content: [
        { type: 'image', image: 'data:image/png;base64,AA', mediaType: 'image/png' },
        { type: 'file', data: 'BB', mediaType: 'text/csv', filename: 'a.csv' },
      ],
    },
  ]);
  assert.deepEqual(aiSdkProblems(encoded), [
    'messages[1].content[0]: a result without its call (c1)',
  ]);
});

test('A14 AI SDK: the note of the Anthropic provider on a streamed answer keeps it from no compaction', () => {
  const note = { type: 'custom', kind: 'anthropic.message_start' };
  const options = { anthropic: { id: 'msg_1', model: 'claude-sonnet-5', usage: {} } };
  const wire: AiSdkMessage[] = [
    {
      role: 'assistant',
      content: [
        { ...note, providerOptions: options },
        { type: 'text', text: 'hello' },
      ],
    },
  ];
  const messages = aiSdk.decode(wire);
  assert.deepEqual(messages[0]?.parts, [{ kind: 'text', text: 'hello' }]);
  assert.deepEqual(messages.map(isOpaque), [false]);
  assert.deepEqual(aiSdk.encode(messages), wire);
});

test('A14 AI SDK: what is malformed is refused with its place', () => {
  const cases: [object, string][] = [
    [{ role: 'user' }, 'messages[0].content: must be a string or a list of parts, is absent'],
    [
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 't' }] },
      'messages[0].content[0].output: must be an object, is absent',
    ],
    [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c' }] },
      'messages[0].content[0].toolName: must be a string, is absent',
    ],
    [
      { role: 'user', content: [{ type: 'file', mediaType: 'a/b' }] },
      'messages[0].content[0]: must have image or data, is an object',
    ],
  ];
  for (const [message, problem] of cases)
    assert.throws(() => aiSdk.decode([message as AiSdkMessage]), {
      name: 'DecodeError',
      message: problem,
    });
});
