import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import * as ai7 from 'ai';
import * as ai6 from 'ai6';
import { createAnthropic as createAnthropic6 } from 'ai6-anthropic';
import { createOpenAI as createOpenAI6 } from 'ai6-openai';
import { aiSdkBobbin, type AiSdkBobbin } from '@bobbin/adapters/ai-sdk';
import { memoryStore, type MessageId, type ThreadId } from '@bobbin/core';
import { isSummary } from '@bobbin/core/internal';
import { STEP_SCHEMA, Task, type Job, type StepArguments } from './task.ts';
import { taskProvider, type Dialect } from './task-provider.ts';

export const INSTRUCTIONS: string = 'You migrate ledgers with care.';

/** How an agent is set up, beside its job. */
export interface Setup {
  /** Anthropic's models think, and refuse a running loop without what they thought. */
  readonly thinking?: 'enabled';
  /** Whether the agent takes Bobbin's tools; it does if absent. */
  readonly memory?: 'not taken';
}

/** An agent on one major of the SDK, with Bobbin in its loop; it gives the last word of the model. */
type Agent = (
  task: Task,
  url: string,
  dialect: Dialect,
  bobbinWith: (tools: Record<string, object>) => AiSdkBobbin,
  setup: Setup,
) => Promise<string>;

function thinkingOptions({ thinking }: Setup): {
  providerOptions?: { anthropic: { thinking: { type: 'enabled'; budgetTokens: number } } };
} {
  if (thinking === undefined) return {};
  return { providerOptions: { anthropic: { thinking: { type: thinking, budgetTokens: 1_024 } } } };
}

const agent7: Agent = async (task, url, dialect, bobbinWith, setup) => {
  const { generateText, isStepCount } = ai7;
  const tools = tools7(task);
  const bobbin = bobbinWith(tools);
  const { text } = await generateText({
    model: modelOf(dialect, url),
    instructions: INSTRUCTIONS,
    prompt: task.assignment,
    tools: setup.memory === undefined ? { ...tools, ...bobbin.tools } : tools,
    ...thinkingOptions(setup),
    stopWhen: isStepCount(task.steps + 5),
    prepareStep: bobbin.prepareStep,
    onStepFinish: bobbin.onStepFinish,
    maxOutputTokens: 1_000,
    maxRetries: 0,
  });
  return text;
};

const agent6: Agent = async (task, url, dialect, bobbinWith, setup) => {
  const { generateText, stepCountIs } = ai6;
  const tools = tools6(task);
  const bobbin = bobbinWith(tools);
  const { text } = await generateText({
    model: modelOf6(dialect, url),
    system: INSTRUCTIONS,
    prompt: task.assignment,
    tools: setup.memory === undefined ? { ...tools, ...bobbin.tools } : tools,
    ...thinkingOptions(setup),
    stopWhen: stepCountIs(task.steps + 5),
    prepareStep: bobbin.prepareStep,
    onStepFinish: bobbin.onStepFinish,
    maxOutputTokens: 1_000,
    maxRetries: 0,
  });
  return text;
};

export function tools7(task: Task): { run_step: ai7.Tool<StepArguments, string> } {
  const { jsonSchema, tool } = ai7;
  const inputSchema = jsonSchema<StepArguments>(STEP_SCHEMA);
  return { run_step: tool({ inputSchema, execute: task.runStep }) };
}

export function tools6(task: Task): { run_step: ai6.Tool<StepArguments, string> } {
  const { jsonSchema, tool } = ai6;
  const inputSchema = jsonSchema<StepArguments>(STEP_SCHEMA);
  return { run_step: tool({ inputSchema, execute: task.runStep }) };
}

export function modelOf(
  dialect: Dialect,
  baseURL: string,
): ReturnType<ReturnType<typeof createOpenAI>['chat']> {
  const settings = { baseURL, apiKey: 'scripted' };
  if (dialect === 'anthropic') return createAnthropic(settings)('claude-scripted');
  const openai = createOpenAI(settings);
  return dialect === 'openai-chat' ? openai.chat('scripted') : openai.responses('scripted');
}

export function modelOf6(
  dialect: Dialect,
  baseURL: string,
): ReturnType<ReturnType<typeof createOpenAI6>['chat']> {
  const settings = { baseURL, apiKey: 'scripted' };
  if (dialect === 'anthropic') return createAnthropic6(settings)('claude-scripted');
  const openai = createOpenAI6(settings);
  return dialect === 'openai-chat' ? openai.chat('scripted') : openai.responses('scripted');
}

const AGENTS = { 6: agent6, 7: agent7 };
const KEY = { tenant: 'default', thread: 'ledger' as ThreadId };

/** An agent with Bobbin in its loop does a job of many steps, and every request it sends is one that the provider takes. */
export async function finishesOnAiSdk(
  t: TestContext,
  major: 6 | 7,
  dialect: Dialect,
  { steps, windowTokens, compactions: least }: Job,
  setup: Setup = {},
): Promise<void> {
  const task = new Task(steps);
  const provider = await taskProvider(dialect, task, windowTokens);
  t.after(() => provider.close());
  const store = memoryStore();
  const compactions: number[] = [];
  const bobbinWith = (tools: Record<string, object>): AiSdkBobbin =>
    aiSdkBobbin({
      window: windowTokens,
      budget: { outputTokens: 1_000 },
      instructions: INSTRUCTIONS,
      toolSet: tools,
      store,
      thread: KEY.thread,
      onAfterCompaction: ({ afterTokens }) => compactions.push(afterTokens),
    });
  const text = await AGENTS[major](task, provider.url, dialect, bobbinWith, setup);
  assert.deepEqual(provider.faults, []);
  assert.equal(text, `DONE ${steps} steps as HERON-7731`);
  assert.deepEqual(
    task.done,
    Array.from({ length: steps }, (_, i) => i + 1),
  );
  assert.equal(provider.sizes.length, steps + 1);
  assert.equal(provider.thinking, setup.thinking === undefined ? 0 : steps + 1);
  // On Anthropic a running loop is summarised, and no stand-in names a tool.
  const isNamed = setup.memory === undefined && dialect === 'openai-chat';
  if (isNamed) assert.ok(provider.naming > 0, 'the tools are offered and named');
  if (setup.memory !== undefined) assert.equal(provider.naming, 0);
  assert.ok(Math.max(...provider.sizes) <= windowTokens);
  assert.ok(compactions.length >= least, `${compactions.length} compactions`);
  assert.equal(provider.shrunk, compactions.length);
  const unmarked = provider.markers.filter((count) => count === 0).length;
  assert.equal(
    unmarked,
    dialect === 'anthropic' ? 1 : steps + 1,
    'all but the first, which is too short',
  );
  // Behind a compaction nothing is left of what the model thought; else all of it, or the provider had refused.
  const thoughtless = provider.thoughts.filter((count) => count === 0).length;
  assert.equal(thoughtless, dialect === 'openai-chat' ? steps + 1 : 1 + compactions.length);
  const [head] = await store.heads(KEY);
  const thread = (await store.path(KEY, head as MessageId)).map(({ message }) => message);
  assert.equal(thread.length, 1 + 2 * steps + 1, 'what was said, once each');
  assert.deepEqual(thread.filter(isSummary), [], 'no summary is taken for something that was said');
  assert.equal(thread.filter(({ meta }) => meta?.usage !== undefined).length, steps + 1);
}
