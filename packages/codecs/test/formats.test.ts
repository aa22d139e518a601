import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { createBobbin, type Codec } from '@bobbin/core';
import {
  aiSdk,
  anthropic,
  bedrock,
  detectFormat,
  gemini,
  openaiChat,
  openaiResponses,
  recogniseMessages,
  type ChatMessage,
} from '@bobbin/codecs';
import { langchainMessages } from '@bobbin/codecs/langchain';

const text = (role: string): object => ({ role, content: 'Hello' });

/** A conversation with a call and its result, in every format that is told from the others. */
const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  'openai-chat': [
    text('developer'),
    text('user'),
    {
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'r' },
  ],
  'openai-responses': [
    text('developer'),
    text('user'),
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'r' },
  ],
  anthropic: [
    text('user'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'r' }] },
  ],
  'ai-sdk': [
    text('user'),
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {} }],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'c',
          toolName: 'f',
          output: { type: 'text', value: 'r' },
        },
      ],
    },
  ],
  'ai-sdk-ui': [
    { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    { id: 'm2', role: 'assistant', parts: [{ type: 'step-start' }, { type: 'text', text: 'Hi' }] },
  ],
  gemini: [
    { role: 'user', parts: [{ text: 'Hello' }] },
    { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'r' } } }] },
  ],
  bedrock: [
    { role: 'user', content: [{ text: 'Hello' }] },
    { role: 'assistant', content: [{ toolUse: { toolUseId: 'c', name: 'f', input: {} } }] },
    { role: 'user', content: [{ toolResult: { toolUseId: 'c', content: [{ text: 'r' }] } }] },
  ],
  langchain: [new HumanMessage('Hello'), new AIMessage('Hi')],
};

const CODECS: readonly Codec<object>[] = [
  openaiChat,
  openaiResponses,
  anthropic,
  aiSdk,
  gemini,
  bedrock,
  langchainMessages,
];

for (const [name, sample] of Object.entries(SAMPLES)) {
  test(`H6 ${name} is detected, and the codec that reads it is named`, () => {
    const format = detectFormat(sample);
    assert.equal(format?.name, name);
    const codec = CODECS.find((each) => each.name === name);
    const known = codec === langchainMessages ? undefined : codec;
    assert.equal(recogniseMessages(sample), known);
  });

  for (const codec of CODECS)
    if (codec.name !== name)
      test(`H6 ${codec.name} refuses ${name} and says what reads it`, () => {
        const format = detectFormat(sample);
        assert.throws(
          () => codec.decode(sample as object[]),
          (error: Error) =>
            error.name === 'DecodeError' &&
            error.message.endsWith(`is one of ${format?.title}: use ${format?.use}`),
        );
      });
}

test('H6 the error of a wrong format is one line that says what was given, expected and to do', async () => {
  const fitted = createBobbin({ codec: openaiChat }).fit(SAMPLES['gemini'] as ChatMessage[]);
  await assert.rejects(fitted, {
    name: 'DecodeError',
    message:
      'messages[0]: must be a message of OpenAI Chat Completions, is one of Gemini generateContent: use `gemini` of bobbin/gemini',
  });
});

test('H6 LangChain is detected in its stored forms too', () => {
  const message = new HumanMessage('Hello');
  assert.equal(detectFormat([message.toDict()])?.name, 'langchain');
  assert.equal(detectFormat([JSON.parse(JSON.stringify(message))])?.name, 'langchain');
});

test('H6 text alone is OpenAI Chat’s; what no format knows is none', () => {
  assert.equal(detectFormat([text('user'), text('assistant')])?.name, 'openai-chat');
  assert.equal(detectFormat([text('narrator')]), undefined);
  assert.equal(detectFormat([1]), undefined);
});
