import type { Agent } from './agent.ts';
import type { CommandResult } from '../commands/command.ts';
import { COMMANDS } from '../commands/commands.ts';
import { ExpectedError } from '../expected-error.ts';
import { reasonOf } from '../model/provider-error.ts';

/**
 * Takes what a person typed: a command that begins with a slash, or a message with its mentions. An empty line has the
 * last message answered, but not after an interruption, which was deliberate. What went wrong is an event.
 */
export async function submit(agent: Agent, text: string): Promise<CommandResult | undefined> {
  const trimmed = text.trim();
  const command = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(trimmed);
  try {
    if (command !== null)
      return await runCommand(agent, command[1] ?? '', command[2]?.trim() ?? '');
    if (trimmed !== '') agent.say(trimmed);
    else if (agent.lastEnd === 'interrupted') agent.emit({ type: 'notice', text: INTERRUPTED });
    else agent.goOn();
  } catch (error) {
    if (!isAbort(error)) agent.emit({ type: 'error', error: reasonOf(error) });
  }
  return undefined;
}

const INTERRUPTED = 'It was interrupted: type a message to go on, such as "go on".';

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** @throws ExpectedError if it cannot be carried out. */
export async function runCommand(
  agent: Agent,
  name: string,
  operands: string,
): Promise<CommandResult> {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) throw new ExpectedError(`there is no command /${name}; see /help`);
  if (command.when === 'idle' && !agent.isIdle)
    throw new ExpectedError(
      `/${name} waits until the agent is at rest: press Esc to interrupt it first`,
    );
  const result = await command.run(agent, operands);
  const { text, data, choices } = result;
  agent.emit({
    type: 'command',
    command: name,
    text,
    ...(data === undefined ? {} : { data }),
    ...(choices === undefined ? {} : { choices: true }),
  });
  return result;
}
