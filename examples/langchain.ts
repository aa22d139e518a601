// Run it in a checkout: npx node --conditions=@bobbin/source examples/langchain.ts
import { bobbinMiddleware } from 'bobbin/langchain';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { STEP_SCHEMA, workbench, type StepArguments } from './workbench.ts';

const bench = await workbench('openai-chat');
const { task, url, apiKey, modelName, window, onEvent } = bench;
const model = new ChatOpenAI({ model: modelName, apiKey, configuration: { baseURL: url } });
const runStep = tool((args) => task.runStep(args as StepArguments), {
  name: 'run_step',
  description: 'Carries out one step of the migration.',
  schema: STEP_SCHEMA,
});

const agent = createAgent({
  model,
  tools: [runStep],
  middleware: [bobbinMiddleware({ model: modelName, window, onEvent })],
});
const run = agent.invoke(
  { messages: [{ role: 'user', content: task.assignment }] },
  { recursionLimit: 1_000 },
);
// The state keeps everything: a call and a result for each step, the assignment, the last word.
await bench.report(
  run.then(({ messages }) => `${messages.at(-1)?.text}; ${messages.length} messages are kept`),
);
