import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Content } from '@google/genai';
import { createBobbin, textMessage, type Message } from '@bobbin/core';
import { contentHash } from '@bobbin/core/internal';
import { gemini, geminiProblems } from '@bobbin/codecs';
import { bare, changed, cleared, lossless } from './lossless.ts';

const go = { role: 'user', parts: [{ text: 'Go' }] };

function called(...names: readonly string[]): object {
  const parts = names.map((name) => ({ functionCall: { name, args: { of: name } } }));
  return { role: 'model', parts };
}

function answered(...names: readonly string[]): object {
  const parts = names.map((name) => ({
    functionResponse: { name, response: { output: `seen ${name}` } },
  }));
  return { role: 'user', parts };
}

test('Gemini: every kind of part that is read', () => {
  const wire: Content[] = [
    {
      role: 'user',
      parts: [
        { text: 'Look' },
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        { inlineData: { mimeType: 'application/pdf', data: 'BBBB', displayName: 'a.pdf' } },
        { fileData: { fileUri: 'gs://b/c.mp4', mimeType: 'video/mp4' } },
        { videoMetadata: { fps: 1 } },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'Plan', thought: true },
        { text: 'I call' },
        {
          functionCall: { id: 'f1', name: 'read', args: { path: 'a.ts' } },
          thoughtSignature: 'sig',
        },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'f1',
            name: 'read',
            response: { error: 'no such file' },
            parts: [{ inlineData: { mimeType: 'image/png', data: 'CCCC' } }],
          },
        },
      ],
    },
  ];
  const messages = lossless(gemini, wire);
  assert.deepEqual(messages.map(bare), [
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'Look' },
        { kind: 'image', source: 'data:image/png;base64,AAAA', mediaType: 'image/png' },
        {
          kind: 'file',
          source: 'data:application/pdf;base64,BBBB',
          mediaType: 'application/pdf',
          name: 'a.pdf',
        },
        { kind: 'file', source: 'gs://b/c.mp4', mediaType: 'video/mp4' },
        { kind: 'opaque', type: 'videoMetadata', value: { videoMetadata: { fps: 1 } } },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: 'Plan' },
        { kind: 'text', text: 'I call' },
        { kind: 'call', callId: 'f1', tool: 'read', args: '{"path":"a.ts"}' },
      ],
      extra: { thought_signatures: { f1: 'sig' } },
    },
    {
      role: 'tool',
      parts: [
        {
          kind: 'result',
          callId: 'f1',
          tool: 'read',
          outcome: 'failure',
          content: [
            { kind: 'text', text: 'no such file' },
            { kind: 'image', source: 'data:image/png;base64,CCCC', mediaType: 'image/png' },
          ],
        },
      ],
    },
  ]);
  const [, call] = changed(messages);
  assert.deepEqual(
    gemini.encode([messages[0] as Message, call as Message, messages[2] as Message])[1],
    {
      role: 'model',
      parts: wire[1]?.parts?.slice(1),
    },
  );
  assert.deepEqual(gemini.encode(changed(messages))[0], wire[0]);
});

test('Gemini: calls without ids are answered by name, in their order', () => {
  const wire = [go, called('read', 'read', 'list'), answered('read', 'list', 'read')];
  const messages = lossless(gemini, wire);
  assert.deepEqual(
    messages.slice(1).map(({ parts }) => parts.map((part) => 'callId' in part && part.callId)),
    [
      ['unnamed:read:1', 'unnamed:read:2', 'unnamed:list:1'],
      ['unnamed:read:1', 'unnamed:list:1', 'unnamed:read:2'],
    ],
  );
  const without = gemini.encode([...messages.slice(0, 2), cleared(messages[2] as Message)]);
  assert.deepEqual(geminiProblems(without), []);
  assert.deepEqual(without[2]?.parts?.[0], {
    functionResponse: { name: 'read', response: { output: '[cleared]' } },
  });
});

