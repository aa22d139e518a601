import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage } from '@bobbin/core';
import { contentHash, isOpaque, STRICT_RULES, unitStarts } from '@bobbin/core/internal';
import { aiSdk, aiSdkProblems, type AiSdkMessage } from '@bobbin/codecs';
import { bare, changed, cleared, lossless } from './lossless.ts';

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

const text = (value: string): object[] => [{ kind: 'text', text: value }];

test('A14 AI SDK: a tool message with several results, in every kind of output of 6 and 7', () => {
  const outputs = [
    { type: 'text', value: 'plain' },
    { type: 'json', value: [{ data: { type: 'url', url: 'https://a' } }] },
    { type: 'error-text', value: 'broken' },
    { type: 'error-json', value: { code: 4 } },
    { type: 'execution-denied', reason: 'not now' },
    { type: 'execution-denied' },
    {
      type: 'content',
      value: [
        { type: 'text', text: 'a' },
        { type: 'media', data: 'AA', mediaType: 'image/png' },
        { type: 'image-data', data: 'BB', mediaType: 'image/png' },
        { type: 'image-url', url: 'https://a/b.png' },
        { type: 'image-file-id', fileId: 'f1' },
        { type: 'file-data', data: 'CC', mediaType: 'text/csv', filename: 'a.csv' },
        { type: 'file-url', url: 'https://a/c.csv' },
        { type: 'file', data: { type: 'data', data: 'DD' }, mediaType: 'text/csv' },
        { type: 'file-reference', providerReference: { openai: 'f2' } },
        { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference' } } },
      ],
    },
    { type: 'hologram', value: 3 },
  ];
  const content = outputs.map((output, i) => ({
    type: 'tool-result',
    toolCallId: `c${i}`,
    toolName: 't',
    output,
  }));
  const [message] = lossless(aiSdk, [{ role: 'tool', content }]);
  assert.deepEqual(
    message?.parts.map((part) => part.kind === 'result' && [part.outcome, part.content]),
    [
      [undefined, text('plain')],
      [undefined, text('[{"data":{"type":"url","url":"https://a"}}]')],
      ['failure', text('broken')],
      ['failure', text('{"code":4}')],
      ['failure', text('not now')],
      ['failure', text('Denied by the user.')],
      [
        undefined,
        [
          { kind: 'text', text: 'a' },
          { kind: 'image', source: 'data:image/png;base64,AA', mediaType: 'image/png' },
          { kind: 'image', source: 'data:image/png;base64,BB', mediaType: 'image/png' },
          { kind: 'image', source: 'https://a/b.png' },
          { kind: 'image', source: 'f1' },
          { kind: 'file', source: 'data:text/csv;base64,CC', mediaType: 'text/csv' },
          { kind: 'file', source: 'https://a/c.csv' },
          { kind: 'file', source: 'data:text/csv;base64,DD', mediaType: 'text/csv' },
          { kind: 'file', source: '{"openai":"f2"}' },
          {
            kind: 'opaque',
            type: 'custom',
            value: { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference' } } },
          },
        ],
      ],
      [undefined, [{ kind: 'opaque', type: 'hologram', value: { type: 'hologram', value: 3 } }]],
    ],
  );
  assert.deepEqual(aiSdk.encode([message].flatMap((m) => (m ? [cleared(m)] : []))), [
    {
      role: 'tool',
      content: outputs.map(({ type }, i) => ({
        type: 'tool-result',
        toolCallId: `c${i}`,
        toolName: 't',
        output: {
          type: /^(?:error|execution)/.test(type) ? 'error-text' : 'text',
          value: '[cleared]',
        },
      })),
    },
  ]);
});

test('A14 AI SDK: approvals stay between a call and its result', () => {
  const request = { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' };
  const response = { type: 'tool-approval-response', approvalId: 'a1', approved: true };
  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'rm', input: {} };
  const result = {
    type: 'tool-result',
    toolCallId: 'c1',
    toolName: 'rm',
    output: { type: 'text', value: 'gone' },
  };
  const wire = [
    { role: 'user', content: 'Clean up' },
    { role: 'assistant', content: [call, request] },
    { role: 'tool', content: [response] },
    { role: 'tool', content: [result] },
  ];
  const messages = lossless(aiSdk, wire);
  assert.deepEqual(messages.slice(1, 3).map(bare), [
    {
      role: 'assistant',
      parts: [{ kind: 'call', callId: 'c1', tool: 'rm', args: '{}' }],
      extra: { approvals: [request] },
    },
    { role: 'tool', parts: [], extra: { approvals: [response] } },
  ]);
  assert.deepEqual(unitStarts(messages), [0, 1], 'all of it is one unit');
  assert.deepEqual(aiSdk.encode(changed(messages)), wire);
});

test('A14 AI SDK: tools that the provider ran, answered and not yet', () => {
  const call = { type: 'tool-call', toolCallId: 's1', toolName: 'search', input: { q: 1 } };
  const ran = { ...call, providerExecuted: true };
  const result = {
    type: 'tool-result',
    toolCallId: 's1',
    toolName: 'search',
    output: { type: 'json', value: [1] },
  };
  const client = { type: 'tool-call', toolCallId: 'c1', toolName: 'read', input: {} };
  const wire = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [ran, result, client] },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'read',
          output: { type: 'text', value: 'r' },
        },
      ],
    },
    { role: 'assistant', content: [{ ...ran, toolCallId: 's2' }] },
  ];
  const messages = lossless(aiSdk, wire);
  assert.deepEqual(unitStarts(messages), [0, 1, 3]);
  assert.deepEqual(messages.map(isOpaque), [false, false, false, false]);
  assert.deepEqual(aiSdk.encode(changed(messages.slice(1, 2))), [
    {
      role: 'assistant',
      content: [{ type: 'text', text: '[The provider ran search with {"q":1}]\n[1]' }, client],
    },
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
