import assert from 'node:assert/strict';
import { openaiAgentsBobbin } from '@bobbin/adapters/openai-agents';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { STEP_SCHEMA, workbench, type StepArguments } from './workbench.ts';

setTracingDisabled(true);
const { task, url, apiKey, modelName, window, close } = await workbench('openai-responses');
const runStep = tool({
  name: 'run_step',
  description: 'Carries out one step of the migration.',
  parameters: STEP_SCHEMA,
  execute: (args) => task.runStep(args as StepArguments),
});

const bobbin = openaiAgentsBobbin({ thread: 'migration', model: modelName, window });
const agent = new Agent({ name: 'migrator', model: modelName, tools: [runStep, ...bobbin.tools] });
const inner = new OpenAIProvider({ apiKey, baseURL: url });
const runner = new Runner({ modelProvider: bobbin.provider(inner) });
const { finalOutput } = await runner
  .run(agent, task.assignment, { session: bobbin.session, maxTurns: task.steps + 10 })
  .finally(() => void close());

assert.equal(task.done.length, task.steps);
console.log(`${task.done.length} steps in a window of ${window} tokens: ${finalOutput}`);
