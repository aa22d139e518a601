import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  aiSdkProblems,
  anthropicProblems,
  openaiChatProblems,
  openaiResponsesProblems,
} from '@bobbin/codecs';

const user = { role: 'user', content: 'Go' };
const use = (id: string): object => ({ type: 'tool_use', id, name: 'x', input: {} });
const answer = (id: string): object => ({ type: 'tool_result', tool_use_id: id, content: 'r' });

const chatCall = (...ids: string[]): object => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'x', arguments: '' } })),
});
const chatResult = (id: string): object => ({ role: 'tool', tool_call_id: id, content: 'r' });
const results = (...content: object[]): object => ({ role: 'user', content });

test('OpenAI Chat refuses parted pairs, empty answers and unknown roles', () => {
  assert.deepEqual(
    openaiChatProblems([user, chatCall('a', 'b'), chatResult('b'), chatResult('a')]),
    [],
  );
  assert.deepEqual(openaiChatProblems([user, chatCall('a'), user, chatResult('a')]), [
    'messages[1].tool_calls[0]: a call without its result (a)',
    'messages[3]: a result without its call (a)',
  ]);
  assert.deepEqual(openaiChatProblems([chatCall('a')]), [
    'messages[0].tool_calls[0]: a call without its result (a)',
  ]);
  assert.deepEqual(openaiChatProblems([chatCall('a', 'a'), chatResult('a')]), [
    'messages[0].tool_calls[1]: the call id a is used twice',
  ]);
  assert.deepEqual(
    openaiChatProblems([
      chatCall(),
      { role: 'assistant', content: null },
      { role: 'ghost', content: 'a' },
      { role: 'user', content: null },
      { role: 'function', name: 'f', content: 'a' },
    ]),
    [
      'messages[0].tool_calls: must not be an empty list',
      'messages[1]: must have content or tool_calls',
      'messages[2].role: there is no such role',
      'messages[3].content: must not be empty',
      'messages[4]: a result without its call (function f)',
    ],
  );
});

test('OpenAI Responses refuses parted pairs, outputs of another kind and reasoning that led to nothing', () => {
  const call = { type: 'function_call', call_id: 'a', name: 'x', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'a', output: 'r' };
  const reasoning = { type: 'reasoning', summary: [] };
  assert.deepEqual(openaiResponsesProblems([user, reasoning, call, user, output]), []);
  assert.deepEqual(openaiResponsesProblems([output, call]), [
    'input[0]: an output without its call (a)',
    'input[1]: a call without its output (a)',
  ]);
  assert.deepEqual(
    openaiResponsesProblems([call, { ...output, type: 'custom_tool_call_output' }]),
    ['input[1]: an output of another kind than its call (a)'],
  );
  assert.deepEqual(openaiResponsesProblems([reasoning, user, call, reasoning, output, reasoning]), [
    'input[0]: reasoning without the item that it led to',
    'input[3]: reasoning without the item that it led to',
    'input[5]: reasoning without the item that it led to',
  ]);
});

test('Anthropic refuses roles out of order', () => {
  const system = { role: 'system', content: 'Now in French' };
  const assistant = { role: 'assistant', content: 'Oui' };
  assert.deepEqual(anthropicProblems({ messages: [user, system, assistant, user, system] }), []);
  assert.deepEqual(anthropicProblems({ messages: [] }), ['messages: must not be empty']);
  assert.deepEqual(anthropicProblems({ messages: [assistant] }), [
    "messages[0].role: the first message must be the user's",
  ]);
  assert.deepEqual(
    anthropicProblems({
      messages: [{ role: 'assistant', content: [{ type: 'compaction', content: 'S' }] }, user],
    }),
    [],
  );
  assert.deepEqual(anthropicProblems({ messages: [user, system, user] }), [
    'messages[1].role: system must be between the user and the assistant',
  ]);
  assert.deepEqual(anthropicProblems({ messages: [user, { role: 'tool', content: 'a' }] }), [
    'messages[1].role: there is no such role',
  ]);
});