test('Gemini: code that Google ran is a call and its result, and is text once changed', () => {
  const wire = [
    go,
    {
      role: 'model',
      parts: [
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        { text: 'It is 1.' },
      ],
    },
  ];
  const messages = lossless(gemini, wire);
  assert.deepEqual(messages[1]?.parts.slice(0, 2), [
    {
      kind: 'call',
      callId: 'unnamed:code_execution:1',
      tool: 'code_execution',
      args: '{"language":"PYTHON","code":"print(1)"}',
    },
    { kind: 'result', callId: 'unnamed:code_execution:1', content: [{ kind: 'text', text: '1' }] },
  ]);
  assert.deepEqual(gemini.encode(changed(messages))[1], {
    role: 'model',
    parts: [
      { text: '[The provider ran code_execution with {"language":"PYTHON","code":"print(1)"}]\n1' },
      { text: 'It is 1.' },
    ],
  });
});

test('Gemini: words after responses start a turn, and are one content with them again', () => {
  const mixed = {
    role: 'user',
    parts: [...(answered('a') as { parts: object[] }).parts, { text: 'And?' }],
  };
  const wire = [go, called('a'), mixed];
  const messages = lossless(gemini, wire);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'user'],
  );
  assert.equal(gemini.encode(messages)[2], mixed, 'the very same content');
});

test('Gemini: contents of one role that a compaction brings together are one content', () => {
  const model = { role: 'model', parts: [{ text: 'Yes' }] };
  const messages = gemini.decode([go, model, go, called('a'), answered('a')]);
  const [first, second, , call, response] = messages as [
    Message,
    Message,
    Message,
    Message,
    Message,
  ];
  const encoded = gemini.encode([first, second, call, response]);
  assert.deepEqual(geminiProblems(encoded), []);
  assert.equal(encoded.length, 3);
  const summary = textMessage('user', 'A summary');
  assert.deepEqual(gemini.encode([summary, first])[0], {
    role: 'user',
    parts: [{ text: 'A summary' }, { text: 'Go' }],
  });
  assert.equal(gemini.encode(gemini.decode([go, { ...go }])).length, 2, 'as they came');
});

test('Gemini: a call that nobody answered has a response in the place of the others', async () => {
  const wire = [go, called('a', 'b'), answered('a'), go];
  const { messages } = await createBobbin({ codec: gemini }).fit(wire);
  assert.deepEqual(geminiProblems(messages), []);
});

test('Gemini: a role that is not known is carried, and what is malformed is refused with its place', () => {
  lossless(gemini, [{ role: 'narrator', parts: [{ text: 'once' }] }]);
  const cases: [object, string][] = [
    [{ role: 'user', parts: 'x' }, 'contents[0].parts: must be a list, is "x"'],
    [
      { role: 'model', parts: [{ functionCall: {} }] },
      'contents[0].parts[0].functionCall.name: must be a string, is absent',
    ],
  ];
  for (const [content, message] of cases)
    assert.throws(() => gemini.decode([content]), { name: 'DecodeError', message });
});

test('Gemini: the same content has the same id in every process', () => {
  const [one] = gemini.decode([go]);
  const [two] = gemini.decode([{ parts: [{ text: 'Go' }], role: 'user' }]);
  assert.ok(one && two);
  assert.equal(contentHash(one), contentHash(two));
});

test('Gemini refuses parted pairs, calls after the model, empty contents and missing signatures', () => {
  assert.deepEqual(geminiProblems([]), ['contents: must not be empty']);
  assert.deepEqual(geminiProblems([go, called('a'), go, answered('a')]), [
    'contents[1].parts[0]: a call without its result (a 1)',
    'contents[3].parts[0]: a result without its call (a 1)',
  ]);
  assert.deepEqual(geminiProblems([called('a'), answered('a')]), [
    'contents[0]: a function call must come after the user or a function response',
  ]);
  assert.deepEqual(
    geminiProblems([go, { role: 'model', parts: [{ text: 'x' }] }, called('a'), answered('a')]),
    ['contents[2]: a function call must come after the user or a function response'],
  );
  assert.deepEqual(
    geminiProblems([
      { role: 'user', parts: [] },
      { role: 'tool', parts: [{}] },
    ]),
    ['contents[0].parts: must not be empty', 'contents[1].role: there is no such role'],
  );
  const signed = { functionCall: { name: 'a', args: {} }, thoughtSignature: 's' };
  const first = { role: 'model', parts: [signed] };
  assert.deepEqual(geminiProblems([go, first, answered('a'), called('b'), answered('b')]), [
    'contents[3]: a function call is missing its thought_signature',
  ]);
});
