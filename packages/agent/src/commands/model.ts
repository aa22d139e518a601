import type { SlashCommand } from './command.ts';

export const modelCommand: SlashCommand = {
  name: 'model',
  operands: '[PROVIDER/ID]',
  summary: 'Show the model or switch to another; for a smaller window it compacts first',
  when: 'any',
  run(agent, operands) {
    const { model, windowTokens } = agent.session;
    if (operands === '')
      return {
        text: `${model.name}, a window of ${windowTokens} tokens.`,
        data: { model: model.name, windowTokens },
      };
    agent.switchModel(operands);
    return { text: '' };
  },
};
