import assert from 'node:assert/strict';
import { bobbinMiddleware } from '@bobbin/adapters/langchain';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { STEP_SCHEMA, workbench, type StepArguments } from './workbench.ts';

const { task, url, apiKey, modelName, window, close } = await workbench('openai-chat');
const model = new ChatOpenAI({ model: modelName, apiKey, configuration: { baseURL: url } });
const runStep = tool((args) => task.runStep(args as StepArguments), {
  name: 'run_step',
  description: 'Carries out one step of the migration.',
  schema: STEP_SCHEMA,
});

const agent = createAgent({
  model,
  tools: [runStep],
  middleware: [bobbinMiddleware({ model: modelName, window })],
});
const { messages } = await agent
  .invoke({ messages: [{ role: 'user', content: task.assignment }] }, { recursionLimit: 1_000 })
  .finally(() => void close());

assert.equal(task.done.length, task.steps);
assert.equal(messages.length, 2 * task.steps + 2, 'the state keeps everything');
console.log(`${task.done.length} steps in a window of ${window} tokens: ${messages.at(-1)?.text}`);
