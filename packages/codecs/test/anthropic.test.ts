import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type Message } from '@bobbin/core';
import { contentHash, isOpaque, unitStarts } from '@bobbin/core/internal';
import { anthropic, anthropicProblems, type AnthropicMessage } from '@bobbin/codecs';
import { bare, changed, cleared, lossless } from './lossless.ts';

test('Anthropic: every kind of content, and one that is not known', () => {
  const content = [
    { type: 'text', text: 'Look', citations: null },
    { type: 'text', text: '' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
    { type: 'image', source: { type: 'url', url: 'https://a/b.png' } },
    { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'BB' },
    },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' } },
    { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'inner' }] } },
    { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'found' }] },
    { type: 'container_upload', file_id: 'file_2' },
  ];
  const messages = lossless(anthropic, [{ role: 'user', content }]);
  assert.deepEqual(messages.map(bare), [
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'Look' },
        { kind: 'image', source: 'data:image/png;base64,AA', mediaType: 'image/png' },
        { kind: 'image', source: 'https://a/b.png' },
        { kind: 'image', source: 'file_1' },
        {
          kind: 'file',
          source: 'data:application/pdf;base64,BB',
          mediaType: 'application/pdf',
          name: 'a.pdf',
        },
        { kind: 'text', text: 'plain' },
        { kind: 'text', text: 'inner' },
        { kind: 'text', text: 'T\nS' },
        { kind: 'text', text: 'found' },
        {
          kind: 'opaque',
          type: 'container_upload',
          value: { type: 'container_upload', file_id: 'file_2' },
        },
      ],
    },
  ]);
  assert.deepEqual(anthropic.encode(changed(messages)), [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        content[2],
        content[3],
        content[4],
        content[5],
        { type: 'text', text: 'plain' },
        { type: 'text', text: 'inner' },
        { type: 'text', text: 'T\nS' },
        { type: 'text', text: 'found' },
        content[9],
      ],
    },
  ]);
});

const ANSWER = {
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'hm', signature: 's1' },
    { type: 'redacted_thinking', data: 'xx' },
    { type: 'text', text: 'Reading' },
    { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a' } },
    { type: 'tool_use', id: 't2', name: 'look', input: {} },
  ],
};
const RESULTS = {
  role: 'user',
  content: [
    { type: 'tool_result', tool_use_id: 't1', content: 'text' },
    {
      type: 'tool_result',
      tool_use_id: 't2',
      is_error: true,
      content: [
        { type: 'text', text: 'partly' },
        { type: 'image', source: { type: 'url', url: 'https://a/b.png' } },
        { type: 'tool_reference', tool_name: 'x' },
      ],
    },
  ],
};

test('Anthropic: thinking, calls and results', () => {
  const messages = lossless(anthropic, [{ role: 'user', content: 'Go' }, ANSWER, RESULTS]);
  assert.deepEqual(messages.slice(1).map(bare), [
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: 'hm', signature: 's1' },
        { kind: 'reasoning', text: '', signature: 'xx' },
        { kind: 'text', text: 'Reading' },
        { kind: 'call', callId: 't1', tool: 'read', args: '{"path":"a"}' },
        { kind: 'call', callId: 't2', tool: 'look', args: '{}' },
      ],
    },
    {
      role: 'tool',
      parts: [
        { kind: 'result', callId: 't1', tool: 'read', content: [{ kind: 'text', text: 'text' }] },
        {
          kind: 'result',
          callId: 't2',
          tool: 'look',
          outcome: 'failure',
          content: [
            { kind: 'text', text: 'partly' },
            { kind: 'image', source: 'https://a/b.png' },
            {
              kind: 'opaque',
              type: 'tool_reference',
              value: { type: 'tool_reference', tool_name: 'x' },
            },
          ],
        },
      ],
    },
  ]);
  assert.deepEqual(anthropic.encode(messages.map(cleared)), [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: ANSWER.content.slice(2) },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: '[cleared]' },
        { type: 'tool_result', tool_use_id: 't2', content: '[cleared]', is_error: true },
      ],
    },
  ]);
});

