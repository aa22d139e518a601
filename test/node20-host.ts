// Runs the built packages as a host on Node 20 does: core, codecs, adapters and models, in loops that compact.
import assert from 'node:assert/strict';
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { createBobbin } from '@bobbin/core';
import {
  anthropic,
  anthropicProblems,
  openaiChat,
  openaiChatProblems,
  type ChatMessage,
} from '@bobbin/codecs';
import { aiSdkBobbin } from '@bobbin/adapters/ai-sdk';
import { langchainBobbin } from '@bobbin/adapters/langchain';
import { openaiAgentsBobbin } from '@bobbin/adapters/openai-agents';
import { bpe, modelSummarizer } from '@bobbin/models';
import { MockLanguageModelV4 } from 'ai/test';

assert.match(process.versions.node, /^20\./);
const WINDOW = 6_000;
const warnings: string[] = [];

function text(step: number): string {
  return `Step ${step}: ${'looked at one more host. '.repeat(30)}`;
}

const counter = await bpe('o200k');
const down = (): Promise<never> => Promise.reject(new Error('the provider is down'));
const model = new MockLanguageModelV4({ doGenerate: down });
const summarizer = modelSummarizer({ model });
const plain = createBobbin({
  codec: openaiChat,
  window: WINDOW,
  counter,
  summarizer,
  onEvent: (event) => event.kind === 'warning' && warnings.push(event.message),
});
type Said = { role: 'user' | 'assistant'; content: string };
const chat: Said[] = [{ role: 'user', content: 'Look at all hosts. Never restart db-1.' }];
let sent: ChatMessage[] = [];
for (let step = 0; step < 60; step++) {
  chat.push({ role: 'assistant', content: text(step) }, { role: 'user', content: `And ${step}?` });
  const { messages, fits } = await plain.fit<ChatMessage>(chat);
  assert.ok(fits && openaiChatProblems(messages).length === 0);
  sent = messages;
}
assert.ok(sent.length < chat.length / 2, `${sent.length} of ${chat.length} messages`);
assert.match(JSON.stringify(sent), /Never restart db-1/);
assert.match(warnings.join('\n'), /extract is used instead/);

const claude = createBobbin({ codec: anthropic, window: WINDOW });
const { messages } = await claude.fit(chat);
assert.deepEqual(anthropicProblems({ messages }), []);

const { messages: step } = await aiSdkBobbin({ window: WINDOW }).prepareStep({
  messages: chat,
  steps: [],
});
assert.ok(step.length < chat.length);

const list = chat.map(({ role, content }) =>
  role === 'user' ? new HumanMessage(content) : new AIMessage(content),
);
const shown = await langchainBobbin({ window: WINDOW }).invoke(
  { invoke: (given: BaseMessage[]) => Promise.resolve(given) },
  list,
);
assert.ok(shown.length < list.length);

const { session } = openaiAgentsBobbin({ thread: 's1', window: WINDOW });
await session.addItems(chat.map(({ content }) => ({ role: 'user', content })));
assert.ok((await session.getItems()).length < chat.length);
console.log('done');
