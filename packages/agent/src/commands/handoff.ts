import { pulledOut } from '../session/handover.ts';
import { newSessionId } from '../session/session-id.ts';
import { ExpectedError } from '../expected-error.ts';
import type { SlashCommand } from './command.ts';

/** A new thread with what a goal needs, and nothing else. */
export const handoffCommand: SlashCommand = {
  name: 'handoff',
  operands: 'GOAL',
  summary: 'Start a new session for a goal, with what this one holds for it',
  when: 'idle',
  async run(agent, operands) {
    if (operands === '') throw new ExpectedError('/handoff takes the goal of the new session');
    const { session } = agent;
    if (session.handle.length === 0) throw new ExpectedError('there is nothing to hand over yet');
    const before = session.id;
    const id = newSessionId(agent.options.clock.now());
    await agent.hold(async (signal) => {
      const held = await pulledOut(session, session.key, operands, signal);
      await agent.enter(id);
      const origin = `[Handed over from session ${before}; @thread:${before} reads more of it]`;
      await agent.note({ typed: operands, attached: [`${origin}\n${held}`] });
    }, true);
    return {
      text: `Handed over to a new session; ${before} stays as it is.`,
      data: { session: id, from: before },
    };
  },
};
