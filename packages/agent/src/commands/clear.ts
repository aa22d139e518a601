import { newSessionId } from '../session/session-id.ts';
import type { SlashCommand } from './command.ts';

/** Starts with nothing, unlike /compact, which goes on with what matters. */
export const clearCommand: SlashCommand = {
  name: 'clear',
  operands: '',
  summary: 'Start a new, empty session; this one stays and can be resumed',
  when: 'idle',
  async run(agent) {
    const before = agent.session.id;
    const session = newSessionId(agent.options.clock.now());
    await agent.enter(session);
    return { text: `A new session; /resume ${before} goes back.`, data: { session, from: before } };
  },
};
