import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AIMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from '@langchain/core/messages';
import { createBobbin, type Message } from '@bobbin/core';
import { withParts } from '@bobbin/core/internal';
import { langchainMessages } from '@bobbin/codecs/langchain';
import { bare } from './lossless.ts';

function call(id: string): AIMessage {
  return new AIMessage({
    content: `I look at ${id}, as the plan says. ${'Then I compare it with the last one. '.repeat(6)}`,
    tool_calls: [{ type: 'tool_call', id, name: 'look', args: { id } }],
  });
}

function result(id: string, text: string): ToolMessage {
  return new ToolMessage({ content: text, tool_call_id: id, name: 'look' });
}

test('LangChain: a list of messages is compacted directly, and kept messages are the very same objects', async () => {
  const history: BaseMessage[] = [new SystemMessage('Rules'), new HumanMessage('Look at all.')];
  for (let i = 0; i < 60; i++) history.push(call(`c${i}`), result(`c${i}`, 'seen '.repeat(200)));
  const bobbin = createBobbin({ codec: langchainMessages, window: 8_000 });
  const { messages, fits, compacted } = await bobbin.fit(history);
  assert.deepEqual([fits, compacted], [true, true]);
  const kept = messages.filter((message) => history.includes(message));
  assert.ok(kept.includes(history[0] as BaseMessage) && kept.length > 4, `${kept.length} kept`);
  assert.ok(messages.length < history.length);
});

test('LangChain: blocks of every kind that is read, also from a store', () => {
  const wire = [
    new HumanMessage({
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'https://a/b.png' } },
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      ],
    }),
    new AIMessage({
      content: [
        { type: 'thinking', thinking: 'Plan', signature: 'sig' },
        { type: 'text', text: 'I call' },
      ],
      tool_calls: [{ type: 'tool_call', id: 'c1', name: 'look', args: { a: 1 } }],
    }),
    new ToolMessage({ content: 'no', tool_call_id: 'c1', name: 'look', status: 'error' }),
  ];
  const messages = langchainMessages.decode(wire);
  assert.deepEqual(messages.map(bare), [
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'Look' },
        { kind: 'image', source: 'https://a/b.png' },
        { kind: 'image', source: 'data:image/png;base64,AAAA' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: 'Plan', signature: 'sig' },
        { kind: 'text', text: 'I call' },
        { kind: 'call', callId: 'c1', tool: 'look', args: '{"a":1}' },
      ],
    },
    {
      role: 'tool',
      parts: [
        {
          kind: 'result',
          callId: 'c1',
          tool: 'look',
          outcome: 'failure',
          content: [{ kind: 'text', text: 'no' }],
        },
      ],
    },
  ]);
  const stored = JSON.parse(JSON.stringify(messages)) as Message[];
  assert.deepEqual(
    langchainMessages.encode(stored).map((message) => message.toDict()),
    wire.map((message) => message.toDict()),
  );
});

test('LangChain: an unanswered call before an answer is answered directly after it', async () => {
  const history = [new HumanMessage('Go'), call('a'), new AIMessage('No.'), new HumanMessage('Ok')];
  const { messages } = await createBobbin({ codec: langchainMessages }).fit(history);
  assert.deepEqual(
    messages.map(({ type }) => type),
    ['human', 'ai', 'tool', 'ai', 'human'],
  );
});

test('LangChain: what Bobbin wrote is a message of its own kind', () => {
  const [, , answer] = langchainMessages.decode([
    new HumanMessage('Go'),
    call('a'),
    result('a', 'r'),
  ]);
  assert.ok(answer);
  const [cleared] = langchainMessages.encode([
    withParts(answer, [{ kind: 'result', callId: 'a', content: [{ kind: 'text', text: '[x]' }] }]),
  ]);
  assert.deepEqual([cleared?.type, cleared?.content], ['tool', '[x]']);
});

test('LangChain: a message that LangChain itself acts on is refused', () => {
  assert.throws(() => langchainMessages.decode([new RemoveMessage({ id: 'm1' })]), {
    name: 'DecodeError',
    message: 'messages[0]: must not be a RemoveMessage: apply it to the list first, is an object',
  });
});

/** Code of the provider's that calls the host's tool before it gives its result. */
function codeLoop(n: number): BaseMessage[] {
  const code = {
    type: 'server_tool_use',
    id: `s${n}`,
    name: 'code_execution',
    input: { code: 'x' },
  };
  const tool_calls = [{ type: 'tool_call' as const, id: `c${n}`, name: 'look', args: {} }];
  const done = {
    type: 'code_execution_tool_result',
    tool_use_id: `s${n}`,
    content: { stdout: 'out '.repeat(1_500) },
  };
  return [
    new HumanMessage(`Run ${n}`),
    new AIMessage({ content: [code], tool_calls }),
    result(`c${n}`, 'seen '.repeat(600)),
    new AIMessage({ content: [done, { type: 'text', text: 'Done.' }] }),
  ];
}

test('H2 LangChain: code that calls tools is one pair over several messages, and never half of one', async () => {
  const history = Array.from({ length: 7 }, (_, n) => codeLoop(n)).flat();
  const messages = langchainMessages.decode(history);
  assert.deepEqual(
    messages[3]?.parts.map(({ kind }) => kind),
    ['call', 'result', 'text'],
  );
  assert.deepEqual(langchainMessages.encode(messages), history);
  for (const window of [3_000, 6_000, 12_000]) {
    const fitted = await createBobbin({ codec: langchainMessages, window }).fit(history);
    const blocks = fitted.messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : (content as { id?: string; tool_use_id?: string }[]),
    );
    const called = blocks.flatMap(({ id }) => id ?? []);
    const answered = blocks.flatMap(({ tool_use_id: id }) => id ?? []);
    assert.deepEqual(answered, called, `in ${window}`);
  }
});

test('LangChain: a provider’s compaction is marked and goes out as it came', () => {
  const block = { type: 'compaction', content: 'We use metric units.' };
  const wire = new AIMessage({ content: [block, { type: 'text', text: 'On it.' }] });
  const [message] = langchainMessages.decode([wire]);
  assert.ok(message);
  assert.deepEqual(message.parts[0], {
    kind: 'opaque',
    type: 'compaction',
    value: { type: 'compaction' },
    compaction: true,
  });
  const [again] = langchainMessages.encode([
    withParts(message, [{ kind: 'text', text: 'a note' }]),
  ]);
  assert.deepEqual(again?.content, [block, { type: 'text', text: 'a note' }]);
});
