import { branchTo } from '../session/branching.ts';
import { ExpectedError } from '../expected-error.ts';
import type { SlashCommand } from './command.ts';
import { turnOf } from './turn-choice.ts';

/** Duplicates the session at a point: after a turn, or as it is. */
export const forkCommand: SlashCommand = {
  name: 'fork',
  operands: '[N]',
  summary: 'Duplicate this session, whole or up to the end of turn N, and go on in the copy',
  when: 'idle',
  async run(agent, operands) {
    const path = await agent.session.path();
    const turns = await agent.session.turns();
    const next = operands === '' ? undefined : turns[turns.indexOf(turnOf(turns, operands)) + 1];
    const last = next === undefined ? path.at(-1) : path[next.index - 1];
    if (last === undefined) throw new ExpectedError('there is nothing to fork yet');
    const before = agent.session.id;
    const session = await branchTo(agent, last);
    return {
      text: `Forked; ${before} stays as it is.`,
      data: { session, from: before, message: last.id },
    };
  },
};
