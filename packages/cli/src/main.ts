import { isAgentCall, runAgentCommand } from './commands/agent.ts';

const args = process.argv.slice(2);
process.exitCode = await run();

/** The agent starts without what the other commands load: a person waits for its prompt. */
async function run(): Promise<number> {
  if (isAgentCall(args)) return runAgentCommand(args);
  const { runCommand } = await import('./commands.ts');
  return runCommand(args);
}
