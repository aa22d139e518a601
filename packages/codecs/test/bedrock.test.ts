import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message as ConverseMessage } from '@aws-sdk/client-bedrock-runtime';
import { createBobbin, textMessage, type Message } from '@bobbin/core';
import { contentHash } from '@bobbin/core/internal';
import { bedrock, bedrockCacheMarkers, bedrockProblems, type BedrockMessage } from '@bobbin/codecs';
import { bare, changed, cleared, lossless } from './lossless.ts';

const go: BedrockMessage = { role: 'user', content: [{ text: 'Go' }] };

function called(...ids: readonly string[]): BedrockMessage {
  const content = ids.map((toolUseId) => ({ toolUse: { toolUseId, name: 'look', input: {} } }));
  return { role: 'assistant', content };
}

function answered(...ids: readonly string[]): BedrockMessage {
  const content = ids.map((toolUseId) => ({
    toolResult: { toolUseId, content: [{ text: `seen ${toolUseId}` }] },
  }));
  return { role: 'user', content };
}

test('Bedrock: every kind of block that is read', () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const wire: ConverseMessage[] = [
    {
      role: 'user',
      content: [
        { text: 'Look' },
        { image: { format: 'png', source: { bytes } } },
        { document: { format: 'pdf', name: 'a', source: { bytes } } },
        { document: { format: 'txt', name: 'b', source: { text: 'words' } } },
        { video: { format: 'mp4', source: { s3Location: { uri: 's3://b/c.mp4' } } } },
        { guardContent: { text: { text: 'guarded' } } },
        {
          searchResult: {
            source: 'u',
            title: 'T',
            content: [{ text: 'found' }],
            citations: { enabled: true },
          },
        },
        { cachePoint: { type: 'default' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'Plan', signature: 'sig' } } },
        { reasoningContent: { redactedContent: bytes } },
        { citationsContent: { content: [{ text: 'cited' }], citations: [] } },
        { toolUse: { toolUseId: 't1', name: 'read', input: { path: 'a.ts' } } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          toolResult: {
            toolUseId: 't1',
            status: 'error',
            content: [
              { text: 'no' },
              { json: { code: 2 } },
              { image: { format: 'png', source: { bytes } } },
            ],
          },
        },
      ],
    },
  ];
  const messages = bedrock.decode(wire);
  bedrock.encode(messages).forEach((message, i) => assert.equal(message, wire[i]));
  assert.deepEqual(messages.map(bare), [
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'Look' },
        { kind: 'image', source: 'data:image/png;base64,AQID', mediaType: 'image/png' },
        {
          kind: 'file',
          source: 'data:application/pdf;base64,AQID',
          mediaType: 'application/pdf',
          name: 'a',
        },
        { kind: 'text', text: 'words' },
        { kind: 'file', source: 's3://b/c.mp4', mediaType: 'video/mp4' },
        { kind: 'text', text: 'guarded' },
        { kind: 'text', text: 'T\nu\nfound' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: 'Plan', signature: 'sig' },
        { kind: 'reasoning', text: '', signature: 'AQID' },
        { kind: 'text', text: 'cited' },
        { kind: 'call', callId: 't1', tool: 'read', args: '{"path":"a.ts"}' },
      ],
    },
    {
      role: 'tool',
      parts: [
        {
          kind: 'result',
          callId: 't1',
          tool: 'read',
          outcome: 'failure',
          content: [
            { kind: 'text', text: 'no' },
            { kind: 'text', text: '{"code":2}' },
            { kind: 'image', source: 'data:image/png;base64,AQID', mediaType: 'image/png' },
          ],
        },
      ],
    },
  ]);
  const stored = JSON.parse(JSON.stringify(messages)) as Message[];
  assert.deepEqual(bedrock.encode(stored), wire, 'from a store, bytes are bytes again');
  const rewritten = bedrock.encode(changed(messages));
  assert.deepEqual(rewritten[0]?.content?.slice(0, 3), wire[0]?.content?.slice(0, 3));
  assert.deepEqual(bedrockProblems({ messages: rewritten }), []);
});

test('Bedrock: base64 that came in as text goes out as text', () => {
  const wire = [
    { role: 'user', content: [{ image: { format: 'png', source: { bytes: 'AQID' } } }] },
  ];
  const [message] = lossless(bedrock, wire);
  assert.deepEqual(message?.parts, [
    { kind: 'image', source: 'data:image/png;base64,AQID', mediaType: 'image/png' },
  ]);
});

test('Bedrock: words after results start a turn, and are one message with them again', () => {
  const mixed = {
    role: 'user',
    content: [...(answered('a').content ?? []), { text: 'And?' }],
  } as const;
  const messages = lossless(bedrock, [go, called('a'), mixed]);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'user'],
  );
  assert.equal(bedrock.encode(messages)[2], mixed, 'the very same message');
});

