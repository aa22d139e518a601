import type { SlashCommand } from './command.ts';

export const compactCommand: SlashCommand = {
  name: 'compact',
  operands: '[INSTRUCTIONS]',
  summary: 'Compact now; instructions say what the summary should keep',
  when: 'any',
  run(agent, operands) {
    agent.compact(operands === '' ? undefined : operands);
    return { text: '' };
  },
};