test('Anthropic refuses parted pairs, results after words, and ids used twice', () => {
  const calls = { role: 'assistant', content: [use('a'), use('b')] };
  const words = { type: 'text', text: 'and' };
  assert.deepEqual(
    anthropicProblems({
      messages: [user, calls, results(answer('b')), results(answer('a'), words)],
    }),
    [],
    'messages of one role are one turn',
  );
  assert.deepEqual(
    anthropicProblems({ messages: [user, calls, results(answer('a'), words, answer('b'))] }),
    ['messages[2].content[2]: tool results must come before anything else'],
  );
  assert.deepEqual(
    anthropicProblems({ messages: [user, calls, results(answer('a'), answer('c'))] }),
    [
      'messages[2].content[1]: a result without its call (c)',
      'messages[1].content[1]: a call without its result (b)',
    ],
  );
  assert.deepEqual(
    anthropicProblems({
      messages: [
        user,
        calls,
        results(answer('a'), answer('b')),
        calls,
        results(answer('a'), answer('b')),
      ],
    }),
    [
      'messages[3].content[0].id: tool_use ids must be unique',
      'messages[3].content[1].id: tool_use ids must be unique',
    ],
  );
});

test('Anthropic refuses blocks that are not whole', () => {
  assert.deepEqual(
    anthropicProblems({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: ' ' },
            { type: 'thinking', thinking: 'a', signature: 's' },
          ],
        },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'a' }, answer('q')] },
        { role: 'user', content: [] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'x', input: '{}' }] },
        { role: 'user', content: [answer('a')] },
      ],
    }),
    [
      'messages[2].content: must not be empty',
      'messages[1].content[1]: tool results must come before anything else',
      'messages[1].content[1]: a result without its call (q)',
      'messages[0].content[0].text: must not be empty',
      'messages[0].content[1]: only the assistant has thinking',
      'messages[1].content[0].signature: must be given',
      'messages[1].content[1]: only the user gives results',
      'messages[3].content[0].input: must be an object',
    ],
  );
});

function lacksThinking(type: string): string {
  return `messages[1].content[0]: a final assistant message must start with a thinking block, found ${type}`;
}

test('H1 Anthropic with thinking refuses a running loop whose last answer does not start with it', () => {
  const thought = { type: 'thinking', thinking: 'a', signature: 's' };
  const loop = (...content: object[]): object[] => [
    user,
    { role: 'assistant', content },
    results(answer('a')),
  ];
  const thinking = { type: 'enabled', budget_tokens: 1_024 };
  const words = { type: 'text', text: 'I look.' };
  assert.deepEqual(anthropicProblems({ thinking, messages: loop(thought, use('a')) }), []);
  assert.deepEqual(
    anthropicProblems({
      thinking,
      messages: loop({ type: 'redacted_thinking', data: 'd' }, use('a')),
    }),
    [],
  );
  assert.deepEqual(anthropicProblems({ thinking, messages: loop(use('a')) }), [
    lacksThinking('tool_use'),
  ]);
  assert.deepEqual(anthropicProblems({ thinking, messages: loop(words, thought, use('a')) }), [
    lacksThinking('text'),
  ]);
  assert.deepEqual(anthropicProblems({ messages: loop(use('a')) }), [], 'thinking is off');
  assert.deepEqual(
    anthropicProblems({ thinking: { type: 'adaptive' }, messages: loop(use('a')) }),
    [],
    'a model that decides when to think may not have thought',
  );
  const over = [...loop(use('a')), { role: 'assistant', content: 'Done' }, user];
  assert.deepEqual(anthropicProblems({ thinking, messages: over }), [], 'the loop is over');
});

test('E13 Anthropic refuses more than four cache markers, wherever they are', () => {
  const cache_control = { type: 'ephemeral' };
  const text = { type: 'text', text: 'a', cache_control };
  const request = {
    tools: [{ name: 'x', cache_control }],
    system: [text],
    messages: [
      { role: 'user', content: [text, text] },
      { role: 'assistant', content: [use('a')] },
      { role: 'user', content: [{ ...answer('a'), content: [text] }] },
    ],
  };
  assert.deepEqual(anthropicProblems(request), ['5 cache markers, at most 4']);
});

const modelCall = (toolCallId: string, extra: object = {}): object => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId, toolName: 'x', input: {}, ...extra }],
});
const modelResult = (toolCallId: string): object => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName: 'x', output: {} }],
});

test('AI SDK refuses parted pairs and unknown roles', () => {
  assert.deepEqual(
    aiSdkProblems([
      user,
      modelCall('a'),
      modelResult('a'),
      modelCall('s', { providerExecuted: true }),
    ]),
    [],
  );
  assert.deepEqual(
    aiSdkProblems([modelCall('a'), user, modelResult('a'), { role: 'ghost', content: '' }]),
    [
      'messages[3].role: there is no such role',
      'messages[0].content[0]: a call without its result (a)',
      'messages[2].content[0]: a result without its call (a)',
    ],
  );
});
