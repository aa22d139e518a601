import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpaque, unitStarts } from '@bobbin/core/internal';
import { aiSdk } from '@bobbin/codecs';
import { bare, changed, cleared, lossless } from './lossless.ts';
import { text } from './ai-sdk-parts.ts';

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
