import { listSessions, namedSession } from '../session/sessions.ts';
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
      description: `${timeText(changedAt)} · ${id}`,
    }));
    return {
      text:
        sessions.length === 0
          ? 'There are no sessions of this folder yet.'
          : sessions
              .map(({ id, changedAt, title, about }) =>
                [`${id}  ${timeText(changedAt)}  ${title}`, about].filter(Boolean).join(' — '),
              )
              .join('\n'),
      data: sessions.map((session) => ({ ...session })),
      choices: { title: 'Resume which session?', items },
    };
  },
};

/** In the person's time zone: 2026-11-15 19:03. */
function timeText(time: number): string {
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16).replace('T', ' ');
}
