import { startsTurn, type Node } from '@bobbin/core';
import type { Agent } from '../agent.ts';
import { newSessionId } from '../session-id.ts';
import { ExpectedError } from '../expected-error.ts';
import type { CommandResult, SlashCommand } from './command.ts';

/** Takes back what happened last: a compaction or a turn. */
export const undoCommand: SlashCommand = {
  name: 'undo',
  operands: '[compaction|turn]',
  summary: 'Take back the last compaction or the last turn, whichever came last',
  when: 'idle',
  async run(agent, operands) {
    if (operands !== '' && operands !== 'compaction' && operands !== 'turn')
      throw new ExpectedError('/undo takes compaction or turn, or nothing');
    const path = await agent.session.path();
    const turn = path.findLast(({ message }) => startsTurn(message));
    const { plan } = agent.session.handle;
    const isCompactionLast =
      plan.records.length > 0 &&
      plan.undid === undefined &&
      plan.threadVersion > (turn?.index ?? 0);
    if (operands === 'compaction' || (operands === '' && isCompactionLast))
      return undoCompaction(agent);
    if (turn === undefined) throw new ExpectedError('there is nothing to undo');
    return undoTurn(agent, path, turn);
  },
};

async function undoCompaction(agent: Agent): Promise<CommandResult> {
  const { session } = agent;
  const before = session.contextTokens;
  if (!(await session.handle.undo())) throw new ExpectedError('there is no compaction to undo');
  agent.tellContext();
  return {
    text: 'The last compaction is undone: the prompt shows again what it showed before.',
    data: { undone: 'compaction', tokensBefore: before, tokensAfter: session.contextTokens },
  };
}

/** The messages stay in the file, on a fork of their own. Files that the turn changed stay as they are. */
async function undoTurn(agent: Agent, path: readonly Node[], turn: Node): Promise<CommandResult> {
  const before = path[turn.index - 1];
  const wasUndone = agent.session.handle.plan.undid !== undefined;
  if (before === undefined) await agent.enter(newSessionId(agent.options.clock.now()));
  else await agent.session.moveHead(before);
  // The earlier head knows nothing of an undo that was made behind it.
  if (wasUndone && agent.session.handle.plan.records.length > 0) await agent.session.handle.undo();
  agent.tellSession();
  return {
    text: 'The last turn is undone in the conversation; files that it changed stay as they are.',
    data: { undone: 'turn', message: turn.id, session: agent.session.id },
  };
}
