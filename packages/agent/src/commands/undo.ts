import type { Session } from '@bobbin/core';
import { startsTurn, type Node } from '@bobbin/core/internal';
import type { Agent } from '../loop/agent.ts';
import { ExpectedError } from '../expected-error.ts';
import {
  compactionsInForce,
  versionInForce,
  type PastCompaction,
} from '../compaction/past-compactions.ts';
import { newSessionId } from '../session/session-id.ts';
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
    const [compaction] = await compactionsInForce(agent.session, path);
    const isCompactionLast = (compaction?.plan.threadVersion ?? 0) > (turn?.index ?? 0);
    if (operands === 'compaction' || (operands === '' && isCompactionLast))
      return undoCompaction(agent, compaction);
    if (turn === undefined) throw new ExpectedError('there is nothing to undo');
    return undoTurn(agent, path, turn);
  },
};

/** Takes plans back until none from a version on is in force. False if there is none. */
async function undoFrom(handle: Session<unknown>, version: number): Promise<boolean> {
  let undone = false;
  while (versionInForce(handle) >= version && (await handle.undo())) undone = true;
  return undone;
}

async function undoCompaction(
  agent: Agent,
  compaction: PastCompaction | undefined,
): Promise<CommandResult> {
  const { session } = agent;
  const before = session.contextTokens;
  if (compaction === undefined || !(await undoFrom(session.handle, compaction.version)))
    throw new ExpectedError('there is no compaction to undo');
  agent.forgetCompaction();
  const next = session.isFull
    ? 'as it is, it does not fit: the next message has it compacted again. /handoff GOAL or a model with a larger window go on without.'
    : 'the next one comes when the prompt would no longer fit.';
  return {
    text: `The last compaction is undone: the prompt shows again what it showed before; ${next}`,
    data: { undone: 'compaction', tokensBefore: before, tokensAfter: session.contextTokens },
  };
}

/** The messages stay in the file, on a separate fork. Files that the turn changed stay as they are. */
async function undoTurn(agent: Agent, path: readonly Node[], turn: Node): Promise<CommandResult> {
  const before = path[turn.index - 1];
  const { undid } = agent.session.handle.plan;
  const { model, key, setting } = agent.session;
  if (before === undefined)
    await agent.enter(newSessionId(agent.options.clock.now()), model, [key, ...setting.paidIn]);
  else await agent.session.moveHead(before);
  // The earlier head knows nothing of an undo that was made after it.
  if (undid !== undefined) await undoFrom(agent.session.handle, undid);
  agent.tellSession();
  return {
    text: 'The last turn is undone in the conversation; files that it changed stay as they are.',
    data: { undone: 'turn', message: turn.id, session: agent.session.id },
  };
}
