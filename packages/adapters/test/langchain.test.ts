import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { createAgent, fakeModel, tool } from 'langchain';
import { bobbinMiddleware, RefusedTwice, type LangchainOptions } from '@bobbin/adapters/langchain';
import type { CompactionEvent } from '@bobbin/core';
import { finishesOnLangchain, work } from './langchain-task.ts';
import { nameOf, SHORT, Task } from './task.ts';
import { taskProvider } from './task-provider.ts';

for (const [dialect, job] of [
  ['openai-chat', SHORT],
  ['openai-responses', SHORT],
] as const) {
  test(`C23 an agent on LangChain finishes ${nameOf(job)}, ${dialect}`, (t) =>
    finishesOnLangchain(t, dialect, job));
}

test('E3 on LangChain a refused prompt is compacted and sent once more', async (t) => {
  const task = new Task(40);
  const provider = await taskProvider('openai-chat', task, 8_000);
  t.after(() => provider.close());
  const refusals: CompactionEvent[] = [];
  const state = await work(task, provider.url, 'openai-chat', {
    window: 64_000,
    onEvent: (event) => {
      if (event.kind === 'refused') refusals.push(event);
    },
  });
  assert.equal(state.at(-1)?.text, 'DONE 40 steps as HERON-7731');
  assert.deepEqual([provider.faults.length, refusals.length], [1, 1]);
});

test('E3 on LangChain a second refusal is reported with both sizes', async (t) => {
  const provider = await taskProvider('openai-chat', new Task(), 40);
  t.after(() => provider.close());
  await assert.rejects(work(new Task(), provider.url, 'openai-chat', {}), (error) => {
    const cause = error instanceof RefusedTwice ? error : (error as Error).cause;
    assert.ok(cause instanceof RefusedTwice);
    assert.deepEqual(
      cause.refusals.map(({ limitTokens }) => limitTokens),
      [40, 40],
    );
    return true;
  });
  assert.equal(provider.faults.length, 2);
});

test('C11 C26 an agent on LangChain has read_artifact and recall', async () => {
  const long = `${'line '.repeat(3_000)} the vault code is 4471`;
  const read = tool(() => long, {
    name: 'read',
    description: 'Reads.',
    schema: { type: 'object' },
  });
  let asked: readonly BaseMessage[] = [];
  const model = fakeModel()
    .respondWithTools([{ name: 'read', args: {} }])
    .respond((messages: BaseMessage[]) => {
      asked = messages;
      const [, id] = /artifact:(\w+)/.exec(JSON.stringify(messages)) ?? [];
      const args = { id, search: 'vault' };
      return new AIMessage({ content: '', tool_calls: [{ id: 'r', name: 'read_artifact', args }] });
    })
    .respond(new AIMessage('found it'));
  const agent = createAgent({
    model,
    tools: [read],
    middleware: [bobbinMiddleware({ window: 4_000, budget: { rehydrationTokens: 0 } })],
  });
  const { messages } = await agent.invoke({ messages: [new HumanMessage('begin')] });
  const [first, second] = messages.filter((each) => ToolMessage.isInstance(each));
  assert.equal(first?.text, long, 'the state is as it was');
  assert.ok(JSON.stringify(asked).length < long.length, 'the model reads an excerpt');
  assert.match(second?.text ?? '', /the vault code is 4471/);
});

/** What a model was sent of a conversation. */
async function sent(messages: BaseMessage[], options: LangchainOptions): Promise<BaseMessage[]> {
  let asked: BaseMessage[] = [];
  const model = fakeModel().respond((given: BaseMessage[]) => {
    asked = given;
    return new AIMessage('Done.');
  });
  await createAgent({ model, tools: [], middleware: [bobbinMiddleware(options)] }).invoke({
    messages,
  });
  return asked;
}

/** Searches that a provider ran itself, as Anthropic's blocks and in LangChain's own form. */
const SEARCHES = {
  Anthropic: (id: string, text: string) => [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: 'x' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: id,
      content: [{ type: 'web_search_result', title: text, url: 'u', encrypted_content: 'e' }],
    },
  ],
  LangChain: (id: string, text: string) => [
    { type: 'server_tool_call', id, name: 'web_search', args: { query: 'x' } },
    { type: 'server_tool_call_result', toolCallId: id, status: 'success', output: text },
  ],
};

for (const [form, search] of Object.entries(SEARCHES)) {
  test(`C4 on LangChain many tools that the provider ran fit, and one that was cut is reported, as ${form} has them`, async () => {
    const messages: BaseMessage[] = [new HumanMessage('Search it all.')];
    for (let i = 0; i < 400; i++) {
      const blocks = search(`s${i}`, `result ${i} of the search `.repeat(100));
      const content = [...blocks, { type: 'text', text: `Found ${i}.` }];
      messages.push(new AIMessage({ content }), new HumanMessage(`Next ${i}.`));
    }
    const shown = await sent(messages, { window: 16_000 });
    const size = JSON.stringify(shown.map(({ content }) => content)).length;
    assert.ok(size < 16_000 * 4, `${size} characters`);
    const content = [...search('s', 'word '.repeat(9_000)), { type: 'text', text: 'Found.' }];
    const one = [new HumanMessage('Go.'), new AIMessage({ content }), new HumanMessage('Next.')];
    const shortened = (await sent(one, { window: 8_000 })).find((each) => each.type === 'ai');
    assert.match(
      shortened?.text ?? '',
      /The provider ran web_search with \{"query":"x"\}[^]*artifact:/,
    );
    assert.match(shortened?.text ?? '', /Found\./);
  });
}
