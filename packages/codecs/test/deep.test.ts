import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Codec } from '@bobbin/core';
import { chars4, contentHash, withParts } from '@bobbin/core/internal';
import {
  aiSdk,
  aiSdkProblems,
  anthropic,
  anthropicProblems,
  bedrock,
  bedrockProblems,
  gemini,
  geminiProblems,
  openaiChat,
  openaiChatProblems,
  openaiResponses,
  openaiResponsesProblems,
  portable,
  recogniseMessages,
} from '@bobbin/codecs';

function nested(field: string, levels: number): object {
  const open = `{"${field}":`.repeat(levels);
  return JSON.parse(`${open}1${'}'.repeat(levels)}`) as object;
}

/** Blocks inside blocks inside blocks. */
function nestedContent(levels: number): object {
  const head = '{"type":"search_result","title":"t","source":"u","content":[';
  return JSON.parse(`${head.repeat(levels)}${']}'.repeat(levels)}`) as object;
}

const LEVELS = [5_000, 50_000];

type Problems = (messages: readonly object[]) => readonly string[];

function conversations(levels: number): readonly (readonly [Codec<object>, Problems, object[]])[] {
  const args = nested('a', levels);
  const argsText = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const user = (part: object): object => ({ role: 'user', content: [part], extra: args });
  const chatCall = { id: 'c', type: 'function', function: { name: 'f', arguments: argsText } };
  return [
    [
      openaiChat,
      openaiChatProblems,
      [
        user({ type: 'unknown', value: args }),
        { role: 'assistant', content: null, tool_calls: [chatCall] },
        { role: 'tool', tool_call_id: 'c', content: argsText },
      ],
    ],
    [
      openaiResponses,
      openaiResponsesProblems,
      [
        user({ type: 'unknown', value: args }),
        { type: 'shell_call', call_id: 'c', action: { commands: args } },
        { type: 'shell_call_output', call_id: 'c', output: [{ outcome: args }] },
        { type: 'mcp_call', id: 'm', name: 'n', server_label: args, output: args },
        { type: 'dream', value: args },
      ],
    ],
    [
      anthropic,
      (messages) => anthropicProblems({ messages }),
      [
        user(nestedContent(levels)),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: args }] },
        user({ type: 'tool_result', tool_use_id: 'c', content: [nestedContent(levels)] }),
        {
          role: 'assistant',
          content: [
            { type: 'server_tool_use', id: 's', name: 'f', input: args },
            { type: 'web_search_tool_result', tool_use_id: 's', content: args },
          ],
        },
      ],
    ],
    [
      gemini,
      geminiProblems,
      [
        { role: 'user', parts: [{ text: 'a' }, { dream: args }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: args } }] },
      ],
    ],
    [
      bedrock,
      (messages) => bedrockProblems({ messages }),
      [
        { role: 'user', content: [{ dream: args }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'c', name: 'f', input: args } }] },
        { role: 'user', content: [{ toolResult: { toolUseId: 'c', content: [{ json: args }] } }] },
      ],
    ],
    [
      aiSdk,
      aiSdkProblems,
      [
        user({ type: 'unknown', value: args }),
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'f', input: args }],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c',
              toolName: 'f',
              output: { type: 'json', value: args },
            },
          ],
        },
      ],
    ],
  ];
}

for (const levels of LEVELS)
  for (const [codec, problems, wire] of conversations(levels))
    test(`18 ${codec.name}: values nested ${levels} deep are decoded, hashed, counted and encoded`, () => {
      const messages = codec.decode(wire);
      const counter = chars4();
      for (const message of messages) {
        contentHash(message);
        counter.message(message);
      }
      assert.deepEqual(
        codec.encode(messages).map((message, i) => message === wire[i]),
        wire.map(() => true),
      );
      codec.encode(messages.map((message) => withParts(message, message.parts)));
      portable(messages);
      recogniseMessages(wire);
      assert.deepEqual(problems(wire), []);
    });
