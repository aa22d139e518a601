import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { STEP_SCHEMA, workbench, type StepArguments } from './workbench.ts';

const { task, url, apiKey, modelName, window, close } = await workbench('openai-chat');
const openai = createOpenAI({ apiKey, baseURL: url });
const tools = {
  run_step: tool({
    description: 'Carries out one step of the migration.',
    inputSchema: jsonSchema<StepArguments>(STEP_SCHEMA),
    execute: task.runStep,
  }),
};

const { text } = await generateText({
  model: openai.chat(modelName),
  prompt: task.assignment,
  tools,
  stopWhen: isStepCount(task.steps + 10),
}).finally(() => void close());

assert.equal(task.done.length, task.steps);
console.log(`${task.done.length} steps in a window of ${window} tokens: ${text}`);
