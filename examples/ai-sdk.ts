// Run it in a checkout: npx node --conditions=@bobbin/source examples/ai-sdk.ts
import { aiSdkBobbin } from 'bobbin/ai-sdk';
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
const bobbin = aiSdkBobbin({ model, toolSet: tools, window: bench.window, onEvent: bench.onEvent });

const run = generateText({
  model: openai.chat(model),
  prompt: task.assignment,
  tools: { ...tools, ...bobbin.tools },
  prepareStep: bobbin.prepareStep,
  onStepFinish: bobbin.onStepFinish,
  stopWhen: isStepCount(task.steps + 10),
});
await bench.report(run.then(({ text }) => text));
