import { listSessions, namedSession } from '../sessions.ts';
import type { SlashCommand } from './command.ts';

export const resumeCommand: SlashCommand = {
  name: 'resume',
  operands: '[ID]',
  summary: 'Go on with another session of this folder',
  when: 'idle',
  async run(agent, operands) {
    const { folders } = agent.options;
    if (operands !== '') {
      const id = namedSession(folders, operands);
      await agent.resume(id);
      return { text: `Resumed ${id}.`, data: { session: id } };
    }
    const sessions = listSessions(folders);
    const items = sessions.map(({ id, title, changedAt }) => ({
      value: id,
      label: title,
      description: new Date(changedAt).toISOString().slice(0, 16).replace('T', ' '),
    }));
    return {
      text:
        sessions.length === 0
          ? 'There are no sessions of this folder yet.'
          : sessions
              .map(({ id, title, about }) => [`${id}  ${title}`, about].filter(Boolean).join(' — '))
              .join('\n'),
      data: sessions.map((session) => ({ ...session })),
      choices: { title: 'Resume which session?', items },
    };
  },
};
