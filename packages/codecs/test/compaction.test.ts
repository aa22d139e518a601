import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, textMessage, type Codec } from '@bobbin/core';
import { PRESETS, type PresetName } from '@bobbin/core/internal';
import {
  aiSdk,
  anthropic,
  anthropicProblems,
  openaiResponses,
  openaiResponsesProblems,
} from '@bobbin/codecs';
import { bare, changed, lossless } from './lossless.ts';

const ITEM = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA'.repeat(1_500) };
const BLOCK = { type: 'compaction', content: 'We keep to metric units. '.repeat(200) };
const TEXT = {
  type: 'text',
  text: BLOCK.content,
  providerOptions: { anthropic: { type: 'compaction' } },
};
const CUSTOM = {
  type: 'custom',
  kind: 'openai.compaction',
  providerOptions: { openai: { itemId: 'cmp_1', encryptedContent: 'gAAA' } },
};

const FORMS: readonly (readonly [Codec<object>, object, object])[] = [
  [openaiResponses, ITEM, ITEM],
  [anthropic, { role: 'assistant', content: [BLOCK] }, BLOCK],
  [aiSdk, { role: 'assistant', content: [TEXT] }, TEXT],
  [aiSdk, { role: 'assistant', content: [CUSTOM] }, CUSTOM],
];

for (const [codec, wire, inner] of FORMS)
  test(`${codec.name}: a provider's compaction is marked, and goes out as it came however it was changed`, () => {
    const messages = lossless(codec, [wire, { role: 'user', content: 'Go on' }]);
    const [first] = messages;
    assert.ok(first);
    assert.deepEqual(bare(first), {
      role: codec === aiSdk ? 'assistant' : 'system',
      parts: [
        { kind: 'opaque', type: 'compaction', value: { type: 'compaction' }, compaction: true },
      ],
      extra: { compaction: [inner] },
    });
    const noted = {
      ...changed([first])[0],
      role: first.role,
      parts: [{ kind: 'text', text: 'a note' }],
    };
    for (const message of [...changed([first]), noted as typeof first])
      assert.equal(JSON.stringify(codec.encode([message])).includes(JSON.stringify(inner)), true);
  });

test('Anthropic: a compaction that failed is no compaction', () => {
  const failed = { type: 'compaction', content: null };
  const [message] = lossless(anthropic, [
    { role: 'assistant', content: [failed, { type: 'text', text: 'a' }] },
  ]);
  assert.deepEqual(message?.parts[0], {
    kind: 'opaque',
    type: 'compaction',
    value: { type: 'compaction' },
  });
});

function said(i: number): object[] {
  return [
    { role: 'user', content: `Do step ${i}. ${'word '.repeat(60)}` },
    { role: 'assistant', content: `Done ${i}. ${'ok '.repeat(60)}` },
  ];
}

for (const [codec, wire, inner] of FORMS)
  for (const preset of Object.keys(PRESETS) as PresetName[])
    test(`H5 ${codec.name}: ${preset} neither replaces a provider's compaction nor puts a summary before it`, async () => {
      const history = [
        ...said(0),
        wire,
        ...Array.from({ length: 40 }, (_, i) => said(i + 1)).flat(),
      ];
      const bobbin = createBobbin({ codec, window: 6_000, preset });
      const { messages, compacted } = await bobbin.fit(history);
      assert.equal(compacted, true);
      const at = messages.findIndex((each) => JSON.stringify(each).includes(JSON.stringify(inner)));
      assert.ok(at >= 0, 'the compaction is there');
      const before = messages.slice(0, at).filter((each) => !history.includes(each));
      assert.deepEqual(before, []);
    });

test('Anthropic: summaries go after the compaction and its round, and openings are left out', () => {
  const use = { type: 'tool_use', id: 't1', name: 'x', input: {} };
  const wire = [
    { role: 'user', content: 'Old' },
    { role: 'assistant', content: [BLOCK, use] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'r' }] },
    { role: 'assistant', content: 'Done' },
  ] as const;
  const [, compaction, results, done] = anthropic.decode(wire as never);
  assert.ok(compaction && results && done);
  const summary = textMessage('user', 'A summary', { synthetic: true });
  const opening = textMessage('user', 'An opening');
  const encoded = anthropic.encode([opening, summary, compaction, results, done]);
  assert.deepEqual(encoded, [wire[1], wire[2], { role: 'user', content: 'A summary' }, wire[3]]);
  assert.deepEqual(anthropicProblems({ messages: encoded }), []);
});

const OUTPUT = { type: 'function_call_output', call_id: 'c1', output: 'r' };

test('H5 OpenAI Responses: an output that answers a stored response stays what it is', async () => {
  const input = [OUTPUT, { ...OUTPUT, call_id: 'c2' }, { role: 'user', content: 'And now?' }];
  lossless(openaiResponses, input);
  const { messages } = await createBobbin({ codec: openaiResponses }).fit(input);
  assert.deepEqual(messages, input);
  const stored = { previous_response_id: 'resp_1' };
  assert.deepEqual(openaiResponsesProblems(messages, stored), []);
  assert.deepEqual(openaiResponsesProblems(messages), [
    'input[0]: an output without its call (c1)',
    'input[1]: an output without its call (c2)',
  ]);
});

test('H5 OpenAI Responses: an output whose call was lost becomes text, as the rest of the history is here', async () => {
  const input = [
    OUTPUT,
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
    { role: 'user', content: 'And now?' },
  ];
  const { messages } = await createBobbin({ codec: openaiResponses }).fit(input);
  assert.deepEqual(openaiResponsesProblems(messages), []);
});
