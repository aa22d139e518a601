import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { bobbinMiddleware, type LangchainOptions } from '@bobbin/adapters/langchain';
import { memoryStore, type MessageId, type ThreadId } from '@bobbin/core';
import { isSummary } from '@bobbin/core/internal';
import { STEP_SCHEMA, Task, type Job, type StepArguments } from './task.ts';
import { taskProvider, type Dialect } from './task-provider.ts';

const KEY = { tenant: 'default', thread: 'ledger' as ThreadId };

/** A real agent on a real model client; it gives its state when it is done. */
export async function work(
  task: Task,
  url: string,
  dialect: Dialect,
  options: LangchainOptions,
): Promise<BaseMessage[]> {
  const model = new ChatOpenAI({
    model: 'scripted',
    apiKey: 'scripted',
    configuration: { baseURL: url },
    useResponsesApi: dialect === 'openai-responses',
    maxRetries: 0,
  });
  const runStep = tool((args) => task.runStep(args as StepArguments), {
    name: 'run_step',
    description: 'Carries out a step.',
    schema: STEP_SCHEMA,
  });
  const agent = createAgent({
    model,
    tools: [runStep],
    systemPrompt: 'You migrate ledgers with care.',
    middleware: [bobbinMiddleware(options)],
  });
  const { messages } = await agent.invoke(
    { messages: [new HumanMessage(task.assignment)] },
    { recursionLimit: 3 * task.steps, configurable: { thread_id: KEY.thread } },
  );
  return messages;
}

/** An agent with Bobbin's middleware does a job of many steps, and every request it sends is one that the provider takes. */
export async function finishesOnLangchain(
  t: TestContext,
  dialect: Dialect,
  { steps, windowTokens, compactions: least }: Job,
): Promise<void> {
  const task = new Task(steps);
  const provider = await taskProvider(dialect, task, windowTokens);
  t.after(() => provider.close());
  const store = memoryStore();
  let compactions = 0;
  const state = await work(task, provider.url, dialect, {
    window: windowTokens,
    budget: { outputTokens: 1_000 },
    store,
    onAfterCompaction: () => (compactions += 1),
  });
  assert.deepEqual(provider.faults, []);
  assert.ok(provider.naming > 0, 'the tools are offered and named');
  assert.equal(state.at(-1)?.text, `DONE ${steps} steps as HERON-7731`);
  assert.deepEqual(
    task.done,
    Array.from({ length: steps }, (_, i) => i + 1),
  );
  assert.ok(Math.max(...provider.sizes) <= windowTokens);
  assert.ok(compactions >= least, `${compactions} compactions`);
  assert.equal(provider.shrunk, compactions);
  assert.equal(state.length, 2 * steps + 2, 'the state keeps all that was said');
  const [head] = await store.heads(KEY);
  const thread = (await store.path(KEY, head as MessageId)).map(({ message }) => message);
  assert.equal(thread.length, 2 * steps + 1, 'the last word comes with the next request');
  assert.deepEqual(thread.filter(isSummary), []);
  assert.equal(thread.filter(({ meta }) => meta?.usage !== undefined).length, steps);
}