test('Anthropic: the words after tool results start a turn and go out with them again', () => {
  const mixed = {
    role: 'user',
    content: [...RESULTS.content, { type: 'text', text: 'Stop, do this instead' }],
  };
  const wire = [{ role: 'user', content: 'Go' }, ANSWER, mixed];
  const messages = lossless(anthropic, wire);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'user'],
  );
  assert.deepEqual(unitStarts(messages), [0, 1, 3]);
  assert.equal(anthropic.encode(messages)[2], mixed, 'the very same object');
  const [, , results, words] = messages as [Message, Message, Message, Message];
  assert.deepEqual(bare(words), {
    role: 'user',
    parts: [{ kind: 'text', text: 'Stop, do this instead' }],
    extra: { joins_results: true },
  });
  assert.deepEqual(anthropic.encode([cleared(results), words]), [
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: '[cleared]' },
        { type: 'tool_result', tool_use_id: 't2', content: '[cleared]', is_error: true },
        mixed.content[2],
      ],
    },
  ]);
  assert.deepEqual(anthropic.encode([textMessage('assistant', 'Summary'), words]), [
    { role: 'assistant', content: 'Summary' },
    { role: 'user', content: [mixed.content[2]] },
  ]);
});

test('Anthropic: notes of a harness after tool results are nobody\u2019s turn', () => {
  const note = { type: 'text', text: '<system-reminder>Mind the todo list.</system-reminder>' };
  const messages = lossless(anthropic, [
    ANSWER,
    { role: 'user', content: [...RESULTS.content, note] },
  ]);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['assistant', 'tool'],
  );
});

test('Anthropic: a result that never came joins the others of its round, before the words', () => {
  const one = { type: 'tool_result', tool_use_id: 't1', content: 'text' };
  const said = { type: 'text', text: 'Stop' };
  const wire = [{ role: 'user', content: 'Go' }, ANSWER, { role: 'user', content: [one, said] }];
  const [go, answer, results, words] = anthropic.decode(wire as AnthropicMessage[]);
  assert.ok(go && answer && results && words);
  const missing: Message = {
    role: 'tool',
    parts: [
      {
        kind: 'result',
        callId: 't2',
        outcome: 'failure',
        content: [{ kind: 'text', text: 'interrupted' }],
      },
    ],
  };
  const encoded = anthropic.encode([go, answer, results, missing, words]);
  assert.deepEqual(encoded[2], {
    role: 'user',
    content: [
      one,
      { type: 'tool_result', tool_use_id: 't2', content: 'interrupted', is_error: true },
      said,
    ],
  });
  assert.deepEqual(anthropicProblems({ messages: encoded }), []);
});

test('Anthropic: cache markers move without changing what a message is', () => {
  const marked = {
    role: 'user',
    content: [{ type: 'text', text: 'Go', cache_control: { type: 'ephemeral' } }],
  };
  const [first] = lossless(anthropic, [marked]);
  const [second] = anthropic.decode([{ role: 'user', content: 'Go' }]);
  assert.ok(first && second);
  assert.equal(contentHash(first), contentHash(second));
});

test('Anthropic: tools that Anthropic ran are a call and its result, and are text once changed', () => {
  const content = [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [{ type: 'web_search_result', title: 'T', url: 'u', encrypted_content: 'zz' }],
    },
    { type: 'text', text: 'Found' },
    { type: 'tool_use', id: 't1', name: 'read', input: {} },
  ];
  const wire = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'r' }] },
  ];
  const messages = lossless(anthropic, wire);
  assert.deepEqual(messages[1]?.parts, [
    { kind: 'call', callId: 'srvtoolu_1', tool: 'web_search', args: '{"query":"q"}' },
    {
      kind: 'result',
      callId: 'srvtoolu_1',
      content: [{ kind: 'text', text: '[{"type":"web_search_result","title":"T","url":"u"}]' }],
    },
    { kind: 'text', text: 'Found' },
    { kind: 'call', callId: 't1', tool: 'read', args: '{}' },
  ]);
  assert.deepEqual(unitStarts(messages), [0, 1], 'the client\u2019s call keeps its result');
  const encoded = anthropic.encode([
    ...messages.slice(0, 1),
    ...changed(messages.slice(1, 2)),
    ...messages.slice(2),
  ]);
  assert.deepEqual(encoded[1], {
    role: 'assistant',
    content: [
      {
        type: 'text',
        text: '[The provider ran web_search with {"query":"q"}]\n[{"type":"web_search_result","title":"T","url":"u"}]',
      },
      content[2],
      content[3],
    ],
  });
  assert.deepEqual(anthropicProblems({ messages: encoded }), []);
});