test('Bedrock: messages of one role that a compaction brings together are one message', () => {
  const [first, call, results, second] = bedrock.decode([go, called('a'), answered('a'), go]);
  assert.ok(first && call && results && second);
  const summary = textMessage('user', 'A summary');
  for (const messages of [
    [summary, first, call, results],
    [first, call, cleared(results), second],
    [first, textMessage('assistant', 'So far'), call, results, summary],
  ])
    assert.deepEqual(bedrockProblems({ messages: bedrock.encode(messages) }), []);
});

test('Bedrock: a call that nobody answered has a result beside the others', async () => {
  const { messages } = await createBobbin({ codec: bedrock }).fit([
    go,
    called('a', 'b'),
    answered('a'),
    called('c'),
  ]);
  assert.deepEqual(bedrockProblems({ messages }), []);
});

test('Bedrock: cache points move without changing what a message is', () => {
  const [marked] = lossless(bedrock, [
    { role: 'user', content: [{ text: 'Go' }, { cachePoint: { type: 'default' } }] },
  ]);
  const [plain] = bedrock.decode([go]);
  assert.ok(marked && plain);
  assert.equal(contentHash(marked), contentHash(plain));
});

test('E13 Bedrock: cache points go to the ends of cached prefixes, at most four with the host’s', async () => {
  const history: BedrockMessage[] = [];
  for (let i = 0; i < 12; i++)
    history.push(
      { role: 'user', content: [{ text: `Step ${i} ${'words '.repeat(400)}` }] },
      { role: 'assistant', content: [{ text: `Done ${i}` }] },
    );
  history.push(go);
  const { messages, prompt } = await createBobbin({ codec: bedrock, model: 'claude-opus-5' }).fit(
    history,
  );
  const system = [{ text: 'Rules' }, { cachePoint: { type: 'default' } }];
  const request = bedrockCacheMarkers({ modelId: 'm', system, messages }, prompt);
  const points = request.messages
    .flatMap(({ content }) => content ?? [])
    .filter((block) => 'cachePoint' in block);
  assert.ok(points.length > 0 && points.length <= 3, `${points.length} points`);
  assert.deepEqual(bedrockProblems(request), []);
  const again = bedrockCacheMarkers(request, prompt);
  assert.deepEqual(again, request, 'marking twice changes nothing');
});

test('Bedrock: a role that is not known is carried, and what is malformed is refused with its place', () => {
  lossless(bedrock, [{ role: 'narrator', content: [{ text: 'once' }] }]);
  const cases: [object, string][] = [
    [{ role: 'user', content: 7 }, 'messages[0].content: must be a list, is 7'],
    [
      { role: 'assistant', content: [{ toolUse: { name: 'f' } }] },
      'messages[0].content[0].toolUse.toolUseId: must be a string, is absent',
    ],
  ];
  for (const [message, problem] of cases)
    assert.throws(() => bedrock.decode([message as BedrockMessage]), {
      name: 'DecodeError',
      message: problem,
    });
});

test('Bedrock refuses roles that do not take turns, parted pairs and blocks that are not whole', () => {
  assert.deepEqual(bedrockProblems({ messages: [] }), ['messages: must not be empty']);
  assert.deepEqual(bedrockProblems({ messages: [called('a'), answered('a'), go] }), [
    'messages[0]: a conversation must start with a user message',
    'messages[2]: a conversation must alternate between user and assistant roles',
  ]);
  assert.deepEqual(bedrockProblems({ messages: [go, called('a', 'b'), answered('a', 'c')] }), [
    'messages[2].content[1]: a result without its call (c)',
    'messages[1].content[1]: a call without its result (b)',
  ]);
  assert.deepEqual(
    bedrockProblems({
      messages: [
        { role: 'user', content: [{ text: ' ' }, { text: 'a', image: {} }, { toolUse: {} }] },
        { role: 'tool', content: [{ text: 'a' }] },
        { role: 'user', content: [] },
      ],
    }),
    [
      'messages[0].content[0].text: must not be blank',
      'messages[0].content[1]: must have one kind, has text, image',
      'messages[0].content[2]: only the assistant has toolUse',
      'messages[1].role: there is no such role',
      'messages[2].content: must not be empty',
      'messages[0].content[2]: a call without its result (absent)',
    ],
  );
  const additionalModelRequestFields = { thinking: { type: 'enabled' } };
  assert.deepEqual(
    bedrockProblems({ messages: [go, called('a'), answered('a')], additionalModelRequestFields }),
    [
      'messages[1].content[0]: a final assistant message must start with a thinking block, found toolUse',
    ],
  );
});

test('a role that Bedrock lacks is reported, also where all of its message can be read', async () => {
  const warnings: string[] = [];
  const bobbin = createBobbin({
    codec: bedrock,
    budget: { windowTokens: 8_000 },
    onEvent: (event) => {
      if (event.kind === 'warning') warnings.push(event.message);
    },
  });
  const system = { role: 'system', content: [{ text: 'Be brief.' }] } as unknown as BedrockMessage;
  await bobbin.fit([system, go]);
  assert.deepEqual(warnings, [
    'Bedrock Converse has no role "system": its message is sent as it is, and never compacted',
  ]);
});
