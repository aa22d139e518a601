import { tokensText } from '../figures.ts';
import { modelList } from '../model/model-list.ts';
import type { SlashCommand } from './command.ts';

export const modelCommand: SlashCommand = {
  name: 'model',
  operands: '[PROVIDER/ID]',
  summary: 'Choose the model, and keep the choice; for a smaller window it compacts first',
  when: 'any',
  async run(agent, operands) {
    if (operands !== '') {
      agent.switchModel(operands);
      return { text: '' };
    }
    const { model, windowTokens } = agent.session;
    const { settings, env } = agent.options;
    const listed = await modelList(settings, env);
    const current = { name: model.name, note: `in use, ${tokensText(windowTokens)} tokens` };
    const models = [current, ...listed.filter(({ name }) => name !== model.name)];
    const items = models.map(({ name, note }) => ({
      value: name,
      label: name,
      ...(note === '' ? {} : { description: note }),
    }));
    return {
      text: models.map(({ name, note }) => `${name}  ${note}`.trimEnd()).join('\n'),
      data: { model: model.name, windowTokens, models: models.map((each) => ({ ...each })) },
      choices: { title: 'Which model? /model PROVIDER/ID takes any other.', items },
    };
  },
};
