import { contextPicture, drawContext } from '../compaction/context-picture.ts';
import type { SlashCommand } from './command.ts';

export const contextCommand: SlashCommand = {
  name: 'context',
  operands: '',
  summary: 'Show what the window holds',
  when: 'idle',
  async run({ session }) {
    const picture = await contextPicture(session);
    return { text: drawContext(picture, session), data: { ...picture } };
  },
};
