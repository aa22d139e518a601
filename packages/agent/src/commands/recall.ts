import { recalled } from '../recalled.ts';
import { CommandError, type SlashCommand } from './command.ts';

const MOST_FOUND = 8;

export const recallCommand: SlashCommand = {
  name: 'recall',
  operands: 'QUERY',
  summary: 'Search what was compacted',
  when: 'any',
  async run({ session }, operands) {
    if (operands === '') throw new CommandError('/recall takes words to look for');
    const found = await recalled(session.store, session.key, operands, MOST_FOUND);
    const text = found.map(({ place, text: said }) => `[${place}]\n${said}`).join('\n\n');
    return {
      text: text === '' ? `Nothing that was compacted matches "${operands}".` : text,
      data: found.map((one) => ({ ...one })),
    };
  },
};
