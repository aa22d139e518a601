import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, type Codec } from '@bobbin/core';
import {
  aiSdk,
  aiSdkProblems,
  anthropic,
  anthropicProblems,
  openaiChat,
  openaiChatProblems,
  openaiResponses,
  openaiResponsesProblems,
} from '@bobbin/codecs';

const go = { role: 'user', content: 'Go' };
const stop = { role: 'user', content: 'Stop' };
const words = { role: 'assistant', content: 'I changed my mind.' };

function chatCall(...ids: readonly string[]): object {
  const tool_calls = ids.map((id) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
  }));
  return { role: 'assistant', content: null, tool_calls };
}

function chatResult(id: string): object {
  return { role: 'tool', tool_call_id: id, content: `seen ${id}` };
}

function modelCall(...ids: readonly string[]): object {
  const content = ids.map((id) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: 'look',
    input: {},
  }));
  return { role: 'assistant', content };
}

function modelResult(...ids: readonly string[]): object {
  const content = ids.map((id) => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: 'look',
    output: { type: 'text', value: `seen ${id}` },
  }));
  return { role: 'tool', content };
}

function anthropicCall(id: string): object {
  return { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', input: {} }] };
}

function functionCall(id: string): object {
  return { type: 'function_call', call_id: id, name: 'look', arguments: '{}' };
}

interface Case {
  readonly codec: Codec<object>;
  readonly problems: (wire: readonly object[]) => readonly string[];
  readonly histories: readonly (readonly object[])[];
}

const CASES: readonly Case[] = [
  {
    codec: openaiChat,
    problems: openaiChatProblems,
    histories: [
      [go, chatCall('a'), words, stop],
      [go, chatCall('a'), words],
      [go, chatCall('a', 'b'), words, chatResult('b'), stop],
      [go, chatCall('a'), chatCall('b'), chatResult('b'), stop],
      [go, chatCall('a'), chatCall('b'), chatResult('b'), chatResult('a'), stop],
      [go, chatCall('a'), words, chatResult('a'), words, stop],
    ],
  },
  {
    codec: aiSdk,
    problems: aiSdkProblems,
    histories: [
      [go, modelCall('a'), words, stop],
      [go, modelCall('a'), modelCall('b'), modelResult('b'), stop],
      [go, modelCall('a'), modelCall('b'), modelResult('a', 'b'), stop],
      [go, modelCall('a'), words, modelResult('a'), words, stop],
    ],
  },
  {
    codec: anthropic,
    problems: (messages) => anthropicProblems({ messages }),
    histories: [
      [go, anthropicCall('a'), words, stop],
      [go, anthropicCall('a'), words],
    ],
  },
  {
    codec: openaiResponses,
    problems: openaiResponsesProblems,
    histories: [
      [go, functionCall('a'), { type: 'message', ...words }, stop],
      [go, { type: 'reasoning', id: 'rs_1', summary: [] }, functionCall('a')],
      [go, { type: 'reasoning', id: 'rs_1', summary: [] }],
      [go, { type: 'reasoning', id: 'rs_1', summary: [] }, stop],
    ],
  },
];

for (const { codec, problems, histories } of CASES)
  for (const [i, history] of histories.entries())
    test(`19 ${codec.name}: an unanswered call before an answer gives a valid prompt (history ${i})`, async () => {
      const bobbin = createBobbin({ codec, model: 'gpt-5' });
      for (let length = 1; length <= history.length; length++) {
        const { messages } = await bobbin.fit(history.slice(0, length));
        assert.deepEqual(problems(messages), [], `after ${length} messages`);
      }
    });

test('19 OpenAI Chat: results go directly after the message that called, and stay what they are', () => {
  const wire = [go, chatCall('a'), chatCall('b'), chatResult('b'), chatResult('a'), stop];
  const encoded = openaiChat.encode(openaiChat.decode(wire as never));
  assert.deepEqual(encoded, [wire[0], wire[1], wire[4], wire[2], wire[3], wire[5]]);
});

test('19 OpenAI Responses: reasoning waits with the call that it led to', async () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
  const output = { type: 'function_call_output', call_id: 'a', output: 'r' };
  const history = [go, reasoning, functionCall('a'), output];
  const bobbin = createBobbin({ codec: openaiResponses, model: 'gpt-5' });
  const sent = [];
  for (let length = 1; length <= 4; length++)
    sent.push((await bobbin.fit(history.slice(0, length))).messages.length);
  assert.deepEqual(sent, [1, 1, 1, 4]);
});

test('19 AI SDK: the validity check names a call that the next answer leaves unanswered', () => {
  assert.deepEqual(aiSdkProblems([go, modelCall('a'), words, modelResult('a')]), [
    'messages[1].content[0]: a call without its result (a)',
    'messages[3].content[0]: a result without its call (a)',
  ]);
});
