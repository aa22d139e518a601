import { describe, type SlashCommand } from './command.ts';

/** Lists the commands, itself included. */
export function helpCommand(others: readonly SlashCommand[]): SlashCommand {
  const help: SlashCommand = {
    name: 'help',
    operands: '',
    summary: 'List the commands',
    when: 'any',
    run() {
      const commands = [...others, help];
      const lines = commands.map(
        ({ name, operands, summary }) => `/${`${name} ${operands}`.padEnd(26)} ${summary}`,
      );
      return {
        text: [
          ...lines,
          '',
          '@path puts a file into the message, @thread:ID what another session holds for it.',
        ].join('\n'),
        data: commands.map(describe),
      };
    },
  };
  return help;
}
