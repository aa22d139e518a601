import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import type { AgentInputItem, Model } from '@openai/agents';
import { createAgent, fakeModel } from 'langchain';
import { aiSdkBobbin } from '@bobbin/adapters/ai-sdk';
import { bobbinMiddleware } from '@bobbin/adapters/langchain';
import { openaiAgentsBobbin } from '@bobbin/adapters/openai-agents';
import { bobbinPlugin, type OpenCodeMessage } from '@bobbin/adapters/opencode';
import { openaiChat, type AiSdkMessage, type ChatMessage } from '@bobbin/codecs';
import { createBobbin } from '@bobbin/core';

// A host may change a message that it sent before. What it sends then must be what the prompt is made of, within the
// window: the old content must not be shown, and the new content must not be sent unmeasured.

const WINDOW = 12_000;
/** No tokenizer gives these texts more than a token for each three characters. */
const MOST_CHARS = WINDOW * 4;
const RULE = 'Sign every commit as HERON-7731.';
const EDITED = `${RULE} ${'Also mind this and that remark. '.repeat(4_000)}`;

function expectFitted(sent: unknown, host: string): void {
  const text = JSON.stringify(sent);
  assert.ok(text.length < MOST_CHARS, `${host} sends ${text.length} characters`);
  assert.ok(text.includes('HERON-7731'), `${host} still sends the rule`);
  assert.ok(text.includes('this and that'), `${host} sends what the message says now`);
}

test('C1 fit: a message that its host edits in place is measured as it is now', async () => {
  const bobbin = createBobbin({ codec: openaiChat, window: WINDOW });
  const rule: ChatMessage & { content: string } = { role: 'user', content: RULE };
  const history: ChatMessage[] = [rule, { role: 'assistant', content: 'Understood.' }];
  await bobbin.fit([...history, { role: 'user', content: 'Go on.' }]);
  rule.content = EDITED;
  const { messages, fits } = await bobbin.fit([...history, { role: 'user', content: 'Go on.' }]);
  assert.equal(fits, true);
  expectFitted(messages, 'fit');
});

test('C1 AI SDK: a message that its host edits in place is measured as it is now', async () => {
  const bobbin = aiSdkBobbin({ window: WINDOW });
  const rule = { role: 'user' as const, content: RULE };
  const list: AiSdkMessage[] = [rule, { role: 'assistant', content: 'Understood.' }];
  await bobbin.prepareStep({ messages: [...list], steps: [] });
  rule.content = EDITED;
  list.push({ role: 'user', content: 'Go on.' });
  const { messages } = await bobbin.prepareStep({ messages: [...list], steps: [] });
  expectFitted(messages, 'prepareStep');
});

test('C1 AI SDK: a prompt that was handed out can be edited too', async () => {
  const bobbin = aiSdkBobbin({ window: WINDOW });
  const { messages } = await bobbin.prepareStep({
    messages: [{ role: 'user', content: RULE }] as AiSdkMessage[],
    steps: [],
  });
  const [first] = messages as { content: unknown }[];
  if (first !== undefined) first.content = EDITED;
  const list = [...messages, { role: 'assistant', content: 'Understood.' }] as AiSdkMessage[];
  expectFitted((await bobbin.prepareStep({ messages: list, steps: [] })).messages, 'prepareStep');
});

test('C1 LangChain: a message that its host edits in place is measured as it is now', async () => {
  const asked: string[] = [];
  const answer = (messages: BaseMessage[]): AIMessage => {
    asked.push(JSON.stringify(messages));
    return new AIMessage('Understood.');
  };
  const agent = createAgent({
    model: fakeModel().respond(answer).respond(answer),
    tools: [],
    middleware: [bobbinMiddleware({ window: WINDOW })],
  });
  const rule = new HumanMessage(RULE);
  const { messages } = await agent.invoke({ messages: [rule] });
  rule.content = EDITED;
  await agent.invoke({ messages: [rule, ...messages.slice(1), new HumanMessage('Go on.')] });
  expectFitted(asked[1], 'the middleware');
});

function request(input: AgentInputItem[]): Parameters<Model['getResponse']>[0] {
  return { input, tools: [], handoffs: [], modelSettings: {} } as never;
}

test('C1 OpenAI Agents: an item that its host edits in place is measured as it is now', async () => {
  const asked: string[] = [];
  const { provider } = openaiAgentsBobbin({ thread: 's', window: WINDOW });
  const inner = {
    getResponse: async ({ input }: { input: unknown }) => {
      asked.push(JSON.stringify(input));
      return { output: [], usage: { inputTokens: 0, outputTokens: 0 } };
    },
  } as unknown as Model;
  const model = await provider({ getModel: () => inner }).getModel();
  const rule = { role: 'user' as const, content: RULE };
  await model.getResponse(request([rule]));
  rule.content = EDITED;
  await model.getResponse(request([rule, { role: 'user', content: 'Go on.' }]));
  expectFitted(asked[1], 'the provider');
});

function said(text: string): { type: string; text: string } {
  return { type: 'text', text };
}

function message(id: string, role: string, parts: OpenCodeMessage['parts']): OpenCodeMessage {
  return { info: { id, sessionID: 'ses_1', role }, parts };
}

test('C1 OpenCode: a part that its host edits in place is measured as it is now', async () => {
  const hooks = await bobbinPlugin({ window: WINDOW })();
  const part = said(RULE);
  const list = [message('m1', 'user', [part])];
  await hooks['experimental.chat.messages.transform']({}, { messages: [...list] });
  part.text = EDITED;
  const shown = [...list, message('m2', 'user', [said('Go on.')])];
  await hooks['experimental.chat.messages.transform']({}, { messages: shown });
  expectFitted(shown, 'the plugin');
});
