import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { createBobbin, type Codec, type CompactionEvent } from '@bobbin/core';
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

/** A conversation with a call and its result, in every format that is distinguished from the others. */
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

async function warningsOf(codec: Codec<object>, ...lists: object[][]): Promise<string[]> {
  const warnings: string[] = [];
  const onEvent = (event: CompactionEvent): void => {
    if (event.kind === 'warning') warnings.push(event.message);
  };
  const bobbin = createBobbin({ codec, window: 20_000, onEvent });
  for (const list of lists) await bobbin.fit(list);
  return warnings;
}

const THOUGHT = {
  role: 'assistant',
  content: [{ type: 'thinking', thinking: 'Hm', signature: 's' }],
};

test('H6 messages that look like another format’s are read, and reported once with the codec that fits', async () => {
  const history = [text('user'), THOUGHT, text('user')];
  assert.deepEqual(await warningsOf(openaiChat, history, [...history, THOUGHT, text('user')]), [
    'a message looks like one of Anthropic Messages, not of OpenAI Chat Completions: use `anthropic` of bobbin/anthropic',
  ]);
  assert.deepEqual(await warningsOf(anthropic, history), []);
});

test('H6 a role that the format lacks is reported with the one that was meant', async () => {
  assert.deepEqual(await warningsOf(openaiChat, [text('usr'), text('user')]), [
    'OpenAI Chat Completions has no role "usr" (did you mean user?): its message is sent as it is, and never compacted',
  ]);
  assert.deepEqual(await warningsOf(anthropic, [text('user'), text('narrator'), text('user')]), [
    'Anthropic Messages has no role "narrator": its message is sent as it is, and never compacted',
  ]);
});

test('H6 no sample of a format mismatches its own codec', async () => {
  for (const codec of CODECS) {
    const sample = SAMPLES[codec.name] as object[];
    assert.equal(codec.mismatch?.(sample), undefined, codec.name);
  }
});

test('H6 plain text is not read by codecs whose messages have other fields', () => {
  for (const codec of [gemini, bedrock] as Codec<object>[])
    assert.throws(() => codec.decode([text('user')]), {
      name: 'DecodeError',
      message: /is one of OpenAI Chat Completions: use `openaiChat` of bobbin\/openai$/,
    });
});
