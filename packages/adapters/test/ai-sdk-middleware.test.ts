import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ai7 from 'ai';
import * as ai6 from 'ai6';
import { MockLanguageModelV4 } from 'ai/test';
import { aiSdkBobbin, RefusedTwice } from '@bobbin/adapters/ai-sdk';
import { memoryStore, type CompactionEvent, type MessageId } from '@bobbin/core';
import { INSTRUCTIONS, modelOf, modelOf6, tools6, tools7 } from './ai-sdk-task.ts';
import { Task } from './task.ts';
import { taskProvider } from './task-provider.ts';
import { KEY, misled, streaming7 } from './ai-sdk-hosts.ts';

/** A host that only has the model: no `prepareStep`. */
test('C23 the middleware alone keeps an agent on AI SDK 7 within the window', async (t) => {
  const task = new Task(60);
  const provider = await taskProvider('anthropic', task, 8_000);
  t.after(() => provider.close());
  const { generateText, isStepCount, wrapLanguageModel } = ai7;
  const bobbin = aiSdkBobbin({
    window: 8_000,
    budget: { outputTokens: 500, rehydrationTokens: 500 },
  });
  const { text } = await generateText({
    model: wrapLanguageModel({
      model: modelOf('anthropic', provider.url),
      middleware: bobbin.middleware,
    }),
    instructions: INSTRUCTIONS,
    prompt: task.assignment,
    tools: tools7(task),
    stopWhen: isStepCount(70),
    maxOutputTokens: 500,
    maxRetries: 0,
  });
  assert.deepEqual(provider.faults, []);
  assert.equal(text, 'DONE 60 steps as HERON-7731');
  assert.ok(provider.shrunk >= 3);
});

test('C23 the middleware alone keeps an agent on AI SDK 6 within the window', async (t) => {
  const task = new Task(60);
  const provider = await taskProvider('openai-chat', task, 8_000);
  t.after(() => provider.close());
  const { generateText, stepCountIs, wrapLanguageModel } = ai6;
  const bobbin = aiSdkBobbin({
    window: 8_000,
    budget: { outputTokens: 500, rehydrationTokens: 500 },
  });
  const { text } = await generateText({
    model: wrapLanguageModel({
      model: modelOf6('openai-chat', provider.url),
      middleware: bobbin.middleware,
    }),
    system: INSTRUCTIONS,
    prompt: task.assignment,
    tools: tools6(task),
    stopWhen: stepCountIs(70),
    maxOutputTokens: 500,
    maxRetries: 0,
  });
  assert.deepEqual(provider.faults, []);
  assert.equal(text, 'DONE 60 steps as HERON-7731');
  assert.ok(provider.shrunk >= 3);
});

test('E3 a refused stream is compacted and sent once more', async (t) => {
  const task = new Task(40, 'HERON-7731', 2);
  const provider = await taskProvider('openai-responses', task, 8_000);
  t.after(() => provider.close());
  const refusals: CompactionEvent[] = [];
  const bobbin = misled((event) => {
    if (event.kind === 'refused') refusals.push(event);
  });
  const text = await streaming7(task, provider.url, 'openai-responses', bobbin);
  assert.equal(text, 'DONE 40 steps as HERON-7731');
  assert.deepEqual([provider.faults.length, refusals.length], [1, 1]);
});

test('E3 a second refusal is reported with both sizes', async (t) => {
  const provider = await taskProvider('openai-chat', new Task(), 40);
  t.after(() => provider.close());
  const refusals: CompactionEvent[] = [];
  const bobbin = misled((event) => {
    if (event.kind === 'refused') refusals.push(event);
  });
  const { generateText, wrapLanguageModel } = ai7;
  const asked = generateText({
    model: wrapLanguageModel({
      model: modelOf('openai-chat', provider.url),
      middleware: bobbin.middleware,
    }),
    messages: [
      { role: 'user', content: 'a question '.repeat(100) },
      { role: 'assistant', content: 'an answer '.repeat(100) },
      { role: 'user', content: 'and now? '.repeat(200) },
    ],
    maxRetries: 0,
  });
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof RefusedTwice);
    const [first, second] = error.refusals;
    assert.ok((first.requestTokens ?? 0) > (second.requestTokens ?? 0));
    assert.deepEqual([first.limitTokens, second.limitTokens], [40, 40]);
    assert.match(
      error.message,
      /tokens of at most 40 tokens, and again after a compaction, with \d+ tokens/,
    );
    return true;
  });
  assert.equal(provider.faults.length, 2, 'sent once more and no further');
  assert.equal(refusals.length, 1, 'nothing is compacted for what is not sent again');
});

test('E3 other errors pass through untouched', async () => {
  const { generateText, wrapLanguageModel } = ai7;
  const fault = new Error('the network is down');
  const model = new MockLanguageModelV4({ doGenerate: () => Promise.reject(fault) });
  const asked = generateText({
    model: wrapLanguageModel({ model, middleware: aiSdkBobbin().middleware }),
    prompt: 'hello',
    maxRetries: 0,
  });
  await assert.rejects(asked, fault);
  assert.equal(model.doGenerateCalls.length, 1, 'and are not tried again');
});

test('C14 what a streamed answer cost corrects the counter', async () => {
  const { simulateReadableStream, streamText, wrapLanguageModel } = ai7;
  const store = memoryStore();
  const bobbin = aiSdkBobbin({ store, thread: KEY.thread });
  const usage = {
    inputTokens: { total: 900, noCache: 300, cacheRead: 500, cacheWrite: 100 },
    outputTokens: { total: 7, text: 7, reasoning: 0 },
  };
  const model = new MockLanguageModelV4({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: 'good day' },
          { type: 'text-end', id: '1' },
          { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } },
        ],
      }),
    }),
  });
  const wrapped = wrapLanguageModel({ model, middleware: bobbin.middleware });
  const first = streamText({ model: wrapped, prompt: 'hello' });
  assert.equal(await first.text, 'good day');
  const { messages } = await first.response;
  const more = streamText({
    model: wrapped,
    messages: [{ role: 'user', content: 'hello' }, ...messages, { role: 'user', content: 'more' }],
  });
  await more.text;
  const [head] = await store.heads(KEY);
  const thread = await store.path(KEY, head as MessageId);
  assert.deepEqual(
    thread.map(({ message }) => [message.role, message.meta?.usage]),
    [
      ['user', undefined],
      [
        'assistant',
        { inputTokens: 300, outputTokens: 7, cacheReadTokens: 500, cacheWriteTokens: 100 },
      ],
      ['user', undefined],
    ],
  );
});
