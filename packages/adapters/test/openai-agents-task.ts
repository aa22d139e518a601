import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { openaiAgentsBobbin, type OpenAIAgentsOptions } from '@bobbin/adapters/openai-agents';
import { memoryStore, type MessageId, type ThreadId } from '@bobbin/core';
import { isSummary } from '@bobbin/core/internal';
import { STEP_SCHEMA, Task, type Job, type StepArguments } from './task.ts';
import { taskProvider, type Dialect } from './task-provider.ts';

setTracingDisabled(true);
const KEY = { tenant: 'default', thread: 'ledger' as ThreadId };

/** A real agent on a real model client, with Bobbin between the runs and within them. */
export async function work(
  task: Task,
  url: string,
  dialect: Dialect,
  options: Partial<OpenAIAgentsOptions>,
  memory: 'taken' | 'not taken' = 'taken',
): Promise<unknown> {
  const bobbin = openaiAgentsBobbin({ thread: KEY.thread, ...options });
  const inner = new OpenAIProvider({
    apiKey: 'scripted',
    baseURL: url,
    useResponses: dialect === 'openai-responses',
  });
  const runStep = tool({
    name: 'run_step',
    description: 'Carries out a step.',
    parameters: { ...STEP_SCHEMA, properties: { ...STEP_SCHEMA.properties } },
    execute: (args) => task.runStep(args as StepArguments),
  });
  const agent = new Agent({
    name: 'migrator',
    instructions: 'You migrate ledgers with care.',
    model: 'scripted',
    tools: memory === 'taken' ? [runStep, ...bobbin.tools] : [runStep],
  });
  const runner = new Runner({ modelProvider: bobbin.provider(inner) });
  const { finalOutput } = await runner.run(agent, task.assignment, {
    session: bobbin.session,
    maxTurns: task.steps + 5,
  });
  return finalOutput;
}

/** An agent with Bobbin's session does a job of many steps, and every request it sends is one that the provider takes. */
export async function finishesOnOpenAIAgents(
  t: TestContext,
  dialect: Dialect,
  { steps, windowTokens, compactions: least }: Job,
  memory: 'taken' | 'not taken' = 'taken',
): Promise<void> {
  const task = new Task(steps);
  const provider = await taskProvider(dialect, task, windowTokens);
  t.after(() => provider.close());
  const store = memoryStore();
  let compactions = 0;
  const options = {
    window: windowTokens,
    budget: { outputTokens: 1_000 },
    store,
    onAfterCompaction: () => (compactions += 1),
  };
  const output = await work(task, provider.url, dialect, options, memory);
  assert.deepEqual(provider.faults, []);
  assert.equal(provider.naming > 0, memory === 'taken', `${provider.naming} name a tool`);
  assert.equal(output, `DONE ${steps} steps as HERON-7731`);
  assert.deepEqual(
    task.done,
    Array.from({ length: steps }, (_, i) => i + 1),
  );
  assert.ok(Math.max(...provider.sizes) <= windowTokens);
  assert.ok(compactions >= least, `${compactions} compactions`);
  assert.equal(provider.shrunk, compactions);
  const [head] = await store.heads(KEY);
  const thread = (await store.path(KEY, head as MessageId)).map(({ message }) => message);
  const said = thread.filter(({ parts }) => parts.some(({ kind }) => kind !== 'reasoning'));
  assert.equal(said.length, 2 * steps + 2, 'what was said, once each');
  assert.deepEqual(thread.filter(isSummary), []);
  assert.equal(thread.filter(({ meta }) => meta?.usage !== undefined).length, steps + 1);
}
