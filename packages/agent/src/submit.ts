import type { Agent } from './agent.ts';
import { CommandError, type CommandResult } from './commands/command.ts';
import { COMMANDS } from './commands/commands.ts';
import { ModelError } from './model-error.ts';
import { withMentions } from './mentions.ts';
import { reasonOf } from './provider-error.ts';

/**
 * Takes what a person typed: a command that begins with a slash, or a message with its mentions. An empty line has the
 * last message answered. What went wrong is told as an event.
 */
export async function submit(agent: Agent, text: string): Promise<CommandResult | undefined> {
  const trimmed = text.trim();
  const command = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(trimmed);
  try {
    if (command !== null)
      return await runCommand(agent, command[1] ?? '', command[2]?.trim() ?? '');
    if (trimmed === '') agent.goOn();
    else
      agent.say(
        trimmed.includes('@')
          ? await agent.hold((signal) => withMentions(agent, trimmed, signal))
          : trimmed,
      );
  } catch (error) {
    agent.emit({ type: 'error', error: reasonOf(error) });
    if (!isExpected(error)) throw error;
  }
  return undefined;
}

/** @throws CommandError where it cannot be carried out. */
export async function runCommand(
  agent: Agent,
  name: string,
  operands: string,
): Promise<CommandResult> {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) throw new CommandError(`there is no command /${name}; see /help`);
  if (command.when === 'idle' && !agent.isIdle)
    throw new CommandError(
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

export function isExpected(error: unknown): error is Error {
  return error instanceof CommandError || error instanceof ModelError;
}
