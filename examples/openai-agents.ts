// Run it in a checkout: npx node --conditions=@bobbin/source examples/openai-agents.ts
import { openaiAgentsBobbin } from 'bobbin/openai-agents';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { STEP_SCHEMA, workbench, type StepArguments } from './workbench.ts';

setTracingDisabled(true);
const bench = await workbench('openai-responses');
const { task, url, apiKey, modelName, window, onEvent } = bench;
const runStep = tool({
  name: 'run_step',
  description: 'Carries out one step of the migration.',
  parameters: STEP_SCHEMA,
  execute: (args) => task.runStep(args as StepArguments),
});

const bobbin = openaiAgentsBobbin({ thread: 'migration', model: modelName, window, onEvent });
const agent = new Agent({ name: 'migrator', model: modelName, tools: [runStep, ...bobbin.tools] });
const inner = new OpenAIProvider({ apiKey, baseURL: url });
const runner = new Runner({ modelProvider: bobbin.provider(inner) });
const maxTurns = task.steps + 10;
const run = runner.run(agent, task.assignment, { session: bobbin.session, maxTurns });
await bench.report(run.then(({ finalOutput }) => finalOutput));
