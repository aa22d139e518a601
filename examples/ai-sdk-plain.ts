// The same agent without Bobbin, to compare: its window fills up, and it ends refused.
// Run it in a checkout: npx node --conditions=@bobbin/source examples/ai-sdk-plain.ts
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { STEP_SCHEMA, workbench, type StepArguments } from './workbench.ts';

const bench = await workbench('openai-chat');
const { task, url, apiKey, modelName: model } = bench;
const openai = createOpenAI({ apiKey, baseURL: url });
const tools = {
  run_step: tool({
    description: 'Carries out one step of the migration.',
    inputSchema: jsonSchema<StepArguments>(STEP_SCHEMA),
    execute: task.runStep,
  }),
};

const run = generateText({
  model: openai.chat(model),
  prompt: task.assignment,
  tools,
  stopWhen: isStepCount(task.steps + 10),
});
await bench.report(run.then(({ text }) => text));