test('Anthropic: compaction blocks and unknown blocks are never compacted', () => {
  const wire = [
    { role: 'assistant', content: [{ type: 'compaction', content: 'Summary', signature: 's' }] },
    { role: 'user', content: 'Go' },
    {
      role: 'assistant',
      content: [
        { type: 'compaction', content: 'S' },
        { type: 'text', text: 'a' },
      ],
    },
    { role: 'narrator', content: 'once' },
  ];
  const messages = lossless(anthropic, wire);
  assert.deepEqual(
    messages.map((message) => [message.role, isOpaque(message)]),
    [
      ['system', true],
      ['user', false],
      ['assistant', true],
      ['system', true],
    ],
  );
});

test('Anthropic: a system message whose neighbours went is said in the user\u2019s place', () => {
  const system = { role: 'system', content: 'From now on in French.' };
  const wire = [{ role: 'user', content: 'Go' }, system, { role: 'assistant', content: 'Oui' }];
  const messages = lossless(anthropic, wire);
  assert.equal(messages[1]?.role, 'system');
  const alone = anthropic.encode(messages.slice(1));
  assert.deepEqual(alone, [{ ...system, role: 'user' }, wire[2]]);
  assert.deepEqual(anthropicProblems({ messages: alone }), []);
  const parted = anthropic.encode([...messages.slice(0, 2), textMessage('user', 'And?')]);
  assert.deepEqual(parted[1], { ...system, role: 'user' });
});

test('Anthropic: a system message stays where a compatible server took it', () => {
  const leading = [
    { role: 'system', content: 'Rules' },
    { role: 'user', content: 'Go' },
  ];
  const between = [
    { role: 'user', content: 'Go' },
    { ...leading[0] },
    { role: 'user', content: 'And?' },
  ];
  const messages = lossless(anthropic, leading);
  lossless(anthropic, between);
  assert.deepEqual(anthropic.encode([...messages.slice(0, 1), textMessage('user', 'Summary')]), [
    leading[0],
    { role: 'user', content: 'Summary' },
  ]);
});

test('Anthropic: a message that has nothing left to say is left out', () => {
  assert.deepEqual(anthropic.encode([textMessage('assistant', ' '), textMessage('user', 'a')]), [
    { role: 'user', content: 'a' },
  ]);
});

const callWith = (args: string): Message => ({
  role: 'assistant',
  parts: [{ kind: 'call', callId: 't', tool: 'x', args }],
});

test('Anthropic: arguments that are no object still reach the API as one', () => {
  const messages = ['{"a":1}', '', '{"a":', '[1]'].map(callWith);
  const inputs = anthropic.encode(messages).map(({ content }) => content);
  assert.deepEqual(
    inputs,
    [{ a: 1 }, {}, { input: '{"a":' }, { input: '[1]' }].map((input) => [
      { type: 'tool_use', id: 't', name: 'x', input },
    ]),
  );
});

test('Anthropic: what is malformed is refused with its place', () => {
  const cases: [object, string][] = [
    [{ role: 'user' }, 'messages[0].content: must be a string or a list of blocks, is absent'],
    [
      { role: 'user', content: [{ type: 'tool_result' }] },
      'messages[0].content[0].tool_use_id: must be a string, is absent',
    ],
    [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't' }] },
      'messages[0].content[0].name: must be a string, is absent',
    ],
    [
      { role: 'user', content: [{ type: 'image', source: 'x' }] },
      'messages[0].content[0].source: must be an object, is "x"',
    ],
    [
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 4 }] },
      'messages[0].content[0].content: must be a string or a list of blocks, is 4',
    ],
  ];
  for (const [message, problem] of cases)
    assert.throws(() => anthropic.decode([message as AnthropicMessage]), {
      name: 'DecodeError',
      message: problem,
    });
});
